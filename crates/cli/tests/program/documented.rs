//! The pages of the methods and of the command line, which quote the program.

use crate::Bench;

const START: &str = "<!-- parameters -->";
const END: &str = "<!-- /parameters -->";

#[test]
fn the_page_of_every_method_has_its_table_of_parameters() {
    let bench = Bench::new();
    bench.does("methods --json methods.json");
    let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/methods");
    let wrong = |name: &str| {
        let table = bench.does(&format!("methods {name} --markdown")).out;
        let page = std::fs::read_to_string(format!("{pages}/{name}.md")).unwrap_or_default();
        let quoted = page.split_once(START).and_then(|(_, rest)| rest.split_once(END)).map(|(text, _)| text.trim());
        match quoted {
            None => Some(format!("docs/methods/{name}.md has no {START} and {END} to write its parameters between")),
            Some(text) if text != table.trim() => Some(format!("docs/methods/{name}.md differs from\n{table}")),
            Some(_) => None,
        }
    };
    let methods = bench.json("methods.json");
    let wrong: Vec<String> =
        methods.as_array().unwrap().iter().filter_map(|method| wrong(method["name"].as_str().unwrap())).collect();
    assert!(wrong.is_empty(), "{}\nfix it by scripts/parameters.sh", wrong.join("\n"));
}

#[test]
fn the_page_of_the_command_line_is_the_help() {
    let bench = Bench::new();
    let help = |line: &str| {
        let output = bench.command(line).env_remove("COLUMNS").output().unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect::<String>()
    };
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/command-line.md");
    let page = std::fs::read_to_string(page).unwrap();
    let whole = help("--help");
    let list = whole.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> =
        list.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(names.len() > 10, "{whole}");
    for name in names {
        let section = format!("## {name}\n\n```text\n{}```\n", help(&format!("{name} --help")));
        assert!(page.contains(&section), "{name} has changed; run scripts/command_line.py");
    }
}
