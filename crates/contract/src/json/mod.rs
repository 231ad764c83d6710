//! A JSON reader and writer, small enough for the node agent.
//!
//! The reader pulls one value at a time, never recurses, and supports both dialects of the node's
//! files ([`Dialect`]). General libraries lack the exact acceptance rules of Go's protobuf parser,
//! errors with a position, and a startup time and size suited to a booting node.

mod dialect;
mod error;
mod number;
mod reader;
mod string;
mod writer;

pub use dialect::Dialect;
pub use error::{Error, Position, Problem};
pub use reader::{Elements, MAX_DEPTH, MemberName, Members, Reader, ValueKind};
pub use string::lossy;
pub use writer::{JsonLayout, Writer};

pub use mooring_redact::{Escape, escape_into};

pub(crate) use error::PositionCursor;
pub(crate) use mooring_redact::escaped_len;
pub(crate) use number::{read_double, read_int32};
