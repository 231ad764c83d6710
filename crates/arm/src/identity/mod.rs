//! Authentication to Azure: selection and order of credentials, tokens.

mod chain;
mod credential;
mod error;
mod selection;
mod token;

pub use chain::Chain;
pub use credential::Credential;
pub use error::IdentityError;
pub use selection::IdentitySettings;
pub use token::Token;
