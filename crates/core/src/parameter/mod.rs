//! A parameter as data: its name, its meaning, its range, and how it is read and set.
//!
//! Each method has one [`Table`] of parameters. The library sets parameters by it, and the flags and help of the
//! command line, the list of methods and the documentation are generated from it.

mod field_value;

pub use field_value::{Choice, FieldValue};
pub(crate) use field_value::{choices, field};

use eigenfold_linalg::error::{Error, Result};

/// The smallest and the largest number whose square neither vanishes nor overflows.
const LEAST: f64 = 1e-150;
const MOST: f64 = 1e150;

/// One row of the table of the method `M`.
pub struct Parameter<M: 'static> {
    name: &'static str,
    help: &'static str,
    kind: Kind,
    auto: Option<Auto>,
    words: &'static [Named],
    applies: Option<Applies>,
    access: Access<M>,
}

/// How a parameter is read and set.
pub struct Access<M: 'static> {
    /// The current value; `None` if the method in its current state does not have the parameter.
    pub get: fn(&M) -> Option<Value>,
    /// Sets a value that [`Kind`] allows.
    pub set: fn(&mut M, Value) -> Result<()>,
}

/// The range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A number in a range, both ends included.
    Number {
        /// The smallest.
        least: f64,
        /// The largest; infinite if unbounded.
        most: f64,
    },
    /// A whole number in a range, both ends included.
    Count {
        /// The smallest.
        least: usize,
        /// The largest; `usize::MAX` if unbounded.
        most: usize,
    },
    /// One of several names.
    Choice(&'static [Named]),
    /// True or false.
    Switch,
    /// A text that the method parses itself.
    Text {
        /// The form of such a text.
        form: &'static str,
    },
}

/// A value of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// Other names people type.
    pub aliases: &'static [&'static str],
    /// What it means, in a few words.
    pub help: &'static str,
}

/// The word for an automatic value, and what the method then does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auto {
    /// `auto` or `none`.
    pub word: &'static str,
    /// What the method does, in a few words.
    pub help: &'static str,
}

/// The condition under which a method has a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applies {
    /// The name of another parameter, a choice.
    pub on: &'static str,
    /// The values of it.
    pub values: &'static [&'static str],
}

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Count`].
    Count(usize),
    /// Of [`Kind::Choice`], or a word in place of a number, by its name.
    Choice(&'static str),
    /// Of [`Kind::Switch`].
    Switch(bool),
    /// Of [`Kind::Text`].
    Text(String),
    /// Chosen by the method.
    Auto,
}

/// A parameter as users see it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterInfo {
    /// The name, in lower case with hyphens. Two parameters may share one if they apply under different conditions.
    pub name: &'static str,
    /// What it means.
    pub help: &'static str,
    /// Its range.
    pub kind: Kind,
    /// The default, where the parameter applies.
    pub default: String,
    /// The current value; the default where the parameter does not apply.
    pub value: String,
    /// Whether it may be chosen by the method.
    pub auto: Option<Auto>,
    /// The words accepted in place of a value of its kind.
    pub words: &'static [Named],
    /// The condition under which the method has it, if not always.
    pub applies: Option<Applies>,
}

/// The parameters of a method.
pub trait Table: Default + Sized + 'static {
    /// The method's name, in lower case with hyphens.
    const METHOD: &'static str;
    /// One row each; those that others depend on may stand anywhere.
    const TABLE: &'static [Parameter<Self>];
}

/// The operations of every method with a [`Table`].
pub trait Parameters {
    /// The parameters of the method in its current state, with their values.
    fn parameters(&self) -> Vec<ParameterInfo>;

    /// Every parameter that the method may have, in any state.
    fn possible_parameters(&self) -> Vec<ParameterInfo>;

    /// Sets a parameter from its text.
    ///
    /// # Errors
    ///
    /// If there is no such parameter, the text is not one of its values, or the parameter does not apply and has
    /// another value.
    fn set(&mut self, name: &str, value: &str) -> Result<()>;

    /// Sets several parameters, in any order: those on which others depend are set first.
    ///
    /// # Errors
    ///
    /// As [`Parameters::set`]; parameters before the failing one are set.
    fn set_all(&mut self, given: &[(&str, &str)]) -> Result<()>;
}

impl<M: Table> Parameters for M {
    fn parameters(&self) -> Vec<ParameterInfo> {
        let present = |row: &&Parameter<M>| (row.access.get)(self).is_some();
        M::TABLE.iter().filter(present).map(|row| row.described(self)).collect()
    }

    fn possible_parameters(&self) -> Vec<ParameterInfo> {
        M::TABLE.iter().map(|row| row.described(self)).collect()
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let rows = || M::TABLE.iter().filter(|row| row.name == name);
        if let Some(row) = rows().find(|row| row.applies.is_none_or(|applies| applies.to(self))) {
            return (row.access.set)(self, row.read(value)?);
        }
        // If the parameter does not apply, setting its current value is allowed.
        if rows().any(|row| row.read(value).ok().is_some_and(|value| (row.access.get)(self) == Some(value))) {
            return Ok(());
        }
        let conditions: Vec<Applies> = rows().filter_map(|row| row.applies).collect();
        let Some(first) = conditions.first() else { return Err(unknown::<M>(name)) };
        let values: Vec<&str> = conditions.iter().flat_map(|applies| applies.values).copied().collect();
        Err(Error::inapplicable(
            name.to_string(),
            format!("`{name}` is for `{}` {}", first.on, listed(&values)),
            "leave it out",
        ))
    }

    fn set_all(&mut self, given: &[(&str, &str)]) -> Result<()> {
        let decides = |name: &str| M::TABLE.iter().any(|row| row.applies.is_some_and(|applies| applies.on == name));
        let (first, rest): (Vec<_>, Vec<_>) = given.iter().partition(|(name, _)| decides(name));
        first.into_iter().chain(rest).try_for_each(|(name, value)| self.set(name, value))
    }
}

fn unknown<M: Table>(name: &str) -> Error {
    let mut choices: Vec<&'static str> = M::TABLE.iter().map(|row| row.name).collect();
    choices.dedup();
    let known: Vec<String> = choices.iter().map(|name| format!("`{name}`")).collect();
    let known = if known.is_empty() { "none of its own".into() } else { known.join(", ") };
    let (fact, way_out) = (format!("{} has no parameter `{name}`", M::METHOD), format!("it has {known}"));
    Error::Unknown { parameter: name.to_string().into(), guess: None, choices, fact, way_out }
}

impl<M: Table> Parameter<M> {
    /// The default of a method, in a state in which the parameter applies.
    fn default(&self) -> String {
        let mut method = M::default();
        if let Some(Applies { on, values: [first, ..] }) = self.applies {
            // A name from the table itself; a test checks that it can be set.
            let _ = method.set(on, first);
        }
        self.shown(&method).unwrap_or_default()
    }

    fn described(&self, method: &M) -> ParameterInfo {
        let default = self.default();
        let value = self.shown(method).unwrap_or_else(|| default.clone());
        let Parameter { name, help, kind, auto, words, applies, .. } = *self;
        ParameterInfo { name, help, kind, default, value, auto, words, applies }
    }
}

impl<M> Parameter<M> {
    /// A row; `help` is the meaning of the parameter, without its values.
    pub const fn new(name: &'static str, help: &'static str, kind: Kind, access: Access<M>) -> Parameter<M> {
        Parameter { name, help, kind, auto: None, words: &[], applies: None, access }
    }

    /// The same, with `auto` for the choice of the method.
    pub const fn auto(self, help: &'static str) -> Parameter<M> {
        Parameter { auto: Some(Auto { word: "auto", help }), ..self }
    }

    /// The same, with `none` for no value.
    pub const fn none(self, help: &'static str) -> Parameter<M> {
        Parameter { auto: Some(Auto { word: "none", help }), ..self }
    }

    /// The same, with words accepted in place of a value.
    pub const fn or(self, words: &'static [Named]) -> Parameter<M> {
        Parameter { words, ..self }
    }

    /// The same, only for some values of another parameter.
    pub const fn with(self, on: &'static str, values: &'static [&'static str]) -> Parameter<M> {
        Parameter { applies: Some(Applies { on, values }), ..self }
    }

    fn shown(&self, method: &M) -> Option<String> {
        Some(match (self.access.get)(method)? {
            Value::Number(number) => short(number),
            Value::Count(count) => count.to_string(),
            Value::Choice(name) => name.to_string(),
            Value::Switch(switch) => switch.to_string(),
            Value::Text(text) => text,
            Value::Auto => self.auto.map_or("auto", |auto| auto.word).to_string(),
        })
    }

    fn read(&self, text: &str) -> Result<Value> {
        let text = text.trim();
        if self.auto.is_some_and(|auto| auto.word == text) {
            return Ok(Value::Auto);
        }
        if let Some(word) = Named::find(self.words, text) {
            return Ok(Value::Choice(word));
        }
        self.kind.read(text).ok_or_else(|| {
            let is_number =
                text.parse().is_ok_and(f64::is_finite) && matches!(self.kind, Kind::Number { .. } | Kind::Count { .. });
            let shown = if is_number { text.to_string() } else { format!("{text:?}") };
            let words: String = self.words.iter().map(|named| format!(", {}", named.name)).collect();
            let auto = self.auto.map_or(String::new(), |auto| format!(", or {}", auto.word));
            Error::value(self.name, shown, format!("{}{words}{auto}", self.kind.wanted()))
        })
    }
}

impl Applies {
    fn to<M: Table>(&self, method: &M) -> bool {
        let row = M::TABLE.iter().find(|row| row.name == self.on);
        let value = row.and_then(|row| (row.access.get)(method));
        value.is_some_and(|value| matches!(value, Value::Choice(name) if self.values.contains(&name)))
    }
}

impl Kind {
    /// A number from `least` to `most`.
    pub const fn number(least: f64, most: f64) -> Kind {
        Kind::Number { least, most }
    }

    /// A number that is positive, and far from overflow when it is squared.
    pub const fn positive() -> Kind {
        Kind::number(LEAST, MOST)
    }

    /// A whole number from `least` to `most`.
    pub const fn count(least: usize, most: usize) -> Kind {
        Kind::Count { least, most }
    }

    /// A whole number of `least` or more.
    pub const fn at_least(least: usize) -> Kind {
        Kind::count(least, usize::MAX)
    }

    /// One word.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Number { .. } => "number",
            Kind::Count { .. } => "count",
            Kind::Choice(_) => "choice",
            Kind::Switch => "switch",
            Kind::Text { .. } => "text",
        }
    }

    /// The expected form, as in `a number from 0 to 1`.
    pub fn wanted(&self) -> String {
        match *self {
            Kind::Number { least, most: f64::INFINITY } => format!("a number >= {}", bound(least)),
            Kind::Number { least, most } => format!("a number from {} to {}", bound(least), bound(most)),
            Kind::Count { least, most: usize::MAX } => format!("an integer >= {}", bound(least as f64)),
            Kind::Count { least, most } => {
                format!("an integer from {} to {}", bound(least as f64), bound(most as f64))
            }
            Kind::Choice(names) => listed(&names.iter().map(|named| named.name).collect::<Vec<_>>()),
            Kind::Switch => "true or false".into(),
            Kind::Text { form } => form.into(),
        }
    }

    fn read(&self, text: &str) -> Option<Value> {
        match *self {
            Kind::Number { least, most } => text.parse().ok().filter(|x| (least..=most).contains(x)).map(Value::Number),
            Kind::Count { least, most } => text.parse().ok().filter(|x| (least..=most).contains(x)).map(Value::Count),
            Kind::Choice(names) => Named::find(names, text).map(Value::Choice),
            Kind::Switch => text.parse().ok().map(Value::Switch),
            Kind::Text { .. } => Some(Value::Text(text.to_string())),
        }
    }
}

impl ParameterInfo {
    /// The meaning of the parameter, its condition and its values; names of parameters are in backticks.
    pub fn meaning(&self) -> String {
        let condition = self.applies.map(|Applies { on, values }| format!("with `{on}` {}: ", listed(values)));
        let auto = self.auto.map(|Auto { word, help }| format!("; {word} = {help}"));
        let words: String = self.words.iter().map(|named| format!("; {}", named.shown())).collect();
        let (condition, auto) = (condition.unwrap_or_default(), auto.unwrap_or_default() + &words);
        let values = match self.kind {
            Kind::Choice(names) => {
                let shown: Vec<String> = names.iter().map(Named::shown).collect();
                format!(": {}{auto}", shown.join("; "))
            }
            Kind::Number { least: LEAST, most: MOST } => format!(" (a number > 0{auto})"),
            // The other end only keeps squares from overflowing.
            Kind::Number { least, most: MOST } if least == -MOST => format!(" (any number{auto})"),
            Kind::Number { least, most: MOST } => format!(" (a number >= {}{auto})", bound(least)),
            kind => format!(" ({}{auto})", kind.wanted()),
        };
        format!("{condition}{}{values}", self.help)
    }
}

impl Named {
    /// The name that a text matches, by its name or an alias.
    fn find(all: &'static [Named], text: &str) -> Option<&'static str> {
        all.iter().find(|named| named.name == text || named.aliases.contains(&text)).map(|named| named.name)
    }

    fn shown(&self) -> String {
        let Named { name, aliases, help } = self;
        let aliases = if aliases.is_empty() { String::new() } else { format!(" (or {})", aliases.join(", ")) };
        format!("{name}{aliases} = {help}")
    }
}

/// `a`, `a or b`, `a, b or c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The end of a range, with a comma before every three digits of a whole number.
fn bound(end: f64) -> String {
    let plain = short(end);
    if end.abs() < 1e4 || end.fract() != 0.0 || plain.contains('e') {
        return plain;
    }
    let split = plain.len() % 3;
    let (first, rest) = plain.split_at(split);
    let groups = rest.as_bytes().chunks(3).map(|three| String::from_utf8_lossy(three).into_owned());
    std::iter::once(first.to_string()).filter(|first| !first.is_empty()).chain(groups).collect::<Vec<_>>().join(",")
}

/// A number without trailing zeros.
pub(crate) fn short(number: f64) -> String {
    if number == 0.0 || (1e-4..1e7).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests;
