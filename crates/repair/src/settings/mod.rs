//! Target, thresholds, policies and limits of a repair.

mod error;
mod journal_tag;
mod policy;
mod run_settings;

pub use error::SettingsError;
pub use journal_tag::pointer;
pub(crate) use policy::{BREAKER_PERIOD, MAX_RECREATIONS};
pub use policy::{BudgetPolicy, Limits, VersionPolicy};
pub use run_settings::{PoolTarget, Settings};
