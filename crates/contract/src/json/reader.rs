//! A pull reader that never recurses.

use std::borrow::Cow;

use super::number::{continues_token, token_len};
use super::{Dialect, Error, Problem, string};

/// Maximum nesting in either dialect.
pub const MAX_DEPTH: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    Number,
    String,
    /// `[…]`
    Array,
    /// `{…}`
    Object,
}

impl ValueKind {
    /// Returns the name with its article, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Reads a document front to back.
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    /// The input, if it is UTF-8: checked once, and not for every string.
    text: Option<&'a str>,
    at: usize,
    dialect: Dialect,
}

impl<'a> Reader<'a> {
    pub fn new(input: &'a [u8], dialect: Dialect) -> Self {
        let text = std::str::from_utf8(input).ok();
        let mut reader = Self { input, text, at: 0, dialect };
        reader.skip_white_space();
        reader
    }

    /// Returns the byte offset of the next token.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the kind of the next value without consuming it.
    pub fn peek(&self) -> Result<ValueKind, Error> {
        match self.input.get(self.at) {
            None => Err(Problem::UnexpectedEnd.at(self.at)),
            Some(b'n') => Ok(ValueKind::Null),
            Some(b't' | b'f') => Ok(ValueKind::Bool),
            Some(b'-' | b'0'..=b'9') => Ok(ValueKind::Number),
            Some(b'"') => Ok(ValueKind::String),
            Some(b'[') => Ok(ValueKind::Array),
            Some(b'{') => Ok(ValueKind::Object),
            Some(_) => Err(self.expected("a value")),
        }
    }

    pub fn null(&mut self) -> Result<(), Error> {
        self.require(ValueKind::Null)?;
        self.literal("null")
    }

    pub fn boolean(&mut self) -> Result<bool, Error> {
        self.require(ValueKind::Bool)?;
        let value = self.input[self.at] == b't';
        self.literal(if value { "true" } else { "false" })?;
        Ok(value)
    }

    /// Reads a number and returns its text.
    pub fn number(&mut self) -> Result<&'a str, Error> {
        self.require(ValueKind::Number)?;
        let rest = &self.input[self.at..];
        let len = token_len(rest, self.dialect).ok_or_else(|| self.expected("a number"))?;
        let text = std::str::from_utf8(&rest[..len]).map_err(|_| self.expected("a number"))?;
        self.advance(len);
        Ok(text)
    }

    pub fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        self.require(ValueKind::String)?;
        let (text, behind) = string::read(self.input, self.text, self.at, self.dialect)?;
        self.advance(behind - self.at);
        Ok(text)
    }

    /// Enters an object; the result iterates over its members.
    pub fn object(&mut self) -> Result<Members, Error> {
        self.require(ValueKind::Object)?;
        self.advance(1);
        Ok(Members { first: true })
    }

    /// Enters an array; the result iterates over its elements.
    pub fn array(&mut self) -> Result<Elements, Error> {
        self.require(ValueKind::Array)?;
        self.advance(1);
        Ok(Elements { first: true })
    }

    /// Skips a string. One that is not UTF-8 is an error in one dialect, and never in the other.
    fn skip_string(&mut self) -> Result<(), Error> {
        if self.text.is_none() && self.dialect == Dialect::Protobuf {
            return self.string().map(drop);
        }
        let behind = string::skip(self.input, self.at, self.dialect)?;
        self.advance(behind - self.at);
        Ok(())
    }

    /// Skips one value of any kind, at most `max_depth` levels deep.
    pub fn skip(&mut self, max_depth: usize) -> Result<(), Error> {
        let mut open: Vec<Container> = Vec::new();
        loop {
            match self.peek()? {
                ValueKind::Null => self.null()?,
                ValueKind::Bool => drop(self.boolean()?),
                ValueKind::Number => drop(self.number()?),
                ValueKind::String => self.skip_string()?,
                ValueKind::Array | ValueKind::Object if open.len() == max_depth => {
                    return Err(Problem::TooDeep.at(self.at));
                }
                ValueKind::Array => open.push(Container::Array(self.array()?)),
                ValueKind::Object => open.push(Container::Object(self.object()?)),
            }
            // Leave all containers that end here; stop before the next value.
            loop {
                let more = match open.last_mut() {
                    None => return Ok(()),
                    Some(Container::Array(elements)) => elements.next(self)?,
                    Some(Container::Object(members)) => members.skip_name(self)?,
                };
                if more {
                    break;
                }
                open.pop();
            }
        }
    }

    /// Returns an error unless only white space follows.
    pub fn end(&self) -> Result<(), Error> {
        if self.at == self.input.len() { Ok(()) } else { Err(self.expected("the end of the text")) }
    }

    /// Returns the error for a value of the wrong kind at the current offset.
    pub fn wrong_type(&self, expected: &'static str) -> Error {
        match self.peek() {
            Ok(kind) => Problem::WrongType { expected, found: kind.describe() }.at(self.at),
            Err(error) => error,
        }
    }

    fn require(&self, kind: ValueKind) -> Result<(), Error> {
        if self.peek()? == kind { Ok(()) } else { Err(self.wrong_type(kind.describe())) }
    }

    fn literal(&mut self, word: &'static str) -> Result<(), Error> {
        let rest = &self.input[self.at..];
        let ends = rest.get(word.len()).is_none_or(|&next| !continues_token(next));
        if !rest.starts_with(word.as_bytes()) || !ends {
            return Err(self.expected("a value"));
        }
        self.advance(word.len());
        Ok(())
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.input.get(self.at) == Some(&byte);
        if there {
            self.advance(1);
        }
        there
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.skip_white_space();
    }

    fn skip_white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.input.get(self.at) {
            self.at += 1;
            // Indentation.
            while self.input.get(self.at..self.at + 8) == Some(b"        ") {
                self.at += 8;
            }
        }
    }

    fn expected(&self, what: &'static str) -> Error {
        if self.at == self.input.len() {
            Problem::UnexpectedEnd.at(self.at)
        } else {
            Problem::Syntax(what).at(self.at)
        }
    }
}

enum Container {
    Array(Elements),
    Object(Members),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberName<'a> {
    pub offset: usize,
    pub text: Cow<'a, str>,
}

/// Iteration state inside an object.
#[derive(Debug)]
pub struct Members {
    first: bool,
}

impl Members {
    /// Returns the name of the next member, with the reader before its value; `None` at the end.
    pub fn next<'a>(&mut self, reader: &mut Reader<'a>) -> Result<Option<MemberName<'a>>, Error> {
        if !self.has_next(reader)? {
            return Ok(None);
        }
        let name = MemberName { offset: reader.at, text: reader.string()? };
        if reader.eat(b':') { Ok(Some(name)) } else { Err(reader.expected("`:`")) }
    }

    /// Like [`Self::next`], for a name that is not needed; false at the end.
    fn skip_name(&mut self, reader: &mut Reader<'_>) -> Result<bool, Error> {
        if !self.has_next(reader)? {
            return Ok(false);
        }
        reader.skip_string()?;
        if reader.eat(b':') { Ok(true) } else { Err(reader.expected("`:`")) }
    }

    /// Stops before the quote of the next name.
    fn has_next(&mut self, reader: &mut Reader<'_>) -> Result<bool, Error> {
        let first = std::mem::take(&mut self.first);
        if reader.eat(b'}') {
            return Ok(false);
        }
        if !first && !reader.eat(b',') {
            return Err(reader.expected("`,` or `}`"));
        }
        if reader.input.get(reader.at) != Some(&b'"') {
            return Err(reader.expected("a member's name in quotes"));
        }
        Ok(true)
    }
}

/// Iteration state inside an array.
#[derive(Debug)]
pub struct Elements {
    first: bool,
}

impl Elements {
    /// Returns true with the reader before the next element; false at the end.
    pub fn next(&mut self, reader: &mut Reader<'_>) -> Result<bool, Error> {
        let first = std::mem::take(&mut self.first);
        if reader.eat(b']') {
            Ok(false)
        } else if first || reader.eat(b',') {
            // `[1,]` fails when the element is read: `]` begins no value.
            Ok(true)
        } else {
            Err(reader.expected("`,` or `]`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(text: &str) -> Result<(), Problem> {
        let mut reader = Reader::new(text.as_bytes(), Dialect::Protobuf);
        reader.skip(MAX_DEPTH).and_then(|()| reader.end()).map_err(|e| e.problem)
    }

    #[test]
    fn good_json_passes() {
        for text in [
            "null",
            " true ",
            "[]",
            "{}",
            "[1,2,[3,{\"a\":[]}]]",
            "{\"a\":{\"b\":null},\"a\":1}",
            "\t\r\n1e5",
        ] {
            assert_eq!(skip(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn bad_json_does_not() {
        for text in [
            "",
            "[1,]",
            "{\"a\":1,}",
            "{,}",
            "[,]",
            "{a:1}",
            "{\"a\" 1}",
            "{\"a\":}",
            "[1 2]",
            "truex",
            "nul",
            "[}",
            "{]",
            "1 1",
            "\u{feff}1",
            "// c\n1",
            "[\"\u{1}\"]",
            "'a'",
            "{\"a\":1 \"b\":2}",
            "NaN",
        ] {
            assert!(skip(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_has_a_limit_and_needs_no_stack() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(skip(&nested(MAX_DEPTH)), Ok(()));
        assert_eq!(skip(&nested(MAX_DEPTH + 1)), Err(Problem::TooDeep));
        assert_eq!(skip(&"[".repeat(1_000_000)), Err(Problem::TooDeep));
    }
}
