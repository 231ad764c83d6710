//! Target, thresholds, policies and limits of a repair.

mod error;
mod policy;
mod run_settings;

pub use error::SettingsError;
pub(crate) use policy::{BREAKER_PERIOD, MAX_RECREATIONS};
pub use policy::{BudgetPolicy, Limits, SignPolicy, VersionPolicy};
pub use run_settings::{PoolTarget, Settings};
