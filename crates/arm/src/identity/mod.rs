//! Authentication to Azure: selection and order of credentials, cached tokens.

mod cache;
mod chain;
mod credential;
mod error;
mod selection;

pub(crate) use cache::TokenCache;
pub use chain::Chain;
pub use credential::Credential;
pub use error::IdentityError;
pub use selection::Settings;
