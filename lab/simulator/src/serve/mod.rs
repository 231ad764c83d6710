//! TLS servers of models.

mod authority;
mod connection;
mod host;
mod listener;

pub use authority::{AuthorityError, CertificateAuthority};
pub use connection::Service;
pub use host::HostCheck;
pub use listener::{listen, serve};
