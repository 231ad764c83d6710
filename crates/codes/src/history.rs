//! The constants of a Linux number, period by period.

use crate::Date;
use crate::tables::HISTORY;

/// A time during which a number had the same names; no names means that it was free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub from: Date,
    /// The first day of the next period; none for the one that lasts.
    pub until: Option<Date>,
    /// The constants that held the number. Two of them is a collision in the scripts.
    pub names: &'static [&'static str],
}

impl Period {
    /// Returns true if the day is in the period. Two changes on one day leave a period without days.
    pub fn contains(&self, date: Date) -> bool {
        self.from <= date && self.until.is_none_or(|until| date < until)
    }
}

/// Returns the periods of a Linux number in the bootstrap scripts, the oldest first. The records begin on
/// 2020-02-07. Raw codes, the agent's codes and the image build's own constants have no periods.
pub fn history(number: i32) -> impl Iterator<Item = Period> + Clone {
    let start = HISTORY.partition_point(|change| change.number < number);
    let changes = &HISTORY[start..];
    let len = changes.iter().take_while(|change| change.number == number).count();
    let changes = &changes[..len];
    changes.iter().enumerate().map(move |(i, change)| Period {
        from: change.from,
        until: changes.get(i + 1).map(|next| next.from),
        names: change.names,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Os, Status, all, lookup};

    #[test]
    fn records_are_sorted_by_number_and_day() {
        assert!(HISTORY.iter().map(|change| (change.number, change.from)).is_sorted());
    }

    #[test]
    fn lookup_on_each_day_of_a_period_returns_its_names() {
        let mut numbers: Vec<_> = HISTORY.iter().map(|change| change.number).collect();
        numbers.dedup();
        let mut checked = 0;
        for number in numbers {
            for period in history(number) {
                let days = all().filter_map(|row| row.introduced.date()).chain([period.from]);
                for day in days.filter(|day| period.contains(*day)) {
                    let mut names: Vec<_> = lookup(Os::Linux, number, Some(day))
                        .into_iter()
                        .filter(|row| matches!(row.status, Status::Current | Status::Removed))
                        .map(|row| row.name)
                        .collect();
                    names.sort_unstable();
                    assert_eq!(names, period.names, "{number} on {day}");
                }
                checked += 1;
            }
        }
        assert_eq!(checked, 201);
    }

    #[test]
    fn constants_and_periods_agree() {
        let rows = all().filter(|row| {
            row.os == Os::Linux && matches!(row.status, Status::Current | Status::Removed)
        });
        for row in rows.clone() {
            // These two exist only as comments in the scripts.
            if matches!(row.name, "ERR_SYSTEMCTL_ENABLE_FAIL" | "ERR_FLEXVOLUME_DOWNLOAD_TIMEOUT") {
                continue;
            }
            let held = history(row.number).filter(|period| period.names.contains(&row.name));
            assert_eq!(held.clone().next().map(|p| p.from), row.introduced.date(), "{row}");
            assert_eq!(held.last().and_then(|p| p.until), row.removed, "{row}");
        }
        for change in HISTORY {
            for name in change.names {
                assert!(rows.clone().any(|r| r.number == change.number && r.name == *name));
            }
        }
    }
}
