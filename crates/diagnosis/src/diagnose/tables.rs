//! Causes, rules and wordings of `data/`, compiled by the build script.

use mooring_codes::{Date, Os, Owner, Transient};

use crate::cause::component::Component;
use crate::cause::confidence::Confidence;
use crate::cause::entry::Cause;
use crate::cause::stage::Stage;
use crate::cause::subject::TextSubject;
use crate::cause::wording::{Tier, Wording};
use crate::decode::decoded::{BootstrapOutcome, Situation};
use crate::diagnose::rule::Rule;
use crate::text::clues::Clue;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

const fn day(year: u16, month: u8, day: u8) -> Date {
    match Date::new(year, month, day) {
        Some(date) => date,
        None => self::day(1, 1, 1),
    }
}
