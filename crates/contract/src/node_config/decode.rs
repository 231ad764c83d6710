//! Decoder of node configs: protobuf's JSON mapping, as the Go parser accepts it.

use std::collections::BTreeMap;

use crate::json::{
    self, Dialect, Error, MAX_DEPTH, MemberName, Position, PositionCursor, Problem, Reader,
    ValueKind,
};
use crate::node_config::error::{self, ParseError, Segment, UnknownName, Warning};
use crate::node_config::schema::Message;

/// Further warnings are only counted, so that a hostile document cannot fill the memory.
const MAX_WARNINGS: usize = 100;

/// A reader that tracks its path in the contract.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    input: &'a [u8],
    pub(super) reader: Reader<'a>,
    path: Vec<Segment<'a>>,
    enclosing_messages: usize,
    warnings: Vec<Warning>,
    warnings_dropped: usize,
    /// Warnings come in the document's order, so its lines are counted only once.
    positions: PositionCursor,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self {
            input,
            reader: Reader::new(input, Dialect::Protobuf),
            path: Vec::new(),
            enclosing_messages: 0,
            warnings: Vec::new(),
            warnings_dropped: 0,
            positions: PositionCursor::default(),
        }
    }

    /// Reads the whole document as one message.
    pub(super) fn document<M: Message>(mut self) -> Result<(M, Vec<Warning>, usize), ParseError> {
        let read = self.message().and_then(|message| self.reader.end().map(|()| message));
        // The path ends where the error was found.
        let message = read.map_err(|error| ParseError {
            problem: error.problem,
            path: error::render(&self.path),
            position: Position::of(error.offset, self.input),
        })?;
        Ok((message, self.warnings, self.warnings_dropped))
    }

    pub(super) fn message<M: Message>(&mut self) -> Result<M, Error> {
        let mut message = M::default();
        // One bit a field; `field_numbers_fit_the_seen_mask` holds the numbers below 64.
        let mut seen = 0_u64;
        self.enclosing_messages += 1;
        let mut members = self.reader.object()?;
        let mut place = 0;
        while let Some(name) = members.next(&mut self.reader)? {
            place += 1;
            let number = M::number_of(&name.text);
            self.path.push(match number {
                Some(_) => Segment::Field(name.text),
                None => Segment::Unknown(name.text, place),
            });
            match number {
                None => {
                    self.warn(UnknownName::Field, name.offset);
                    self.reader.skip(MAX_DEPTH - self.enclosing_messages)?;
                }
                Some(number) => {
                    let bit = 1_u64 << number;
                    if seen & bit != 0 {
                        return Err(Problem::Duplicate.at(name.offset));
                    }
                    seen |= bit;
                    // `null` means "not set", for a field of any type.
                    if self.reader.peek()? == ValueKind::Null {
                        self.reader.null()?;
                    } else {
                        message.read_field(number, self)?;
                    }
                }
            }
            self.path.pop();
        }
        self.enclosing_messages -= 1;
        Ok(message)
    }

    pub(super) fn int32(&mut self) -> Result<i32, Error> {
        const EXPECTED: &str = "a 32-bit integer";
        let at = self.reader.offset();
        let value = match self.reader.peek()? {
            ValueKind::Number => json::read_int32(self.reader.number()?).ok(),
            ValueKind::String => quoted_number(&self.reader.string()?, json::read_int32),
            _ => return Err(self.reader.wrong_type(EXPECTED)),
        };
        value.ok_or(Problem::OutOfRange { expected: EXPECTED }.at(at))
    }

    pub(super) fn double(&mut self) -> Result<f64, Error> {
        const EXPECTED: &str = "a 64-bit float";
        let at = self.reader.offset();
        let value = match self.reader.peek()? {
            ValueKind::Number => json::read_double(self.reader.number()?).ok(),
            ValueKind::String => match &*self.reader.string()? {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                text => quoted_number(text, json::read_double),
            },
            _ => return Err(self.reader.wrong_type(EXPECTED)),
        };
        value.ok_or(Problem::OutOfRange { expected: EXPECTED }.at(at))
    }

    /// Returns an enum's number, given or by name; `None` (and a warning) for an unknown name.
    pub(super) fn enum_number(&mut self, values: &[(i32, &str)]) -> Result<Option<i32>, Error> {
        const EXPECTED: &str = "an enum's name or 32-bit number";
        let at = self.reader.offset();
        match self.reader.peek()? {
            ValueKind::String => {
                let name = self.reader.string()?;
                let number = values.iter().find(|value| value.1 == name).map(|value| value.0);
                if number.is_none() {
                    self.warn(UnknownName::EnumName, at);
                }
                Ok(number)
            }
            ValueKind::Number => match json::read_int32(self.reader.number()?) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(Problem::OutOfRange { expected: EXPECTED }.at(at)),
            },
            _ => Err(self.reader.wrong_type(EXPECTED)),
        }
    }

    /// Calls `read` before each element of a list.
    pub(super) fn elements(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut elements = self.reader.array()?;
        let mut index = 0;
        while elements.next(&mut self.reader)? {
            self.path.push(Segment::Index(index));
            read(self)?;
            self.path.pop();
            index += 1;
        }
        Ok(())
    }

    /// Reads a map; `read` reads a value. Sorted once at its end, which also shows the first key that occurs again:
    /// a key whose value was kept. A search for each key takes 45 % more instructions of a whole dry run with 64 KB.
    pub(super) fn map<T>(
        &mut self,
        read: impl Fn(&mut Self) -> Result<Option<T>, Error>,
    ) -> Result<BTreeMap<String, T>, Error> {
        let depth = self.path.len();
        let mut entries: Vec<(MemberName<'a>, Option<T>)> = Vec::new();
        let ended = self.entries(&mut entries, read);
        entries.sort_by(|one, other| one.0.text.cmp(&other.0.text));
        let again = entries.chunk_by(|one, other| one.0.text == other.0.text).filter_map(|same| {
            let kept = same.iter().position(|(_, value)| value.is_some())?;
            same.get(kept + 1).map(|(key, _)| key)
        });
        if let Some(key) = again.min_by_key(|key| key.offset) {
            let place = entries.iter().filter(|entry| entry.0.offset <= key.offset).count();
            self.path.truncate(depth);
            self.path.push(Segment::Key(key.text.clone(), place));
            return Err(Problem::Duplicate.at(key.offset));
        }
        ended?;
        let kept = entries.into_iter().filter_map(|(key, value)| Some((key.text, value?)));
        Ok(kept.map(|(key, value)| (key.into_owned(), value)).collect())
    }

    fn entries<T>(
        &mut self,
        entries: &mut Vec<(MemberName<'a>, Option<T>)>,
        read: impl Fn(&mut Self) -> Result<Option<T>, Error>,
    ) -> Result<(), Error> {
        let mut members = self.reader.object()?;
        while let Some(key) = members.next(&mut self.reader)? {
            self.path.push(Segment::Key(key.text.clone(), entries.len() + 1));
            entries.push((key, None));
            let value = read(self)?;
            if let Some(entry) = entries.last_mut() {
                entry.1 = value;
            }
            self.path.pop();
        }
        Ok(())
    }

    fn warn(&mut self, what: UnknownName, offset: usize) {
        if self.warnings.len() == MAX_WARNINGS {
            self.warnings_dropped += 1;
            return;
        }
        let position = self.positions.advance(offset, self.input);
        self.warnings.push(Warning { what, path: error::render(&self.path), position });
    }
}

/// Parses a number inside a string as the Go parser does: no blanks around it, and only its first token
/// counts, so `"5%"` is 5.
fn quoted_number<T, E>(text: &str, read: impl Fn(&str) -> Result<T, E>) -> Option<T> {
    if text.trim() != text {
        return None;
    }
    Reader::new(text.as_bytes(), Dialect::Protobuf).number().ok().and_then(|token| read(token).ok())
}
