//! What those are told who named no method: isomap is the default, and other methods may serve better here.

use crate::args::Embed;
use crate::flags::Kind;
use eigenfold::error::Result;
use eigenfold::graph::Pieces;
use eigenfold::judge::farness;
use eigenfold::model::Model;

/// From this farness on, a map shows neighborhoods that the data do not have (docs/maps.md has the farness of isomap's and of
/// umap's maps of thirteen data sets).
const FAR: f64 = 1.25;

/// One sentence, where the default method is not what the data ask for.
pub(crate) fn advice(args: &Embed, model: &Model) -> Result<Option<String>> {
    let Some(points) = model.points().filter(|_| args.method.is_none() && args.input_kind == Kind::Points) else {
        return Ok(None);
    };
    let (report, recipe) = (model.report(), model.recipe());
    let method = &report.method;
    if report.pieces.len() > 1 && recipe.pieces == Pieces::Join {
        let fact = format!("{method} is the default, and bridges between {} pieces bend its map", report.pieces.len());
        return Ok(Some(format!(
            "{fact}; for groups use -m umap or -m tsne, for a map of each piece --pieces separate"
        )));
    }
    let farness = farness(points, recipe.metric, model.embedding())?;
    if farness < FAR {
        return Ok(None);
    }
    let dims = report.dims;
    let fact = format!("{method} is the default, and {dims} of its coordinates do not hold these neighborhoods");
    let measured = format!("the ten nearest on the map are {farness:.2} times as far in the data as the nearest ten");
    Ok(Some(format!("{fact}: {measured}; for neighborhoods and groups use -m umap or -m tsne")))
}
