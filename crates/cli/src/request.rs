//! From flags to the library's [`Request`], and nothing else: what the words mean is the library's business.

use crate::args::{Embed, Graph};
use crate::compare::Compared;
use crate::flags::{Common, Input, Neighbors, Preparing};
use crate::serve::Serve;
use clap::ValueEnum;
use eigenfold::{Count, Request, io::Schema};
use eigenfold_page::FRAMES;

/// The request of `embed`.
pub(crate) fn of_embed(args: &Embed) -> Request {
    Request {
        method: args.method.clone(),
        parameters: args.parameters.iter().cloned().collect(),
        dims: args.dims,
        rescale: args.rescale,
        memory: args.memory,
        likelihood: args.likelihood,
        affinities: args.weights.is_some(),
        ..with_graph(of_columns(&args.input, &args.preparing, &Schema::default()), &args.neighbors, &args.common)
    }
}

/// What the methods of `compare` have in common; the columns are prepared once for all of them.
pub(crate) fn of_compare(args: &Compared) -> Request {
    Request {
        parameters: args.parameters.iter().cloned().collect(),
        dims: Some(Count::Number(args.dims)),
        memory: args.memory,
        snapshots: if args.report.is_some() { FRAMES } else { 0 },
        ..with_graph(Request::default(), &args.neighbors, &args.common)
    }
}

/// What the requests of a page have that do not say otherwise.
pub(crate) fn of_serve(args: &Serve) -> Request {
    Request {
        dims: Some(Count::Number(args.dims)),
        memory: args.memory,
        snapshots: FRAMES,
        ..with_graph(Request::default(), &args.neighbors, &args.common)
    }
}

/// The request of `graph`.
pub(crate) fn of_graph(args: &Graph) -> Request {
    Request {
        learned: args.learned,
        graph_parameters: args.learning.iter().cloned().collect(),
        ..with_graph(Request::default(), &args.neighbors, &args.common)
    }
}

/// What is done to the columns of a table, which may have indicators of categories.
pub(crate) fn of_columns(input: &Input, preparing: &Preparing, schema: &Schema) -> Request {
    Request {
        missing: input.missing.map(word),
        log: preparing.log.map(word),
        scale_columns: preparing.scale_columns.map(word),
        standardize: preparing.standardize,
        indicators: schema.indicators().collect(),
        ..Request::default()
    }
}

/// The request with what the flags about the graph and the seed say.
fn with_graph(request: Request, graph: &Neighbors, common: &Common) -> Request {
    Request {
        neighbors: graph.k,
        radius: graph.radius,
        graph: graph.graph.map(word),
        metric: graph.metric.map(|metric| metric.to_string()),
        approximate: graph.approximate,
        disconnected: graph.disconnected.map(word),
        seed: common.seed,
        ..request
    }
}

/// A value as it is written on the command line.
pub(crate) fn word(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}
