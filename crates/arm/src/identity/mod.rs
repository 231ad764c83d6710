//! Authentication to Azure: selection and order of credentials, tokens.

mod certificate;
mod chain;
mod selection;

pub use chain::Chain;
pub use selection::IdentityError;
pub use selection::IdentitySettings;
pub use selection::{Credential, Token};
