//! TLS servers of models.

mod authority;
mod connection;
mod host;
mod listener;
mod service;

pub use authority::{AuthorityError, CertificateAuthority};
pub use host::HostCheck;
pub use listener::{listen, serve};
pub use service::Service;
