//! One unary call of gRPC over a dedicated connection, without a runtime.
//!
//! | file | idea |
//! |---|---|
//! | `call` | request and response |
//! | `frame` | frames of HTTP/2 |
//! | `hpack` | headers, static table and Huffman |
//! | `protobuf` | a field of a message |
//! | `status` | how a call ended |

mod call;
mod frame;
mod hpack;
mod protobuf;
mod status;

pub use call::{CallFailure, GrpcCall, MAX_MESSAGE, call};
pub use hpack::{Header, HpackError, decode as decode_headers};
pub use status::GrpcStatus;

#[cfg(test)]
mod tests;
