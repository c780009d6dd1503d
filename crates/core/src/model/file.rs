//! Saved models: one versioned file, without any n x n matrix.
//!
//! ```text
//! offset  bytes  content
//! 0       10     "EIGENFOLD" and a zero byte
//! 10      4      format version, little-endian
//! 14      8      length of the body in bytes, little-endian
//! 22      8      FNV-1a hash of the body, little-endian
//! 30      ...    the body: the model in the postcard encoding (variable-length integers, little-endian IEEE doubles)
//! ```
//!
//! The body holds the recipe, the report, the training points, their coordinates, and per component the rule that places
//! new points (for Isomap that includes the neighbor lists, from which geodesics are computed again), and then how
//! columns were prepared. A file of a format version that is not known is refused by name.

use crate::fit::Frame;
use crate::model::Model;
use crate::preparation::{Preparation, Prepared, Whitening};
use eigenfold_io::schema::Schema;
use eigenfold_io::{write_bytes_atomically, write_error};
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

const MAGIC: &[u8; 10] = b"EIGENFOLD\0";
const VERSION: u32 = 17;
const HEADER: usize = 30;

/// What a body has after the model.
#[derive(Serialize, Deserialize)]
struct End {
    preparation: Preparation,
    prepared: Option<Prepared>,
    schema: Option<Schema>,
    whitening: Option<Whitening>,
}

impl Model {
    /// The model as the bytes of a file.
    ///
    /// # Errors
    ///
    /// If there is no memory for them, or if they could not be read again: what is written has passed the checks of the reader.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        if self.recipe.method.is_own() {
            let fact =
                format!("{} is not a method of this library, and its models cannot be read again", self.report.method);
            return Err(Error::inapplicable("save", fact, "leave out `save`"));
        }
        if !self.is_consistent() {
            let fact = "the model has numbers beyond what can be computed with, and could not be read again";
            return Err(Error::data(fact, "bring the data to a scale nearer to 1, or leave out `save`"));
        }
        let failed = |error| Error::numerical(format!("the model could not be encoded ({error})"), "");
        let end = End {
            preparation: self.recipe.preparation.clone(),
            prepared: self.frame.prepared.clone(),
            schema: self.schema.clone(),
            whitening: self.frame.whitening.clone(),
        };
        let body = postcard::to_extend(self, Vec::new()).map_err(failed)?;
        let body = postcard::to_extend(&end, body).map_err(failed)?;
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&hash(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    /// A model from the bytes of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Data`] if they are not a model, of another version, cut short, or damaged; the fact is about a file whose name
    /// stands before it ([`Error::in_file`]).
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        if !bytes.starts_with(MAGIC) {
            return Err(Error::data("is not an eigenfold model", "models are written by embed `save`"));
        }
        let number = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
        let version = bytes.get(10..14).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
        let cut = || Error::data("is cut short", "copy or save the model again");
        let (version, length, sum) =
            (version.ok_or_else(cut)?, number(14).ok_or_else(cut)?, number(22).ok_or_else(cut)?);
        if version != VERSION {
            return Err(Error::data(
                format!("has model format {version} and this program reads format {VERSION}"),
                "fit the model again or use the program that wrote it",
            ));
        }
        let body = &bytes[HEADER..];
        if (body.len() as u64) < length {
            return Err(cut());
        }
        if body.len() as u64 != length || hash(body) != sum {
            return Err(Error::data("is damaged (its checksum does not match)", "copy or save the model again"));
        }
        let damaged = || Error::data("is damaged", "save the model again");
        let (mut model, rest): (Model, &[u8]) = postcard::take_from_bytes(body).map_err(|_| damaged())?;
        let (end, rest) = postcard::take_from_bytes::<End>(rest).map_err(|_| damaged())?;
        (model.recipe.preparation, model.schema) = (end.preparation, end.schema);
        model.frame = Frame { prepared: end.prepared, whitening: end.whitening };
        let sound = rest.is_empty() && model.is_consistent();
        if sound { Ok(model) } else { Err(damaged()) }
    }

    /// Writes the model to a file, atomically.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let (path, bytes) = (path.as_ref(), self.to_bytes()?);
        write_bytes_atomically(path, |out| out.write_all(&bytes).map_err(|source| write_error(path, source)))
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a sound model of this version.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let file = eigenfold_io::open(path)?;
        let length = file.metadata().map_err(|source| Error::Io { path: path.into(), source })?.len();
        let bytes = eigenfold_io::contents(path, file, length, None)?;
        Model::from_bytes(&bytes).map_err(|error| error.in_file(path))
    }
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
