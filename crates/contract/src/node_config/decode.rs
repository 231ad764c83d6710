//! Decoder of node configs: protobuf's JSON mapping, as the Go parser accepts it.

use std::borrow::Cow;

use super::error::{ParseError, UnknownName, Warning};
use super::path::{self, Segment};
use super::schema::Message;
use crate::json::{
    self, Dialect, Error, MAX_DEPTH, MemberName, Members, Position, PositionCursor, Problem,
    Reader, ValueKind,
};

/// Further warnings are only counted, so that a hostile document cannot fill the memory.
const MAX_WARNINGS: usize = 100;

/// A reader that tracks its path in the contract.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    input: &'a [u8],
    reader: Reader<'a>,
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
        let message = self.message()?;
        self.reader.end().map_err(|error| self.place(error))?;
        Ok((message, self.warnings, self.warnings_dropped))
    }

    pub(super) fn message<M: Message>(&mut self) -> Result<M, ParseError> {
        let mut message = M::default();
        // One bit a field; `field_numbers_fit_the_seen_mask` holds the numbers below 64.
        let mut seen = 0_u64;
        self.enclosing_messages += 1;
        let mut members = self.reader.object().map_err(|error| self.place(error))?;
        let mut place = 0;
        while let Some(name) = self.next_member(&mut members)? {
            place += 1;
            let number = M::number_of(&name.text);
            self.path.push(match number {
                Some(_) => Segment::Field(name.text),
                None => Segment::Unknown(name.text, place),
            });
            match number {
                None => self.skip_unknown(name.offset)?,
                Some(number) => {
                    let bit = 1_u64 << number;
                    if seen & bit != 0 {
                        return Err(self.place(Problem::Duplicate.at(name.offset)));
                    }
                    seen |= bit;
                    self.field(&mut message, number)?;
                }
            }
            self.path.pop();
        }
        self.enclosing_messages -= 1;
        Ok(message)
    }

    fn field<M: Message>(&mut self, message: &mut M, number: u32) -> Result<(), ParseError> {
        // `null` means "not set", for a field of any type.
        if self.peek()? == ValueKind::Null {
            self.reader.null().map_err(|error| self.place(error))
        } else {
            message.read_field(number, self)
        }
    }

    fn skip_unknown(&mut self, name_at: usize) -> Result<(), ParseError> {
        self.warn(UnknownName::Field, name_at);
        self.reader.skip(MAX_DEPTH - self.enclosing_messages).map_err(|error| self.place(error))
    }

    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        self.reader.string().map_err(|error| self.place(error))
    }

    pub(super) fn boolean(&mut self) -> Result<bool, ParseError> {
        self.reader.boolean().map_err(|error| self.place(error))
    }

    pub(super) fn int32(&mut self) -> Result<i32, ParseError> {
        const EXPECTED: &str = "a 32-bit integer";
        let at = self.reader.offset();
        let value = match self.peek()? {
            ValueKind::Number => self.reader.number().map(|token| json::read_int32(token).ok()),
            ValueKind::String => self
                .reader
                .string()
                .map(|text| quoted_number(&text, |token| json::read_int32(token).ok())),
            _ => Err(self.reader.wrong_type(EXPECTED)),
        };
        value
            .and_then(|value| value.ok_or(Problem::OutOfRange { expected: EXPECTED }.at(at)))
            .map_err(|error| self.place(error))
    }

    pub(super) fn double(&mut self) -> Result<f64, ParseError> {
        const EXPECTED: &str = "a 64-bit float";
        let at = self.reader.offset();
        let value = match self.peek()? {
            ValueKind::Number => self.reader.number().map(|token| json::read_double(token).ok()),
            ValueKind::String => self.reader.string().map(|text| match &*text {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                text => quoted_number(text, |token| json::read_double(token).ok()),
            }),
            _ => Err(self.reader.wrong_type(EXPECTED)),
        };
        value
            .and_then(|value| value.ok_or(Problem::OutOfRange { expected: EXPECTED }.at(at)))
            .map_err(|error| self.place(error))
    }

    /// Returns an enum's number, given or by name; `None` (and a warning) for an unknown name.
    pub(super) fn enum_number(
        &mut self,
        number_of: impl Fn(&str) -> Option<i32>,
    ) -> Result<Option<i32>, ParseError> {
        const EXPECTED: &str = "an enum's name or 32-bit number";
        let at = self.reader.offset();
        let value = match self.peek()? {
            ValueKind::String => {
                let number = number_of(&self.string()?);
                if number.is_none() {
                    self.warn(UnknownName::EnumName, at);
                }
                return Ok(number);
            }
            ValueKind::Number => self.reader.number().map(|token| json::read_int32(token).ok()),
            _ => Err(self.reader.wrong_type(EXPECTED)),
        };
        value
            .and_then(|value| value.ok_or(Problem::OutOfRange { expected: EXPECTED }.at(at)))
            .map(Some)
            .map_err(|error| self.place(error))
    }

    /// Calls `read` before each element of a list.
    pub(super) fn elements(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let mut elements = self.reader.array().map_err(|error| self.place(error))?;
        let mut index = 0;
        while elements.next(&mut self.reader).map_err(|error| self.place(error))? {
            self.path.push(Segment::Index(index));
            read(self)?;
            self.path.pop();
            index += 1;
        }
        Ok(())
    }

    /// Calls `read` before the value of each entry of a map; it returns false for a duplicate key.
    pub(super) fn entries(
        &mut self,
        mut read: impl FnMut(&mut Self, &str) -> Result<bool, ParseError>,
    ) -> Result<(), ParseError> {
        let mut members = self.reader.object().map_err(|error| self.place(error))?;
        let mut place = 0;
        while let Some(key) = self.next_member(&mut members)? {
            place += 1;
            self.path.push(Segment::Key(key.text.clone(), place));
            if !read(self, &key.text)? {
                return Err(self.place(Problem::Duplicate.at(key.offset)));
            }
            self.path.pop();
        }
        Ok(())
    }

    fn next_member(&mut self, members: &mut Members) -> Result<Option<MemberName<'a>>, ParseError> {
        members.next(&mut self.reader).map_err(|error| self.place(error))
    }

    fn peek(&self) -> Result<ValueKind, ParseError> {
        self.reader.peek().map_err(|error| self.place(error))
    }

    fn place(&self, error: Error) -> ParseError {
        ParseError {
            problem: error.problem,
            path: path::render(&self.path),
            position: Position::of(error.offset, self.input),
        }
    }

    fn warn(&mut self, what: UnknownName, offset: usize) {
        if self.warnings.len() == MAX_WARNINGS {
            self.warnings_dropped += 1;
            return;
        }
        let position = self.positions.advance(offset, self.input);
        self.warnings.push(Warning { what, path: path::render(&self.path), position });
    }
}

/// Parses a number inside a string as the Go parser does: no blanks around it, and only its first token
/// counts, so `"5%"` is 5.
fn quoted_number<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    if text.trim() != text {
        return None;
    }
    Reader::new(text.as_bytes(), Dialect::Protobuf).number().ok().and_then(read)
}
