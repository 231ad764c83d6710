//! Who we are to Azure: which credentials are asked, in which order, and tokens kept until they are old.

mod cache;
mod chain;
mod choice;
mod error;

pub(crate) use cache::TokenCache;
pub use chain::Chain;
pub use choice::{Credential, Settings};
pub use error::IdentityError;
