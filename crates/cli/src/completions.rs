//! `eigenfold completions` and `eigenfold man`: made from the command line's own description.

use crate::command::command;
use crate::print;
use clap::Args;
use clap_complete::Shell;
use eigenfold::{Error, Result, io::write_error};
use std::path::PathBuf;

/// Print the completion script of a shell.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold completions bash > ~/.local/share/bash-completion/completions/eigenfold
  eigenfold completions zsh > ~/.zfunc/_eigenfold
  eigenfold completions fish > ~/.config/fish/completions/eigenfold.fish")]
pub(crate) struct Completions {
    /// Shell
    pub(crate) shell: Shell,
}

/// Print the manual page, or write those of all commands to a directory.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold man | man -l -
  eigenfold man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Directory for eigenfold.1, eigenfold-embed.1, ...
    #[arg(long)]
    pub(crate) dir: Option<PathBuf>,
}

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
        rendered.map_err(|error| Error::numerical(error.to_string(), ""))?;
        return print(&String::from_utf8_lossy(&out));
    };
    std::fs::create_dir_all(directory).map_err(|source| write_error(directory, source))?;
    clap_mangen::generate_to(command(), directory).map_err(|source| write_error(directory, source))
}
