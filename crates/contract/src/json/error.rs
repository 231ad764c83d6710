//! Errors in a document, with their position.

use std::fmt;

/// An error at a byte offset. It never quotes the document: a value may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (byte {offset})")]
pub struct Error {
    /// Byte offset in the document.
    pub offset: usize,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not JSON; names the expected token.
    #[error("malformed JSON: expected {0}")]
    Syntax(&'static str),
    /// The document ends inside a value.
    #[error("malformed JSON: unexpected end of text")]
    UnexpectedEnd,
    /// Text in a string is not UTF-8.
    #[error("malformed JSON: the text is not UTF-8")]
    NotUtf8,
    /// Valid JSON of the wrong type.
    #[error("expected {expected}, found {found}")]
    WrongType { expected: &'static str, found: &'static str },
    /// Not a number, or one that the field's type cannot hold.
    #[error("expected {expected}; this value is not one")]
    OutOfRange { expected: &'static str },
    /// A field (by either of its names) or map key that occurs twice.
    #[error("duplicate field")]
    Duplicate,
    /// More nested than any reader of this contract accepts.
    #[error("nested too deeply")]
    TooDeep,
    #[error("{bytes} bytes exceed the limit of {limit}")]
    TooLarge { bytes: usize, limit: usize },
}

impl Problem {
    /// Returns a stable identifier for labels and conditions.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Syntax(_) | Self::UnexpectedEnd | Self::NotUtf8 => "MalformedJson",
            Self::WrongType { .. } => "WrongType",
            Self::OutOfRange { .. } => "OutOfRange",
            Self::Duplicate => "DuplicateField",
            Self::TooDeep => "TooDeep",
            Self::TooLarge { .. } => "TooLarge",
        }
    }

    pub fn at(self, offset: usize) -> Error {
        Error { offset, problem: self }
    }
}

/// Line and column, as editors count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Starts at 1.
    pub line: usize,
    /// In characters; starts at 1.
    pub column: usize,
}

impl Position {
    /// Returns the position of a byte offset in a text; an offset beyond the end counts as the end.
    pub fn of(offset: usize, text: &[u8]) -> Self {
        PositionCursor::default().advance(offset, text)
    }
}

/// Finds the positions of ascending offsets in one pass over a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PositionCursor {
    offset: usize,
    position: Position,
}

impl Default for PositionCursor {
    fn default() -> Self {
        Self { offset: 0, position: Position { line: 1, column: 1 } }
    }
}

impl PositionCursor {
    /// Returns the position of `offset`, which must not be smaller than in the last call.
    pub(crate) fn advance(&mut self, offset: usize, text: &[u8]) -> Position {
        for &byte in text.get(self.offset..offset.min(text.len())).unwrap_or_default() {
            if byte == b'\n' {
                self.position = Position { line: self.position.line + 1, column: 1 };
            } else if byte & 0xC0 != 0x80 {
                // Not a continuation byte: a character begins here.
                self.position.column += 1;
            }
        }
        self.offset = offset.max(self.offset);
        self.position
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_lines_and_characters() {
        let text = "a@é\n\nb".as_bytes();
        for (offset, line, column) in [
            (0, 1, 1),
            (1, 1, 2),
            (2, 1, 3),
            (4, 1, 4),
            (5, 2, 1),
            (6, 3, 1),
            (7, 3, 2),
            (100, 3, 2),
        ] {
            assert_eq!(Position::of(offset, text), Position { line, column }, "{offset}");
        }
    }

    #[test]
    fn error_names_its_problem_and_offset() {
        let error = Problem::WrongType { expected: "a string", found: "null" }.at(7);
        assert_eq!(error.to_string(), "expected a string, found null (byte 7)");
    }
}
