//! From the records of a journal to where its last run stands, whatever the run is about.

use crate::journal::{Content, JournalError, Record, verify};

/// A run as its records tell it.
pub(crate) trait Replayed: Sized {
    /// What its records hold.
    type Entry: Content;

    /// The run that a record begins; none if it begins none.
    fn begun_by(record: &Record<Self::Entry>) -> Option<Self>;

    /// The run's id.
    fn run(&self) -> &str;

    /// True if nothing can come after.
    fn is_over(&self) -> bool;

    /// Takes a further record of the run in.
    fn take(&mut self, record: &Record<Self::Entry>) -> Result<(), JournalError>;
}

/// The last run of a journal; none if there is none.
pub(crate) fn replay<S: Replayed>(records: &[Record<S::Entry>]) -> Result<Option<S>, JournalError> {
    verify(records)?;
    let mut last: Option<S> = None;
    for record in records {
        if let Some(begun) = S::begun_by(record) {
            if last.as_ref().is_some_and(|last| !last.is_over()) {
                return Err(JournalError::Senseless(record.seq, "a run begins inside another"));
            }
            last = Some(begun);
            continue;
        }
        match &mut last {
            Some(last) if last.run() == record.run => last.take(record)?,
            Some(_) => return Err(JournalError::Senseless(record.seq, "it is of another run")),
            // The beginning was archived: what is left of a run that is over.
            None => {}
        }
    }
    Ok(last)
}
