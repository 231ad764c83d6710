//! The recorded history of the Linux numbers, period by period, agrees with the dates of the rows.

use std::collections::BTreeMap;

use mooring_codes::{Date, ExitCode, Os, Status, all, image_date, lookup};

#[derive(serde::Deserialize)]
struct Change {
    from: toml::value::Datetime,
    names: Vec<String>,
}

/// A time during which a number had the same names; no names means that it was free.
struct Period {
    number: i32,
    from: Date,
    /// The first day of the next period; none for the one that lasts.
    until: Option<Date>,
    names: Vec<String>,
}

fn periods() -> Vec<Period> {
    let text = include_str!("../fixtures/history.toml");
    let recorded: BTreeMap<String, Vec<Change>> = toml::from_str(text).unwrap();
    let day = |change: &Change| image_date(&change.from.to_string()).unwrap();
    let mut periods = Vec::new();
    for (number, changes) in recorded {
        for (at, change) in changes.iter().enumerate() {
            let until = changes.get(at + 1).map(day);
            let (from, names) = (day(change), change.names.clone());
            assert!(until.is_none_or(|until| from <= until), "{number}: {from}");
            periods.push(Period { number: number.parse().unwrap(), from, until, names });
        }
    }
    assert_eq!(periods.len(), 201);
    periods
}

fn constants() -> impl Iterator<Item = &'static ExitCode> + Clone {
    all().filter(|row| {
        row.os == Os::Linux && matches!(row.status, Status::Current | Status::Removed)
    })
}

#[test]
fn lookup_on_each_day_of_a_period_returns_its_names() {
    for Period { number, from, until, names } in periods() {
        let days = all().filter_map(|row| row.introduced.date()).chain([from]);
        // Two changes on one day leave a period without days.
        for day in days.filter(|day| from <= *day && until.is_none_or(|until| *day < until)) {
            let mut found: Vec<_> = lookup(Os::Linux, number, Some(day))
                .iter()
                .filter(|row| matches!(row.status, Status::Current | Status::Removed))
                .map(|row| row.name)
                .collect();
            found.sort_unstable();
            assert_eq!(found, names, "{number} on {day}");
        }
    }
}

#[test]
fn constants_and_periods_agree() {
    let periods = periods();
    for row in constants() {
        // These two exist only as comments in the scripts.
        if matches!(row.name, "ERR_SYSTEMCTL_ENABLE_FAIL" | "ERR_FLEXVOLUME_DOWNLOAD_TIMEOUT") {
            continue;
        }
        let of_row = |period: &&Period| {
            period.number == row.number && period.names.iter().any(|name| name == row.name)
        };
        let mut held = periods.iter().filter(of_row);
        let first = held.next();
        assert_eq!(first.map(|period| period.from), row.introduced.date(), "{row}");
        assert_eq!(
            held.next_back().or(first).and_then(|period| period.until),
            row.removed,
            "{row}"
        );
    }
    for period in &periods {
        for name in &period.names {
            assert!(constants().any(|row| row.number == period.number && row.name == name));
        }
    }
}
