//! The numbers of a page: arrays one after the other in one block of bytes, and where each of them is.
//!
//! Every array starts at a multiple of eight bytes, little endian. The page has the block compressed (gzip) and as text (base64).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use eigenfold::{Error, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;

/// The arrays so far.
#[derive(Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
}

impl Block {
    /// Adds an array of these bytes and returns its reference.
    fn add(&mut self, kind: &str, shape: &[usize], bytes: impl Iterator<Item = u8>) -> Value {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.bytes.len();
        self.bytes.extend(bytes);
        json!({"at": at, "type": kind, "shape": shape})
    }

    pub(crate) fn f64(&mut self, shape: &[usize], values: impl IntoIterator<Item = f64>) -> Value {
        self.add("f64", shape, values.into_iter().flat_map(f64::to_le_bytes))
    }

    /// Numbers to about seven digits.
    pub(crate) fn f32(&mut self, shape: &[usize], values: impl IntoIterator<Item = f64>) -> Value {
        self.add("f32", shape, values.into_iter().flat_map(|value| (value as f32).to_le_bytes()))
    }

    pub(crate) fn u32(&mut self, shape: &[usize], values: impl IntoIterator<Item = u32>) -> Value {
        self.add("u32", shape, values.into_iter().flat_map(u32::to_le_bytes))
    }

    pub(crate) fn u16(&mut self, shape: &[usize], values: impl IntoIterator<Item = u16>) -> Value {
        self.add("u16", shape, values.into_iter().flat_map(u16::to_le_bytes))
    }

    pub(crate) fn u8(&mut self, shape: &[usize], values: impl IntoIterator<Item = u8>) -> Value {
        self.add("u8", shape, values.into_iter())
    }

    /// Numbers in as few bytes as hold them: whole numbers from 0 to 255 in one, others in four.
    pub(crate) fn smallest(&mut self, shape: &[usize], values: &[f64]) -> Value {
        let small = |value: &f64| (0.0..=255.0).contains(value) && value.fract() == 0.0;
        match values.iter().all(small) {
            true => self.u8(shape, values.iter().map(|&value| value as u8)),
            false => self.f32(shape, values.iter().copied()),
        }
    }

    /// The block as text.
    pub(crate) fn text(&self) -> Result<String> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::new(6));
        let packed = packer.write_all(&self.bytes).and_then(|()| packer.finish());
        packed
            .map(|bytes| STANDARD.encode(bytes))
            .map_err(|error| Error::numerical(format!("compression failed: {error}"), ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn arrays_come_back_from_where_they_are_said_to_be() {
        let mut block = Block::default();
        let small = block.smallest(&[3], &[0.0, 7.0, 255.0]);
        let large = block.f64(&[2], [0.1, -3.5]);
        assert_eq!((&small["type"], &small["at"]), (&json!("u8"), &json!(0)));
        assert_eq!((&large["type"], &large["at"], &large["shape"]), (&json!("f64"), &json!(8), &json!([2])));
        assert_eq!(block.smallest(&[1], &[-1.0])["type"], json!("f32"));
        let packed = STANDARD.decode(block.text().unwrap()).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes[..3], [0, 7, 255]);
        assert_eq!(f64::from_le_bytes(bytes[16..24].try_into().unwrap()), -3.5);
    }
}
