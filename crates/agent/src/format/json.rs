//! JSON, member by member, with the rules of Go.

use mooring_contract::json::{Dialect, Error, MAX_DEPTH, Reader, ValueKind, Writer};

/// Returns a reader of one valid document. Go validates the whole text before it checks types.
pub(crate) fn checked(text: &[u8]) -> Result<Reader<'_>, Error> {
    let mut reader = Reader::new(text, Dialect::Go);
    reader.skip(MAX_DEPTH)?;
    reader.end()?;
    Ok(Reader::new(text, Dialect::Go))
}

/// Reads the members of a document that is one object.
pub(crate) fn object(
    text: &[u8],
    read: &mut dyn FnMut(&mut Reader<'_>, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = Reader::new(text, Dialect::Go);
    members(&mut reader, read)?;
    reader.end()
}

/// Reads the members of the object that comes next: `read` gets each name, and reads the value.
pub(crate) fn members(
    reader: &mut Reader<'_>,
    read: &mut dyn FnMut(&mut Reader<'_>, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut members = reader.object()?;
    while let Some(name) = members.next(reader)? {
        read(reader, &name.text)?;
    }
    Ok(())
}

/// Reads the members of the object that comes next; null has none.
pub(crate) fn members_or_null(
    reader: &mut Reader<'_>,
    read: &mut dyn FnMut(&mut Reader<'_>, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    if is_null(reader)? { Ok(()) } else { members(reader, read) }
}

/// Reads a string; null leaves the text as it is.
pub(crate) fn set_string(reader: &mut Reader<'_>, text: &mut String) -> Result<(), Error> {
    if !is_null(reader)? {
        *text = reader.string()?.into_owned();
    }
    Ok(())
}

/// Passes over a null, if that is what comes next.
pub(crate) fn is_null(reader: &mut Reader<'_>) -> Result<bool, Error> {
    let is_null = reader.peek()? == ValueKind::Null;
    if is_null {
        reader.null()?;
    }
    Ok(is_null)
}

/// Writes a member that is a string.
pub(crate) fn write_member(json: &mut Writer, name: &str, value: &str) {
    json.name(name);
    json.string(value);
}
