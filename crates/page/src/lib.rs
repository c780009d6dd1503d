//! The page that compares maps: one HTML file that opens from disk, with no server and no network.
//!
//! [`Page::html`] puts three things together: a template, the drawing program (`web/`, bundled into `assets/`) and the data, as
//! JSON for what has names and as one compressed block for arrays. docs/internals/page.md has the layout of both. Whatever text the
//! data bring is written so that it cannot end the script that it stands in, and the drawing program shows it as text alone.

mod block;
mod facts;
mod map;
mod shade;

use block::Block;
use eigenfold::{
    Data, Disconnected, Log, Metric, Neighbors, Points, Prepared, Result, Search, Silent,
    compare::{Outcome, RANKED_BY, RULE},
    io::Labels,
    quality::{MEASURES, MeasureInfo},
};
use serde_json::{Value, json};

/// True neighbors of every point that the page can show.
const NEIGHBORS: usize = 10;
/// Numbers of data that a page holds at most: more would make it slow to open.
const MOST_NUMBERS: usize = 8_000_000;
/// Optimizations of more points are not animated: the page would be too large.
pub const ANIMATED: usize = 20_000;
/// Frames of an animation.
pub const FRAMES: usize = 24;
/// Stands for a label that is missing.
const NO_CLASS: u16 = u16::MAX;

const TEMPLATE: &str = include_str!("../assets/page.html");
const SCRIPT: &str = include_str!("../assets/page.js");
const STYLE: &str = include_str!("../assets/page.css");

/// The contents of a page.
pub struct Page<'a> {
    /// What it is called.
    pub title: &'a str,
    /// Where the data came from.
    pub source: &'a str,
    /// How many rows there were, of which the points are all or some.
    pub rows: usize,
    /// The points as they were compared, one row for every row of the maps.
    pub points: &'a Points,
    /// Their rows in the input, counted from 0, if they are some of them.
    pub row_ids: Option<&'a [usize]>,
    /// How they were measured.
    pub metric: Metric,
    /// The names of their columns, if they have some.
    pub columns: Option<&'a [String]>,
    /// What was done to the columns before.
    pub prepared: Option<&'a Prepared>,
    /// What may color them, by name.
    pub labels: &'a [(String, Labels)],
    /// What they are called.
    pub names: Option<&'a [String]>,
    /// Width and height of rows that are images.
    pub image: Option<(usize, usize)>,
    /// Notes about the input.
    pub notes: &'a [String],
    /// The maps, best first.
    pub outcomes: &'a [Outcome],
}

impl Page<'_> {
    /// The whole page.
    ///
    /// # Errors
    ///
    /// If an inverse transform cannot be learned, or the metric is not defined on the points.
    pub fn html(&self) -> Result<String> {
        self.written(TEMPLATE, &Value::Null)
    }

    /// The whole page as a server gives it, with what its forms need to know: this page may ask the server it comes from for
    /// more, and no other.
    ///
    /// # Errors
    ///
    /// As [`Page::html`].
    pub fn live(&self, live: &Value) -> Result<String> {
        self.written(&TEMPLATE.replacen("connect-src 'none'", "connect-src 'self'", 1), live)
    }

    fn written(&self, template: &str, live: &Value) -> Result<String> {
        let mut block = Block::default();
        let mut data = self.data(&mut block)?;
        data["live"] = live.clone();
        undirect(&mut data);
        let title = undirected(self.title).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let json = data.to_string().replace('<', "\\u003c");
        let inside = format!(
            "<script id=\"eigenfold-data\" type=\"application/json\">{json}</script>\n\
             <script id=\"eigenfold-bytes\" type=\"text/plain\">{}</script>",
            block.text()?
        );
        // The parts are put in from the first mark to the last, so that no mark inside of one is taken for another.
        let mut page = String::with_capacity(template.len() + SCRIPT.len() + STYLE.len() + inside.len());
        let mut rest = template;
        for (mark, part) in
            [("<!--title-->", title.as_str()), ("/*style*/", STYLE), ("<!--data-->", &inside), ("/*script*/", SCRIPT)]
        {
            let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
            page.push_str(before);
            page.push_str(part);
            rest = after;
        }
        page.push_str(rest);
        Ok(page)
    }

    /// The data: names and numbers here, arrays in the block.
    fn data(&self, block: &mut Block) -> Result<Value> {
        let (n, p) = (self.points.rows(), self.points.cols());
        let holds_rows = holds_rows(self.points);
        let rows = holds_rows.then(|| block.smallest(&[n, p], self.points.values()));
        let left_out = format!("{n} rows of {p} numbers are too many for a page; compare a sample of them to see rows");
        let (neighbors, density) = self.neighbors(block)?;
        let maps: Vec<Value> =
            self.outcomes.iter().map(|one| map::map(one, self.points, holds_rows, block)).collect::<Result<_>>()?;
        Ok(json!({
            "version": 1,
            "made_by": concat!("eigenfold ", env!("CARGO_PKG_VERSION")),
            "title": self.title,
            "input": {
                "name": self.source,
                "n": self.rows,
                "shown": n,
                "features": p,
                "metric": self.metric.to_string(),
                "notes": self.notes,
            },
            "columns": (0..p).map(|j| self.column(j)).collect::<Vec<_>>(),
            "rows": rows,
            "rows_note": (!holds_rows).then_some(left_out),
            "image": self.image.map(|(width, height)| json!({"width": width, "height": height})),
            "row_ids": self.row_ids.map(|ids| block.u32(&[n], ids.iter().map(|&id| id as u32))),
            "names": self.names,
            "labels": self.labels.iter().map(|(name, labels)| label(name, labels, block)).collect::<Vec<_>>(),
            "density": density,
            "neighbors": neighbors,
            "measures": measures(),
            "ranking": {
                "rule": RULE,
                "key": RANKED_BY[0].key(),
                "order": self.outcomes.iter().filter(|one| one.model.is_some()).map(|one| &one.entrant.name).collect::<Vec<_>>(),
            },
            "maps": maps,
            "live": null,
        }))
    }

    fn column(&self, j: usize) -> Value {
        let name = self.columns.map_or_else(|| format!("x{}", j + 1), |names| names[j].clone());
        let done = self.prepared.map(|prepared| &prepared.columns()[j]);
        json!({
            "name": name,
            "center": done.map_or(0.0, |done| done.center),
            "scale": done.map_or(1.0, |done| done.scale),
            "log": match done.and_then(|done| done.log) {
                None => json!(false),
                Some(Log::Plain) => json!(true),
                Some(Log::OnePlus) => json!("one_plus"),
            },
        })
    }

    /// The true neighbors of every point, and how densely the points lie there: less the logarithm of the mean distance.
    fn neighbors(&self, block: &mut Block) -> Result<(Value, Value)> {
        let n = self.points.rows();
        let near = Near::of(self.points, self.metric)?;
        let density = near.distances.chunks_exact(near.k).map(|list| {
            let mean = list.iter().sum::<f64>() / near.k as f64;
            if mean > 0.0 { -mean.ln() } else { f64::NAN }
        });
        let density = block.f32(&[n], density.collect::<Vec<_>>());
        let distances = block.f32(&[n, near.k], near.distances);
        Ok((json!({"ids": block.u32(&[n, near.k], near.ids), "distances": distances}), density))
    }
}

/// The true neighbors of every point, nearest first.
pub struct Near {
    /// How many each has.
    pub k: usize,
    /// Who they are, list after list.
    pub ids: Vec<u32>,
    /// How far away they are.
    pub distances: Vec<f64>,
}

impl Near {
    /// Ten of each, or all others where there are fewer.
    ///
    /// # Errors
    ///
    /// If the metric is not defined on the points.
    pub fn of(points: &Points, metric: Metric) -> Result<Near> {
        let k = NEIGHBORS.min(points.rows() - 1);
        let search =
            Search { neighbors: Neighbors::Nearest(k), disconnected: Disconnected::Separate, ..Search::default() };
        let graph = Data::Points(points, metric).neighbors(&search, &Silent)?.graph;
        let ids = (0..graph.len()).flat_map(|i| graph.neighbors(i).iter().copied()).collect();
        Ok(Near { k, ids, distances: graph.all_lengths().to_vec() })
    }
}

/// One more map for a page that is open: `map` as in the data of a page, and `bytes`, the block of its arrays.
///
/// # Errors
///
/// If its inverse transform cannot be learned.
pub fn alone(outcome: &Outcome, points: &Points) -> Result<Value> {
    let mut block = Block::default();
    let mut map = map::map(outcome, points, holds_rows(points), &mut block)?;
    undirect(&mut map);
    Ok(json!({"map": map, "bytes": block.text()?}))
}

/// Takes what turns the direction of writing out of every text: a label must not pass for another.
fn undirect(value: &mut Value) {
    match value {
        Value::String(text) if text.contains(directs) => *text = undirected(text),
        Value::Array(values) => values.iter_mut().for_each(undirect),
        Value::Object(members) => members.values_mut().for_each(undirect),
        _ => {}
    }
}

/// The text with a mark in the place of every character that turns the direction of writing.
fn undirected(text: &str) -> String {
    text.replace(directs, "\u{fffd}")
}

fn directs(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a page has room for the data themselves.
fn holds_rows(points: &Points) -> bool {
    points.rows() * points.cols() <= MOST_NUMBERS
}

/// The measures, those of the ranking first.
fn measures() -> Vec<Value> {
    let mut all = MEASURES.to_vec();
    all.sort_by_key(|measure| RANKED_BY.iter().position(|by| *by == measure.measure).unwrap_or(RANKED_BY.len()));
    let one = |measure: &MeasureInfo| {
        json!({
            "key": measure.key,
            "title": measure.title,
            "explain": measure.explain,
            "better": measure.better.name(),
            "low": measure.low,
            "high": measure.high,
            "pointwise": true,
        })
    };
    all.iter().map(one).collect()
}

fn label(name: &str, labels: &Labels, block: &mut Block) -> Value {
    match labels {
        // More classes than two bytes count are numbers.
        Labels::Classes { names, of } if names.len() < usize::from(NO_CLASS) => {
            let values = of.iter().map(|class| class.map_or(NO_CLASS, |class| class as u16));
            json!({"name": name, "kind": "classes", "classes": names, "values": block.u16(&[of.len()], values)})
        }
        Labels::Classes { of, .. } => {
            let values = of.iter().map(|class| class.map_or(f64::NAN, f64::from));
            json!({"name": name, "kind": "number", "values": block.f32(&[of.len()], values)})
        }
        Labels::Values(values) => {
            json!({"name": name, "kind": "number", "values": block.f32(&[values.len()], values.iter().copied())})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_turns_the_direction_of_writing() {
        let mut data = json!({"labels": [{"classes": ["a\u{202e}b", "שלום", "c\u{2066}"]}], "n": 3});
        undirect(&mut data);
        assert_eq!(data, json!({"labels": [{"classes": ["a\u{fffd}b", "שלום", "c\u{fffd}"]}], "n": 3}));
    }

    #[test]
    fn the_policy_of_the_page_allows_its_own_script_and_style_alone() {
        assert!(!TEMPLATE.contains("unsafe"), "{TEMPLATE}");
        for kind in ["script-src 'sha256-", "style-src 'sha256-"] {
            assert_eq!(TEMPLATE.matches(kind).count(), 1, "{kind}");
        }
        assert!(TEMPLATE.contains("connect-src 'none'"));
    }
}
