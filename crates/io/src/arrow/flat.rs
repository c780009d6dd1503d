//! FlatBuffers, as far as the metadata of Arrow needs them. Every offset is checked before it is followed.
//!
//! ```text
//! table:   i32 back to its vtable, then its fields
//! vtable:  u16 own size, u16 size of the table, u16 per field: where it is in the table, 0 if it is not there
//! vector:  u32 count, then its items; items that are tables or texts are u32 offsets from their own place
//! ```
//!
//! FlatBuffers, "Internals".

/// What is wrong, in words.
pub(super) type Result<T> = std::result::Result<T, String>;

fn wrong<T>() -> Result<T> {
    Err("its metadata leads out of the file".into())
}

/// So many bytes from a place.
fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    match at.checked_add(N).and_then(|end| bytes.get(at..end)) {
        Some(found) => found.try_into().or_else(|_| wrong()),
        None => wrong(),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Result<usize> {
    bytes_at(bytes, at).map(|four| u32::from_le_bytes(four) as usize)
}

/// A table in the bytes of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    vtable: usize,
    fields: usize,
}

impl<'a> Table<'a> {
    /// The table that a buffer is about.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Table<'a>> {
        Table::new(bytes, u32_at(bytes, 0)?)
    }

    fn new(bytes: &'a [u8], at: usize) -> Result<Table<'a>> {
        let back = i64::from(i32::from_le_bytes(bytes_at(bytes, at)?));
        let Ok(vtable) = usize::try_from(at as i64 - back) else { return wrong() };
        let size = usize::from(u16::from_le_bytes(bytes_at(bytes, vtable)?));
        if size < 4 || vtable + size > bytes.len() {
            return wrong();
        }
        Ok(Table { bytes, at, vtable, fields: (size - 4) / 2 })
    }

    /// Where a field is; nothing if it has its default.
    fn place(&self, field: usize) -> Result<Option<usize>> {
        if field >= self.fields {
            return Ok(None);
        }
        let offset = u16::from_le_bytes(bytes_at(self.bytes, self.vtable + 4 + 2 * field)?);
        Ok((offset > 0).then_some(self.at + usize::from(offset)))
    }

    fn number<const N: usize, T>(&self, field: usize, default: T, from: fn([u8; N]) -> T) -> Result<T> {
        match self.place(field)? {
            Some(at) => bytes_at(self.bytes, at).map(from),
            None => Ok(default),
        }
    }

    pub(super) fn u8(&self, field: usize) -> Result<u8> {
        self.number(field, 0, u8::from_le_bytes)
    }

    pub(super) fn i16(&self, field: usize) -> Result<i16> {
        self.number(field, 0, i16::from_le_bytes)
    }

    pub(super) fn i32(&self, field: usize) -> Result<i32> {
        self.number(field, 0, i32::from_le_bytes)
    }

    /// A field whose default is another number than 0.
    pub(super) fn number_or(&self, field: usize, default: i32) -> Result<i32> {
        self.number(field, default, i32::from_le_bytes)
    }

    pub(super) fn i64(&self, field: usize) -> Result<i64> {
        self.number(field, 0, i64::from_le_bytes)
    }

    /// What a field points at.
    fn target(&self, field: usize) -> Result<Option<usize>> {
        match self.place(field)? {
            Some(at) => Ok(Some(at + u32_at(self.bytes, at)?)),
            None => Ok(None),
        }
    }

    /// A field that is a table.
    pub(super) fn table(&self, field: usize) -> Result<Option<Table<'a>>> {
        self.target(field)?.map(|at| Table::new(self.bytes, at)).transpose()
    }

    /// A field that is a text; empty if it is not there.
    pub(super) fn text(&self, field: usize) -> Result<String> {
        Ok(String::from_utf8_lossy(self.items(field, 1)?).into_owned())
    }

    /// A field that is a vector of plain items of so many bytes; empty if it is not there.
    pub(super) fn items(&self, field: usize, size: usize) -> Result<&'a [u8]> {
        let Some(at) = self.target(field)? else { return Ok(&[]) };
        let length = u32_at(self.bytes, at)?.checked_mul(size);
        match length.and_then(|length| self.bytes[at + 4..].get(..length)) {
            Some(items) => Ok(items),
            None => wrong(),
        }
    }

    /// A field that is a vector of tables; empty if it is not there.
    pub(super) fn tables(&self, field: usize) -> Result<Vec<Table<'a>>> {
        let Some(at) = self.target(field)? else { return Ok(Vec::new()) };
        let count = self.items(field, 4)?.len() / 4;
        let one = |i: usize| Table::new(self.bytes, at + 4 + 4 * i + u32_at(self.bytes, at + 4 + 4 * i)?);
        (0..count).map(one).collect()
    }
}
