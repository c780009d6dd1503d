//! `eigenfold graph`: the neighborhood graph, its edges and its components.

use crate::args::Graph;
use crate::dropped_rows::Kept;
use crate::embed::{try_bytes, try_coordinates};
use crate::flags::with_flags;
use crate::input::{self, LoadedInput};
use crate::labels::Carry;
use crate::outputs::{self, Outputs, Wanted};
use crate::progress::{self, Bar};
use crate::report::{self, grouped};
use crate::{own_neighbors, preparing, request, say};
use eigenfold::{Error, Found, InputKind, LearnedGraph, Owned, Result, Share, io::write_graph};
use eigenfold_graph::distances::mistaken;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &Graph) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let request = request::of_graph(args);
    if request.chooses_neighbors() {
        let fact = "-k auto chooses by embeddings, which a graph alone does not have";
        return Err(Error::parameter("neighbors", fact, "give -k a number, or use embed -k auto"));
    }
    own_neighbors::check_graph(args, request.learns())?;
    let (drill, search) = (request.learned_graph()?, request.search()?);
    let all = [("-o", args.output.as_deref()), ("--json", args.json.as_deref())];
    let given = all.into_iter().filter_map(|(flag, target)| target.map(|target| (flag, target)));
    let wanted: Vec<Wanted> = given
        .map(|(flag, target)| Wanted { flag, target, trial: if flag == "-o" { try_coordinates } else { try_bytes } })
        .collect();
    let inputs: Vec<&Path> = args.input.sources().into_iter().chain(args.neighbors_from.as_deref()).collect();
    outputs::check(&inputs, &wanted)?;

    let bar = Bar::new(args.common.quiet);
    let [reading, searching] = Share::split(&bar, [0.1, 1.0]);
    bar.say("reading");
    let start = Instant::now();
    let carry = Carry::default();
    let LoadedInput { data, mut notes, names, schema, rows, .. } =
        input::read(&args.input, &carry, args.input_kind, &args.preparing, None, &reading)?;
    notes.extend(data.view().points().and_then(mistaken).map(|note| with_flags(&note)));
    let preparation = request::of_columns(&args.input, &args.preparing, &schema).preparation()?;
    let data = match data {
        Owned::Points(points) => {
            Owned::Points(preparing::prepared(&preparation, points, names.as_deref(), args.common.quiet)?)
        }
        other if preparation.is_none() => other,
        _ => {
            let (fact, way_out) =
                ("only points have columns to prepare", "leave out --standardize, --scale-columns and --log");
            return Err(Error::inapplicable("standardize", fact, way_out));
        }
    };
    let known = args.neighbors_from.as_deref();
    let known = known.map(|from| own_neighbors::read(from, data.view().len(), rows.as_ref(), None)).transpose()?;
    let read = start.elapsed().as_secs_f64();
    progress::go_on()?;
    let start = Instant::now();
    let view = data.view();
    if view.kind() == InputKind::Similarities {
        let (fact, way_out) = ("similarities have no neighbors by distance", "give --input-kind points or distances");
        return Err(Error::input_kind(&["points", "distances"], fact, way_out));
    }
    let (found, learned) = match (drill, &known) {
        (Some(drill), _) => {
            let (found, learned) = drill.graph(&search, view.measured_by(search.metric), None, &searching)?;
            (found, Some(learned))
        }
        (None, Some((known, guessed))) => {
            notes.extend(guessed.iter().cloned());
            (view.measured_by(search.metric).given_neighbors(known, &search, &searching)?, None)
        }
        (None, None) => (view.measured_by(search.metric).neighbors(&search, &searching)?, None),
    };
    let searched = start.elapsed().as_secs_f64();
    progress::start_writing()?;
    bar.say("writing");

    let start = Instant::now();
    let mut outputs = Outputs::default();
    if let Some(target) = &args.output {
        // Edges name the rows of the file.
        let all = rows.as_ref().map(|kept| kept.graph(&found.graph)).transpose()?;
        let graph = &found.graph;
        outputs.stage(target, move |name| write_graph(name, all.as_ref().unwrap_or(graph)))?;
    }
    if let Some(target) = &args.json {
        let seconds = json!({"read": read, "graph": searched, "write": start.elapsed().as_secs_f64()});
        let predicted = found.memory + data.view().bytes();
        let value = as_json(&found, learned.as_ref(), rows.as_ref(), (seconds, report::memory_mb(predicted)));
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    bar.finish();
    outputs.commit()?;
    say(args.common.quiet, &summary(&found, learned.as_ref(), searched));
    input::say_notes(&notes, args.common.quiet);
    Ok(())
}

fn as_json(
    found: &Found,
    learned: Option<&LearnedGraph>,
    rows: Option<&Kept>,
    (seconds, memory): (Value, Value),
) -> Value {
    // Where all is one component there is nothing to tell about each point.
    let component_of = (found.sizes.len() > 1).then(|| match rows {
        Some(kept) => json!(kept.among_all(&found.component_of)),
        None => json!(found.component_of),
    });
    let mut out = json!({
        "n": found.graph.len(),
        "edges": found.graph.edge_count(),
        "components": found.sizes,
        "component_of": component_of,
        "linking_edges": found.linking_edges.len(),
        "connecting_k": found.connecting_k,
        "recall": found.recall,
        "search": found.route,
        "learned": learned.map(|learned| json!({
            "penalty": learned.penalty,
            "candidates": learned.candidates,
            "kept": learned.kept,
            "gap": learned.gap.is_finite().then_some(learned.gap),
            "converged": learned.converged,
        })),
        "seconds": seconds,
        "memory_mb": memory,
    });
    if let Some(kept) = rows {
        out["dropped"] = kept.json();
    }
    out
}

fn summary(found: &Found, learned: Option<&LearnedGraph>, seconds: f64) -> String {
    let (n, edges) = (grouped(found.graph.len()), grouped(found.graph.edge_count()));
    let components = match found.sizes.len() {
        1 => "in one component".to_string(),
        _ => format!(
            "connected components: {}{}",
            report::sizes(&found.sizes),
            report::linking_edges(found.linking_edges.len())
        ),
    };
    let connecting = found.connecting_k.map_or(String::new(), |k| format!("; -k {k} connects it"));
    let learning = learned.map_or(String::new(), |learned| {
        let LearnedGraph { penalty, candidates, kept, gap, converged } = learned;
        let warning = if *converged { "" } else { "\nwarning: the gap is above the tolerance; a larger --ridge helps" };
        let (kept, candidates) = (grouped(*kept), grouped(*candidates));
        format!("\nlearned: kept {kept} of {candidates} pairs, penalty {penalty:.4e}, gap {gap:.1e} per point{warning}")
    });
    let recall = found.recall.map_or(String::new(), |recall| format!(", {}", report::recalled(recall)));
    let exact = found.exact_because.map_or(String::new(), |why| {
        format!("\n  warning: --approximate was not used, the neighbors are exact: {why}")
    });
    let route = found.route;
    format!(
        "graph: {n} points, {edges} edges, {components}{connecting}, {seconds:.2} s ({route}{recall}){learning}{exact}"
    )
}
