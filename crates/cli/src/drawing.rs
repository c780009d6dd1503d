//! The pictures of `embed` and `transform`: the flags, and what is drawn.

use crate::args::Embed;
use crate::labels::Labeled;
use crate::report::{self, EffectiveParameter};
use clap::{Args, ValueEnum};
use eigenfold::{Error, Model, NeighborsChoice, Owned, Points, Report, Result, io::Labels};
use eigenfold_plot::{Coloring, Curve, Format, Images, Picture, Shade, Theme};
use std::path::Path;

/// Light or dark paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeName {
    Light,
    Dark,
}

/// The flag of every picture.
#[derive(Debug, Args)]
pub(crate) struct Paper {
    /// Colors of the picture: light or dark [default: light]
    #[arg(long, value_enum, value_name = "THEME", hide_possible_values = true)]
    pub(crate) theme: Option<ThemeName>,
}

impl Paper {
    pub(crate) fn theme(&self) -> Theme {
        match self.theme {
            None | Some(ThemeName::Light) => Theme::Light,
            Some(ThemeName::Dark) => Theme::Dark,
        }
    }
}

/// The flags of a picture.
#[derive(Debug, Args)]
pub(crate) struct Drawing {
    #[command(flatten)]
    pub(crate) paper: Paper,
    /// Size of the picture in units of 1/96 inch [default: what the shape of the embedding needs]
    ///
    /// 400x300 to 4000x4000; a PNG has two pixels per unit.
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(crate) size: Option<(usize, usize)>,
    /// Draw rows as images of WxH pixels where they fit
    ///
    /// Each row has the grey levels of the pixels, line by line from the top.
    #[arg(long, value_name = "WxH", value_parser = pixels)]
    pub(crate) image: Option<(usize, usize)>,
    /// Shade the background by the uncertainty of reconstruction
    ///
    /// The stronger the shade, the larger the standard deviation of `reconstruct --std` there, over all features.
    #[arg(long)]
    pub(crate) shade: bool,
}

impl Drawing {
    /// Refuses flags of a picture without --plot.
    pub(crate) fn check(&self, plot: Option<&Path>, names: bool) -> Result<()> {
        if let Some(plot) = plot {
            return Format::of(Path::new(plot)).map(|_| ());
        }
        let given = [
            ("--theme", self.paper.theme.is_some()),
            ("--size", self.size.is_some()),
            ("--image", self.image.is_some()),
            ("--shade", self.shade),
            ("--names", names),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Error::inapplicable(
                flag.trim_start_matches('-'),
                format!("{flag} is for the picture"),
                "add --plot FILE",
            )),
            None => Ok(()),
        }
    }

    /// Refuses what cannot be drawn for these data and this number of coordinates.
    pub(crate) fn check_data(&self, features: Option<usize>, dims: usize, names: bool) -> Result<()> {
        if let Some((width, height)) = self.image {
            let pixels = width.saturating_mul(height);
            match features {
                Some(features) if features == pixels => {}
                Some(features) => {
                    let fact =
                        format!("--image {width}x{height} are {pixels} pixels, and a row has {features} numbers");
                    return Err(Error::parameter("image", fact, "give the size of the images that the rows are"));
                }
                None => {
                    let fact = "--image needs rows that are images";
                    return Err(Error::input_kind(&["points"], fact, "give --input-kind points"));
                }
            }
        }
        if self.shade && features.is_none() {
            let fact = "--shade needs rows to reconstruct";
            return Err(Error::input_kind(&["points"], fact, "give --input-kind points"));
        }
        if self.shade && dims != 2 {
            let fact = format!("--shade is drawn behind two coordinates, and the map has {dims}");
            return Err(Error::out_of_range("dims", dims, 2..=2, fact, "use -d 2"));
        }
        let given = [("--names", names), ("--image", self.image.is_some())];
        match given.into_iter().find(|(_, given)| *given && dims > 3) {
            Some((flag, _)) => {
                let fact = format!("{flag} finds no room on the pairs of {dims} coordinates");
                Err(Error::out_of_range("dims", dims, 1..=3, fact, "use -d 3 or fewer"))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn size(&self) -> Option<(f64, f64)> {
        self.size.map(|(width, height)| (width as f64, height as f64))
    }

    pub(crate) fn images<'a>(&self, rows: Option<&'a Points>) -> Option<Images<'a>> {
        self.image.zip(rows).map(|((width, height), rows)| Images { rows, width, height })
    }
}

/// `640x480`.
fn pair(text: &str) -> Option<(usize, usize)> {
    let (width, height) = text.split_once(['x', 'X'])?;
    Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
}

pub(crate) fn pixels(text: &str) -> Result<(usize, usize)> {
    let found = pair(text).filter(|&(width, height)| width > 0 && height > 0);
    let way_out = "use its width and height in pixels, as in 28x28";
    found.ok_or_else(|| Error::parameter("image", "this is not the size of an image", way_out))
}

fn size(text: &str) -> Result<(usize, usize)> {
    let allowed = |&(width, height): &(usize, usize)| (400..=4000).contains(&width) && (300..=4000).contains(&height);
    let found = pair(text).filter(allowed);
    let way_out = "use 400x300 to 4000x4000, as in 1200x900";
    found.ok_or_else(|| Error::parameter("size", "this is not the size of a picture", way_out))
}

/// The coloring of `behind` points without labels and the labeled ones in front of them.
pub(crate) fn coloring(labels: Option<Labeled>, behind: usize) -> Coloring {
    match labels {
        None => Coloring::One,
        Some(Labeled { title, labels: Labels::Values(own) }) => {
            let mut values = vec![f64::NAN; behind];
            values.extend(own);
            Coloring::Values { title, values }
        }
        Some(Labeled { title, labels: Labels::Classes { names, of: own } }) => {
            let mut of = vec![None; behind];
            of.extend(own);
            Coloring::Classes { title, names, of }
        }
    }
}

/// The labels of a built-in set by their own name.
fn named(labels: Option<Labeled>, source: &Path) -> Option<Labeled> {
    let own = match source.to_str() {
        Some("digits") => "digit",
        Some("iris") => "species",
        _ => return labels,
    };
    labels.map(|labeled| if labeled.title == "label" { Labeled { title: own.into(), ..labeled } } else { labeled })
}

/// Numbers that are reconstructed at a time for the shading.
const AT_A_TIME: usize = 1 << 22;
/// Embedding points at which the shading is computed, least and most; fewer where rows are long.
const PLACES: (usize, usize) = (400, 2400);

/// The root mean square uncertainty of reconstruction, over all features, at some embedding points.
fn deviations(model: &Model, places: &Points) -> Result<Vec<f64>> {
    let way = model.inverse_transform()?;
    let features = model.points().map_or(1, Points::cols);
    let rows: Vec<usize> = (0..places.rows()).collect();
    let mut found = Vec::with_capacity(rows.len());
    for some in rows.chunks((AT_A_TIME / features).max(1)) {
        let deviations = way.reconstruct(&places.select(some))?.deviations;
        // The largest goes out of the sum, so that no square is beyond all numbers.
        let size = |row: &[f64]| match row.iter().fold(0.0f64, |a, v| a.max(v.abs())) {
            0.0 => 0.0,
            most => most * (row.iter().map(|v| (v / most).powi(2)).sum::<f64>() / row.len() as f64).sqrt(),
        };
        found.extend((0..deviations.rows()).map(|i| size(deviations.row(i))));
    }
    Ok(found)
}

/// What is drawn behind the points of a map.
pub(crate) fn places(model: &Model) -> usize {
    let features = model.points().map_or(1, Points::cols);
    (20_000_000 / features).clamp(PLACES.0, PLACES.1)
}

/// What the picture of `embed` shows.
pub(crate) struct Shown<'a> {
    pub(crate) model: &'a Model,
    pub(crate) map: &'a Points,
    pub(crate) data: &'a Owned,
    pub(crate) labels: Option<Labeled>,
    pub(crate) names: Option<&'a [String]>,
    pub(crate) parameters: &'a [EffectiveParameter],
}

/// The picture of a map.
pub(crate) fn picture(args: &Embed, shown: Shown, format: Format) -> Result<Vec<u8>> {
    let report = shown.model.report();
    let mut facts = sizes(report);
    facts.extend(shown.parameters.iter().filter_map(setting));
    let rows = if let Owned::Points(points) = shown.data { Some(points) } else { None };
    let deviations = |places: &Points| deviations(shown.model, places);
    let picture = Picture {
        points: shown.map,
        behind: 0,
        coloring: &coloring(named(shown.labels, &args.input.source), 0),
        ringed: None,
        names: shown.names,
        images: args.drawing.images(rows),
        shade: args.drawing.shade.then(|| Shade { places: places(shown.model), deviations: &deviations }),
        eigenvalues: &report.coordinates.eigenvalues,
        title: &format!("{}, {}", title_of(&args.input.source), shown.model.recipe().method.info().title),
        subtitle: &facts.join(" · "),
        size: args.drawing.size(),
        theme: args.drawing.paper.theme(),
    };
    picture.rendered(format)
}

/// What the picture of `transform` shows.
pub(crate) struct Added<'a> {
    pub(crate) model: &'a Model,
    /// The new points, where they were placed.
    pub(crate) placed: &'a Points,
    /// The new points themselves.
    pub(crate) rows: &'a Points,
    /// Which of them are far from all training points.
    pub(crate) far: &'a [usize],
    pub(crate) labels: Option<Labeled>,
    pub(crate) names: Option<&'a [String]>,
    /// What the file is called.
    pub(crate) source: &'a Path,
}

/// The picture of new points over those that made the map.
pub(crate) fn picture_of_new(drawing: &Drawing, added: Added, format: Format) -> Result<Vec<u8>> {
    let (model, map) = (added.model, added.model.embedding());
    let behind = map.rows();
    let values = [map.values(), added.placed.values()].concat();
    let points = Points::new(behind + added.placed.rows(), map.cols(), values)?;
    let far: Vec<usize> = added.far.iter().map(|i| i + behind).collect();
    let deviations = |places: &Points| deviations(model, places);
    let facts = [report::plural(added.placed.rows(), "new point"), report::plural(behind, "training point")];
    let picture = Picture {
        points: &points,
        behind,
        coloring: &coloring(added.labels, behind),
        ringed: Some((&far, "far from all")),
        names: added.names,
        images: drawing.images(Some(added.rows)),
        shade: drawing.shade.then(|| Shade { places: places(model), deviations: &deviations }),
        eigenvalues: &[],
        title: &format!("{} as new points, {}", title_of(added.source), model.recipe().method.info().title),
        subtitle: &facts.join(" · "),
        size: drawing.size(),
        theme: drawing.paper.theme(),
    };
    picture.rendered(format)
}

/// The picture of what `-k auto` tried.
pub(crate) fn curve(args: &Embed, model: &Model, choice: &NeighborsChoice, format: Format) -> Result<Vec<u8>> {
    let report = model.report();
    let mut facts = sizes(report);
    if choice.tried.iter().any(|tried| tried.components > 1) {
        facts.push("grey: the graph is in components".into());
    }
    let title = format!("{}, {}: neighbors tried", title_of(&args.input.source), model.recipe().method.info().title);
    let curve = Curve { choice, title: &title, subtitle: &facts.join(" · "), theme: args.drawing.paper.theme() };
    curve.rendered(format)
}

/// What an input is called in a title.
pub(crate) fn name_of(source: &Path) -> String {
    if source == Path::new("-") {
        return "standard input".into();
    }
    source.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What the data are called in the title of a picture: the name of the file in words.
pub(crate) fn title_of(source: &Path) -> String {
    let name = name_of(source);
    // An array of an archive is named behind a colon.
    let file = name.split(':').next().unwrap_or(&name);
    let endings = ["gz", "zst", "csv", "tsv", "txt", "npy", "npz", "parquet", "arrow", "feather"];
    let mut stem = file;
    while let Some((before, ending)) = stem.rsplit_once('.') {
        if before.is_empty() || !endings.contains(&ending.to_lowercase().as_str()) {
            break;
        }
        stem = before;
    }
    let words = stem.replace(['-', '_'], " ");
    let mut letters = words.trim().chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => name,
    }
}

/// Parameters of solvers, which change how a result is computed and not what it is.
const OF_SOLVERS: [&str; 8] =
    ["tolerance", "max-iterations", "iterations", "approximate", "repulsion-by", "repulsion", "solver", "disconnected"];

/// A setting that a reader of the picture wants to know: the neighborhoods, a metric other than Euclidean, and requests.
fn setting(parameter: &EffectiveParameter) -> Option<String> {
    let EffectiveParameter { name, requested, used } = parameter;
    match name.as_str() {
        "neighbors" => Some(format!("k = {used}")),
        "radius" | "perplexity" => (used != "auto" && used != "none").then(|| format!("{name} {used}")),
        "metric" => (used != "euclidean").then(|| format!("{used} metric")),
        name if OF_SOLVERS.contains(&name) || requested.is_none() => None,
        name => {
            let name = name.replace('-', " ");
            Some(if used == "true" { name } else { format!("{name} {used}") })
        }
    }
}

/// The numbers of points and features.
fn sizes(report: &Report) -> Vec<String> {
    let mut facts = vec![report::plural(report.n, "point")];
    facts.extend(report.features.map(|d| report::plural(d, "feature")));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!((size("1200x900").unwrap(), pixels("28X28").unwrap()), ((1200, 900), (28, 28)));
        for wrong in ["", "800", "x", "800x", "0x0", "-1x5", "800x99999999", "1e3x1e3", "10x10"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert!(pixels("0x4").is_err());
    }

    #[test]
    fn titles_are_words() {
        for (file, title) in [
            ("digits", "Digits"),
            ("data/swiss-roll.csv", "Swiss roll"),
            ("cell_types.csv.gz", "Cell types"),
            ("two.npz:X", "Two"),
            (".csv", ".csv"),
            ("v1.2.csv", "V1.2"),
            ("-", "Standard input"),
        ] {
            assert_eq!(title_of(Path::new(file)), title);
        }
    }

    #[test]
    fn a_picture_names_the_settings_that_matter_alone() {
        let parameter = |name: &str, requested: Option<&str>, used: &str| EffectiveParameter {
            name: name.into(),
            requested: requested.map(String::from),
            used: used.into(),
        };
        let text = |name, requested, used| setting(&parameter(name, requested, used));
        assert_eq!(text("neighbors", None, "10").as_deref(), Some("k = 10"));
        assert_eq!(text("perplexity", None, "30").as_deref(), Some("perplexity 30"));
        assert_eq!(text("metric", None, "euclidean"), None);
        assert_eq!(text("metric", Some("cosine"), "cosine").as_deref(), Some("cosine metric"));
        assert_eq!(text("tolerance", Some("1e-12"), "0.000000000001"), None);
        assert_eq!(text("noise", None, "0.1"), None);
        assert_eq!(text("min-dist", Some("0.5"), "0.5").as_deref(), Some("min dist 0.5"));
    }
}
