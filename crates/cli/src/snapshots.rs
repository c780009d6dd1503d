//! Snapshots of an optimization (`--snapshots`, `--path`), written as files or as a part of the report.

use crate::args::Embed;
use crate::dropped_rows::Kept;
use crate::embed::write_coordinates;
use crate::input;
use crate::outputs::Outputs;
use eigenfold::{Error, Method, Points, Result, Snapshot, io, io::write_error};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Maps that go into a directory.
const IN_A_DIRECTORY: usize = 20;
/// Maps of which each has its own strength of the repulsion: more than any path has.
const ALL: usize = 100_000;

/// Where the maps go.
pub(crate) struct Snapshots {
    folder: Option<Folder>,
    /// How many are wanted.
    pub(crate) most: usize,
}

/// A directory that is made if need be, and taken away again if nothing was put into it.
struct Folder {
    place: PathBuf,
    made: bool,
}

impl Snapshots {
    /// What the flags request; a directory is there from now on.
    pub(crate) fn of(args: &Embed, method: &Method) -> Result<Snapshots> {
        if args.path.is_some() {
            let lambda = method.parameters().into_iter().find(|parameter| parameter.name == "lambda");
            if !lambda.is_some_and(|lambda| lambda.value.contains(':')) {
                return Err(Error::inapplicable(
                    "path",
                    "--path writes the embeddings along a path of lambda",
                    "use -m elastic --lambda FROM:TO:COUNT",
                ));
            }
        }
        let of_path = if args.path.is_some() { ALL } else { 0 };
        let Some(given) = &args.snapshots else { return Ok(Snapshots { folder: None, most: of_path }) };
        match given.parse::<usize>() {
            Ok(count) if !(2..=ALL).contains(&count) => Err(Error::parameter(
                "snapshots",
                format!("--snapshots {given} is not a number of snapshots"),
                format!("give 2 to {ALL}, or a directory"),
            )),
            Ok(_) if args.json.is_none() => Err(Error::parameter(
                "snapshots",
                "--snapshots with a number keeps snapshots in the report",
                "add --json FILE, or give a directory",
            )),
            Ok(count) => Ok(Snapshots { folder: None, most: count }),
            Err(_) => Ok(Snapshots { folder: Some(Folder::new(given)?), most: IN_A_DIRECTORY.max(of_path) }),
        }
    }

    /// The maps as a part of the report, with nothing for rows that were dropped; nothing at all if they go elsewhere or are not
    /// wanted.
    pub(crate) fn json(&self, args: &Embed, maps: &[Snapshot], kept: Option<&Kept>) -> Option<Value> {
        let wanted = args.snapshots.is_some() && self.folder.is_none();
        let rows = |points: &Points| (0..points.rows()).map(|i| points.row(i).to_vec()).collect::<Vec<_>>();
        let one = |map: &Snapshot| {
            let mut value = json!({"step": map.step, "objective": map.objective});
            value["lambda"] = json!(map.lambda);
            let rows = rows(&map.coordinates);
            value["coordinates"] = kept.map_or_else(|| json!(rows), |kept| json!(kept.among_all(&rows)));
            value
        };
        wanted.then(|| maps.iter().map(one).collect())
    }

    /// Stages them where the flags say.
    pub(crate) fn stage<'a>(
        &self,
        args: &Embed,
        maps: &'a [Snapshot],
        kept: Option<&'a Kept>,
        outputs: &mut Outputs<'a>,
    ) -> Result<()> {
        if let Some(folder) = &self.folder {
            for map in maps {
                let name = folder.place.join(format!("step-{:06}.csv", map.step));
                let spread = kept.map(|kept| kept.spread(&map.coordinates)).transpose()?;
                outputs
                    .stage(name, move |name| write_coordinates(name, spread.as_ref().unwrap_or(&map.coordinates)))?;
            }
        }
        match &args.path {
            Some(target) => outputs.stage(target, move |name| write_path(name, maps, kept)),
            None => Ok(()),
        }
    }
}

/// One row per point and map: the strength of the repulsion, the point as the input counts it, from 0, and its coordinates.
fn write_path(target: &Path, maps: &[Snapshot], kept: Option<&Kept>) -> Result<()> {
    let Some(first) = maps.first() else { return Ok(()) };
    let (n, dims) = (first.coordinates.rows(), first.coordinates.cols());
    let row = |map: &Snapshot, i: usize| {
        let mut row = vec![map.lambda.unwrap_or(f64::NAN), kept.map_or(i, |kept| kept.rows[i]) as f64];
        row.extend(map.coordinates.row(i));
        row
    };
    let values = maps.iter().flat_map(|map| (0..n).flat_map(move |i| row(map, i))).collect();
    let columns: Vec<String> =
        ["lambda", "point"].map(String::from).into_iter().chain(input::numbered("y", dims)).collect();
    io::write(target, &columns, &Points::new(maps.len() * n, 2 + dims, values)?, &[])
}

impl Folder {
    fn new(name: &str) -> Result<Folder> {
        let place = PathBuf::from(name);
        if !place.exists() {
            std::fs::create_dir(&place).map_err(|source| write_error(name, source))?;
            return Ok(Folder { place, made: true });
        }
        if !place.is_dir() {
            return Err(write_error(name, ErrorKind::NotADirectory.into()));
        }
        let empty = std::fs::read_dir(&place).map_err(|source| write_error(name, source))?.next().is_none();
        if empty {
            return Ok(Folder { place, made: false });
        }
        Err(Error::parameter("snapshots", format!("--snapshots {name} is not empty"), "give a new directory"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.made {
            // Only an empty one goes.
            let _ = std::fs::remove_dir(Path::new(&self.place));
        }
    }
}
