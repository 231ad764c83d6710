//! Status codes of gRPC.

use std::fmt;

/// A status other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrpcStatus {
    Unknown,
    Canceled,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    PermissionDenied,
    /// Too much, or too often.
    ResourceExhausted,
    Unimplemented,
    /// The service, or the connection to it, is broken.
    Internal,
    Unavailable,
    Unauthenticated,
    Other(u32),
}

impl GrpcStatus {
    /// The status of this number; `None` for success.
    pub(super) fn of_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => return None,
            1 => Self::Canceled,
            2 => Self::Unknown,
            3 => Self::InvalidArgument,
            4 => Self::DeadlineExceeded,
            5 => Self::NotFound,
            7 => Self::PermissionDenied,
            8 => Self::ResourceExhausted,
            12 => Self::Unimplemented,
            13 => Self::Internal,
            14 => Self::Unavailable,
            16 => Self::Unauthenticated,
            other => Self::Other(other),
        })
    }

    /// Maps the HTTP status of a response without a gRPC status.
    pub(super) fn of_http(status: &[u8]) -> Self {
        match status {
            b"400" => Self::Internal,
            b"401" => Self::Unauthenticated,
            b"403" => Self::PermissionDenied,
            b"404" => Self::Unimplemented,
            b"429" | b"502" | b"503" | b"504" => Self::Unavailable,
            _ => Self::Unknown,
        }
    }

    /// Maps an error code of HTTP/2.
    pub(super) fn of_reset(code: u32) -> Self {
        match code {
            3 | 11 => Self::ResourceExhausted,
            7 => Self::Unavailable,
            8 => Self::Canceled,
            12 => Self::PermissionDenied,
            _ => Self::Internal,
        }
    }
}

impl fmt::Display for GrpcStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(number) => write!(f, "Code({number})"),
            named => write!(f, "{named:?}"),
        }
    }
}
