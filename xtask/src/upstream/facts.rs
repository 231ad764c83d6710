//! Facts by name, and their differences.

use std::collections::BTreeMap;
use std::fmt;

/// Facts of one area: a name, and what is recorded of it.
pub(super) type Facts = BTreeMap<String, String>;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    area: &'static str,
    name: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    New(String),
    Gone(String),
    Changed {
        recorded: String,
        found: String,
    },
    /// Nothing was found of the whole area, so nothing is known about it.
    NotRead,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { area, name, kind } = self;
        match kind {
            Kind::New(fact) if fact.is_empty() => write!(f, "{area}: new: {name}"),
            Kind::New(fact) => write!(f, "{area}: new: {name} {fact}"),
            Kind::Gone(fact) if fact.is_empty() => write!(f, "{area}: gone: {name}"),
            Kind::Gone(fact) => write!(f, "{area}: gone: {name} {fact}"),
            Kind::Changed { recorded, found } => {
                write!(f, "{area}: changed: {name}: {found} (recorded: {recorded})")
            }
            Kind::NotRead => write!(f, "{area}: not compared: nothing found in {name}"),
        }
    }
}

/// Returns the differences of an area; `place` is where its facts should be.
pub(super) fn compare(
    area: &'static str,
    place: &str,
    recorded: &Facts,
    found: &Facts,
) -> Vec<Difference> {
    if found.is_empty() {
        return vec![Difference { area, name: place.to_owned(), kind: Kind::NotRead }];
    }
    let names = recorded.keys().chain(found.keys().filter(|name| !recorded.contains_key(*name)));
    let differs = names.filter_map(|name| {
        let kind = match (recorded.get(name), found.get(name)) {
            (Some(recorded), Some(found)) if recorded == found => return None,
            (Some(recorded), Some(found)) => {
                Kind::Changed { recorded: recorded.clone(), found: found.clone() }
            }
            (Some(recorded), None) => Kind::Gone(recorded.clone()),
            (None, found) => Kind::New(found.cloned().unwrap_or_default()),
        };
        Some(Difference { area, name: name.clone(), kind })
    });
    differs.collect()
}
