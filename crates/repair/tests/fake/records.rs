//! Journals written by hand, and runs that may begin on them or not.

use mooring_repair::begin::{BeginError, begin};
use mooring_repair::journal::{Entry, Owner, Record, follow};
use mooring_repair::observation::Reading;
use mooring_repair::plan::{self, Surroundings};
use mooring_repair::settings::Settings;

use super::cloud::Cloud;

pub fn owner() -> Owner {
    Owner { host: "h".into(), boot: "b".into(), pid: 1, start: 1, holder: "x".into() }
}

/// One record more of the last one's run.
pub fn append(records: &mut Vec<Record>, entry: Entry) {
    let last = records.last().unwrap();
    let record = follow(Some(last), &last.run.clone(), last.at, entry);
    records.push(record);
}

/// What is around a pool that was never deleted; nothing else of it is known.
pub fn around() -> Surroundings {
    Surroundings { deletions: Reading::Known(0), ..Surroundings::unread() }
}

/// A new run of what the cloud shows.
pub fn begun(
    records: &[Record],
    cloud: &Cloud,
    settings: &Settings,
    around: &Surroundings,
) -> Result<Record, BeginError> {
    let plan = plan::build(&cloud.looked_at(), settings, around).unwrap();
    let run = format!("run{}", records.len());
    begin(records, &plan, None, &[], settings, owner(), &run, cloud.now)
}
