//! Causes, wordings and phrases of `data/*.toml`, compiled by the build script.

use mooring_codes::{Os, Owner};

use super::{About, Cause, Tier, Wording};
use crate::diagnosis::Confidence;
use crate::stage::Stage;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));
