//! Who we are to Azure: which credentials are asked, in which order, and tokens kept until they are old.

mod cache;
mod chain;
mod choice;
mod credential;
mod error;

pub(crate) use cache::TokenCache;
pub use chain::Chain;
pub use choice::Settings;
pub use credential::Credential;
pub use error::IdentityError;
