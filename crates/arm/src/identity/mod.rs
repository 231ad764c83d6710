//! Who we are to Azure: which credentials are asked, in which order, and tokens kept until they are old.

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
