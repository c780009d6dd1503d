//! The input with a guess in every missing cell, and how far off the guesses may be.

use crate::args::Embed;
use crate::flags::{Kind, MissingName};
use crate::input::numbered;
use crate::outputs::Outputs;
use eigenfold::{Error, Method, Model, Owned, Points, Result, io};

/// Refuses what cannot be written, before any work is done.
pub(crate) fn check(args: &Embed, method: &Method) -> Result<()> {
    let name = if args.completed.is_some() { "completed" } else { "completed-std" };
    let refused = |fact: String, way_out: String| Err(Error::inapplicable(name, fact, way_out));
    if args.completed.is_none() && args.completed_std.is_none() {
        return Ok(());
    }
    if matches!(args.input.missing(), MissingName::Error | MissingName::Drop) {
        let fact = format!("--{name} writes imputed cells");
        return refused(fact, "add --missing model or --missing mean".into());
    }
    if args.input_kind == Kind::Graph {
        return refused("a graph has no cells to complete".into(), format!("leave out --{name}"));
    }
    let method = method.info().name;
    if args.completed_std.is_some() && !["ppca", "fa"].contains(&method) {
        let fact = format!("the imputed cells of {method} have no standard deviations");
        return Err(Error::inapplicable("completed-std", fact, "--completed-std is for ppca and fa"));
    }
    Ok(())
}

/// Stages the requested files: rows and columns as in the input, the label column apart.
pub(crate) fn stage<'a>(args: &Embed, data: &'a Owned, model: &'a Model, outputs: &mut Outputs<'a>) -> Result<()> {
    let table = match data {
        Owned::Points(points) => points,
        Owned::Distances(distances) => distances.matrix(),
        Owned::Graph(_) => return Ok(()), // Refused.
    };
    let names = model.names().map_or_else(|| numbered("x", table.cols()), <[String]>::to_vec);
    if let Some(target) = &args.completed {
        let full = match model.latent() {
            Some(_) => model.complete(table)?.0,
            None => table.clone(),
        };
        let full = full.guessed();
        let names = names.clone();
        outputs.stage(target, move |name| io::write(name, &names, &full, &[]))?;
    }
    if let Some(target) = &args.completed_std {
        let deviations = deviations(model, table)?;
        outputs.stage(target, move |name| io::write(name, &names, &deviations, &[]))?;
    }
    Ok(())
}

/// The deviation of every missing cell; 0 where a cell was observed.
fn deviations(model: &Model, table: &Points) -> Result<Points> {
    let mut values = vec![0.0; table.values().len()];
    for (&at, deviation) in table.missing().iter().zip(model.complete(table)?.1) {
        values[at] = deviation;
    }
    Points::new(table.rows(), table.cols(), values)
}
