//! Authentication to Azure: selection and order of credentials, tokens.

mod certificate;
mod chain;
mod credential;
mod error;
mod selection;

pub use chain::Chain;
pub use credential::{Credential, Token};
pub use error::IdentityError;
pub use selection::IdentitySettings;
