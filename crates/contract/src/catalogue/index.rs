//! All rows in the order of look-ups, put in order when the crate is compiled.

use super::data::{
    AGENT, IMAGE_BUILD, LINUX_DORMANT, LINUX_NODE, LINUX_PAST, LINUX_PROPOSED, LINUX_RAW, WINDOWS,
};
use super::{ExitCode, Os};

/// 65 + 65 current, 15 raw, 43 removed, 24 of the image build, 1 of the agent, 5 proposed.
static LINUX_ROWS: [&ExitCode; 218] = in_order(&[
    &AGENT,
    &LINUX_NODE,
    &LINUX_DORMANT,
    &LINUX_RAW,
    &LINUX_PAST,
    &IMAGE_BUILD,
    &LINUX_PROPOSED,
]);

/// 85 current, 3 proposed.
static WINDOWS_ROWS: [&ExitCode; 88] = in_order(&[&WINDOWS]);

/// Every row: Linux, then Windows, each by number and then as a look-up shows them.
pub fn all() -> impl Iterator<Item = &'static ExitCode> + Clone {
    LINUX_ROWS.iter().chain(&WINDOWS_ROWS).copied()
}

/// Every row of one number, in the order of look-ups.
pub(super) fn rows(os: Os, number: i32) -> &'static [&'static ExitCode] {
    let rows: &[&ExitCode] = match os {
        Os::Linux => &LINUX_ROWS,
        Os::Windows => &WINDOWS_ROWS,
    };
    let start = rows.partition_point(|row| row.number < number);
    let rows = &rows[start..];
    let len = rows.iter().take_while(|row| row.number == number).count();
    &rows[..len]
}

/// Gathers the tables and sorts them by insertion: 218 rows make the compiler do some 10 000 steps.
/// Fails to compile when the tables do not hold `N` rows.
const fn in_order<const N: usize>(tables: &[&'static [ExitCode]]) -> [&'static ExitCode; N] {
    let mut rows = [&tables[0][0]; N];
    let mut filled = 0;
    let mut table = 0;
    while table < tables.len() {
        let mut next = 0;
        while next < tables[table].len() {
            let row = &tables[table][next];
            let mut place = filled;
            while place > 0 && key(row) < key(rows[place - 1]) {
                rows[place] = rows[place - 1];
                place -= 1;
            }
            rows[place] = row;
            filled += 1;
            next += 1;
        }
        table += 1;
    }
    assert!(filled == N, "the tables have another number of rows");
    rows
}

/// By number, then by rank, then the newest first.
const fn key(row: &ExitCode) -> i64 {
    let day = match row.introduced.date() {
        Some(date) => date.digits(),
        None => 0,
    };
    row.number as i64 * (1 << 40) + row.rank() as i64 * (1 << 32) + (u32::MAX - day) as i64
}
