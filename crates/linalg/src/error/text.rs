//! The words of messages: the names of parameters, counts, sizes, and the nearest of several names.

/// Rewrites the names of parameters in a message. This library writes them between backticks, as `neighbors`; a program
/// knows its users' words for them, such as `-k`. Text between double quotes comes from the user and stays.
///
/// ```
/// use eigenfold_linalg::error::rename_parameters;
///
/// let message = "`landmarks` is 2; give an integer >= 3";
/// let as_flags = rename_parameters(message, |name| format!("--{name}"));
/// assert_eq!(as_flags, "--landmarks is 2; give an integer >= 3");
/// ```
pub fn rename_parameters(message: &str, name: impl Fn(&str) -> String) -> String {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
    };
    let (mut out, mut rest) = (String::with_capacity(message.len()), message);
    while let Some(at) = rest.find(['`', '"']) {
        out += &rest[..at];
        let (mark, after) = rest[at..].split_at(1);
        rest = match (mark, after.split_once(mark)) {
            ("`", Some((word, after))) if is_name(word) => {
                out += &name(word);
                after
            }
            ("\"", Some((quoted, after))) => {
                out += mark;
                out += quoted;
                out += mark;
                after
            }
            _ => {
                out += mark;
                after
            }
        };
    }
    out + rest
}

/// A byte count as people read it: `1.5 GB`, `640 MB`, `12 kB`.
pub fn bytes(count: u64) -> String {
    let count = count as f64;
    match count {
        c if c >= 1e9 => format!("{:.1} GB", c / 1e9),
        c if c >= 1e6 => format!("{:.0} MB", c / 1e6),
        c => format!("{:.0} kB", (c / 1e3).ceil()),
    }
}

/// A count and what is counted: `1 column`, `2 columns`.
pub fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The sizes of at most five components in points, then how many more components there are.
pub fn sizes_text(sizes: &[usize]) -> String {
    let shown: Vec<String> = sizes.iter().take(5).map(|s| s.to_string()).collect();
    let rest =
        if sizes.len() > 5 { format!(" and {}", plural(sizes.len() - 5, "smaller component")) } else { String::new() };
    shown.join(", ") + " points" + &rest
}

/// The name that is a slip away from what was typed, if there is one.
pub fn guess(names: &[&'static str], typed: &str) -> Option<&'static str> {
    let nearest = names.iter().min_by_key(|name| edit_distance(name, typed)).copied()?;
    (edit_distance(nearest, typed) <= typed.len().min(9) / 3).then_some(nearest)
}

/// `did you mean NAME? `, or nothing.
pub fn did_you_mean(guess: Option<&str>) -> String {
    guess.map_or(String::new(), |name| format!("did you mean {name}? "))
}

/// How many letters to insert, delete or exchange.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let exchange = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = exchange.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
