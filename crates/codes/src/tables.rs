//! The tables that the build script compiles from `data`: sorted, without startup cost.

use crate::{Category, Date, ExitCode, Os, Owner, Reach, Since, Status, Transient};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// Every row: Linux, then Windows, each by number and then as a lookup returns them.
pub fn all() -> impl Iterator<Item = &'static ExitCode> + Clone {
    LINUX.iter().chain(WINDOWS)
}

/// Returns every row of one number, in the order of lookups.
pub(crate) fn rows(os: Os, number: i32) -> &'static [ExitCode] {
    let rows = match os {
        Os::Linux => LINUX,
        Os::Windows => WINDOWS,
    };
    let start = rows.partition_point(|row| row.number < number);
    let rows = &rows[start..];
    let len = rows.iter().take_while(|row| row.number == number).count();
    &rows[..len]
}
