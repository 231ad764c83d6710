//! Any bytes as a journal: round trip of accepted documents, and no panic in what reads them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_finalizers::workflow::{FinalizerRemoval, times_deleted};
use mooring_repair::screens::run_markdown;
use mooring_repair::workflow::{PoolRepair, deletion, losses_with_abort};
use mooring_workflow::{Run, Workflow};
use mooring_workflow::journal::{decode, encode};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    if let Some(run) = read::<PoolRepair>(&text) {
        assert!(run.step().is_none_or(|step| !run.has_done(step)));
        let _ = (run.step_since(), losses_with_abort(&run), deletion(&run).is_some());
        let _ = run_markdown(&run);
    }
    if let Some(run) = read::<FinalizerRemoval>(&text) {
        let _ = (run.step(), run.step_since(), times_deleted(&run, ""));
    }
});

/// Round trip.
fn read<W: Workflow>(text: &str) -> Option<Run<W>> {
    let mut runs = decode::<W>(text).ok()?;
    runs.archive(jiff::Timestamp::UNIX_EPOCH);
    let run = decode::<W>(text).ok()?.last?;
    // Old attempts are left out once.
    let once = decode::<W>(&encode(&run, &runs.past)).ok()?;
    assert_eq!(decode::<W>(&encode(once.last.as_ref()?, &once.past)).as_ref(), Ok(&once));
    Some(run)
}
