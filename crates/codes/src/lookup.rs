//! Lookup of the meanings of a number.

use std::fmt;
use std::ops::Deref;

use crate::{Date, ExitCode, Os, Reach, Since, Status, tables};

/// None, one or several meanings, the most useful first.
#[derive(Clone, PartialEq, Eq)]
pub struct Meanings(Vec<&'static ExitCode>);

/// Returns the meanings of a number.
///
/// Without a date it returns every meaning: first those that can end a node's bootstrap today (those that
/// Mooring's agent writes, then the scripts' constants), then raw codes, constants that scripts define
/// but do not exit with, removed ones (the newest first), those of the image build, and proposals.
///
/// With the date of the node image, it returns only the meanings on that day:
///
/// * raw codes always hold;
/// * a constant holds from the day it was introduced until the day before it was removed;
/// * if no constant held on that day: one whose recorded history begins later than it did; failing
///   that, codes without a date: the agent's and the image build's;
/// * a proposal never holds: no image has it.
///
/// So an unnamed 232 is the scripts' `ERR_SYSEXT_VERSION_ID_NOT_FOUND` for an image of
/// 2026-03-23 or later and the agent's `ERR_ORAS_BINARY_NOT_FOUND` before, and both when the
/// date is unknown. The agent's report always names itself: pass its text to [`lookup_named`].
pub fn lookup(os: Os, number: i32, when: Option<Date>) -> Meanings {
    let rows = tables::rows(os, number);
    let Some(date) = when else {
        return rows.iter().collect();
    };
    let best = rows.iter().filter_map(|row| claim(row, date)).filter(|c| *c != Claim::Raw).min();
    rows.iter()
        .filter(|row| match claim(row, date) {
            Some(Claim::Raw) => true,
            claim => claim.is_some() && claim == best,
        })
        .collect()
}

/// Returns the meanings of a number in a report that may name its constant.
///
/// `text` is the report's `Error` (Linux) or `Output` (Windows). If it starts with the name of a meaning,
/// only that meaning is returned, regardless of the date; otherwise the result of [`lookup`].
pub fn lookup_named(os: Os, number: i32, text: &str, when: Option<Date>) -> Meanings {
    let text = text.trim_start();
    let named: Meanings = tables::rows(os, number)
        .iter()
        .filter(|row| row.status != Status::Raw && starts_with_word(text, row.name))
        .take(1)
        .collect();
    if named.is_empty() { lookup(os, number, when) } else { named }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| {
        !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
    })
}

/// The evidence that a row held its number on a day; the strongest comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Raw,
    Dated,
    BeforeRecords,
    Undated,
}

fn claim(row: &ExitCode, date: Date) -> Option<Claim> {
    match (row.status, row.introduced) {
        (Status::Raw, _) => Some(Claim::Raw),
        (Status::Proposed, _) => None,
        (_, Since::Unrecorded) => Some(Claim::Undated),
        (_, Since::By(first)) if date < first => Some(Claim::BeforeRecords),
        (_, Since::On(first) | Since::By(first)) => {
            let gone = row.removed.is_some_and(|removed| removed <= date);
            let away = row.away.is_some_and(|(from, until)| from <= date && date < until);
            (first <= date && !gone && !away).then_some(Claim::Dated)
        }
    }
}

impl Meanings {
    pub fn first(&self) -> Option<&'static ExitCode> {
        self.0.first().copied()
    }

    /// Returns those that can end a bootstrap today; all of them, if none can.
    #[must_use]
    pub fn likely(self) -> Self {
        let can_end_a_bootstrap = |row: &&'static ExitCode| match row.status {
            Status::Agent | Status::Raw => true,
            Status::Current => row.reach == Reach::Node,
            _ => false,
        };
        let likely: Self = self.iter().copied().filter(can_end_a_bootstrap).collect();
        if likely.is_empty() { self } else { likely }
    }
}

impl Deref for Meanings {
    type Target = [&'static ExitCode];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FromIterator<&'static ExitCode> for Meanings {
    fn from_iter<I: IntoIterator<Item = &'static ExitCode>>(rows: I) -> Self {
        Self(rows.into_iter().collect())
    }
}

impl IntoIterator for Meanings {
    type Item = &'static ExitCode;
    type IntoIter = std::vec::IntoIter<&'static ExitCode>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Debug for Meanings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(ToString::to_string)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_by_number_and_rank() {
        for os in Os::ALL {
            let keys: Vec<_> = tables::all()
                .filter(|row| row.os == *os)
                .map(|row| (row.number, row.rank()))
                .collect();
            assert!(keys.is_sorted());
        }
    }
}
