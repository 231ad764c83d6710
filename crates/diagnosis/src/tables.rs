//! Causes, rules, clues and wordings of `data/`, compiled by the build script.

use mooring_codes::{Date, Os, Owner};

use crate::causes::Cause;
use crate::decoded::{Outcome, Situation};
use crate::diagnosis::Confidence;
use crate::rules::Rule;
use crate::stage::Stage;
use crate::wordings::{About, Tier, Wording};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

const fn day(year: u16, month: u8, day: u8) -> Date {
    match Date::new(year, month, day) {
        Some(date) => date,
        None => self::day(1, 1, 1),
    }
}
