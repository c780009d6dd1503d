//! `eigenfold completions` and `eigenfold man`: made from the command line's own description.

use crate::args::{Completions, Man, command};
use crate::print;
use eigenfold::error::{Error, Result};
use eigenfold::io::write_error;

/// Prints what a shell needs to complete the program's flags.
pub(crate) fn completions(args: &Completions) -> Result<()> {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "eigenfold", &mut out);
    print(&String::from_utf8_lossy(&out))
}

/// Prints the manual page, or writes one for the program and each command.
pub(crate) fn man(args: &Man) -> Result<()> {
    let Some(directory) = &args.dir else {
        let mut out = Vec::new();
        let rendered = clap_mangen::Man::new(command()).render(&mut out);
        rendered.map_err(|error| Error::Numerical(error.to_string()))?;
        return print(&String::from_utf8_lossy(&out));
    };
    std::fs::create_dir_all(directory).map_err(|source| write_error(directory, source))?;
    clap_mangen::generate_to(command(), directory).map_err(|source| write_error(directory, source))
}
