//! Any bytes as a journal, and any entries in their order: round trip of accepted journals, and no panic in a
//! replay.
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use mooring_finalizers::workflow as finalizers;
use mooring_finalizers::workflow::RemovalRun as _;
use mooring_repair::report::RunReport;
use mooring_repair::workflow::{Entry, RepairRun as _, Run};
use mooring_workflow::journal::{Content, Record, decode, encode, follow, verify};
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    read::<Entry>(&text);
    read::<finalizers::Entry>(&text);
    let records = chain::<Entry>(&text);
    if let Ok(Some(run)) = Run::replay(&records) {
        assert!(run.step().is_none_or(|step| !run.has_done(step)));
        let _ = (run.step_since(), run.losses_with_abort(), run.deletion().is_some());
    }
    if let Ok(Some(report)) = RunReport::of(&records) {
        let _ = report.markdown();
    }
    let records = chain::<finalizers::Entry>(&text);
    if let Ok(Some(run)) = finalizers::Run::replay(&records) {
        let _ = (run.step(), run.step_since(), run.deleted().len());
    }
});

/// Round trip.
fn read<E: Content + std::fmt::Debug>(text: &str) {
    if let Ok(records) = decode::<E>(text) {
        let written: String = records.iter().map(encode).collect();
        assert_eq!(decode::<E>(&written).as_ref(), Ok(&records));
    }
}

/// Orders the entries of the text's lines, as any client with write access to a journal can.
fn chain<E: Content + std::fmt::Debug>(text: &str) -> Vec<Record<E>> {
    let mut records: Vec<Record<E>> = Vec::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let at =
            line["at"].as_str().and_then(|at| at.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH);
        let Ok(entry) = serde_json::from_value::<E>(line) else { continue };
        records.push(follow(records.last(), "r", at, entry));
    }
    assert_eq!(verify(&records), Ok(()));
    let written: String = records.iter().map(encode).collect();
    assert_eq!(decode::<E>(&written).as_ref(), Ok(&records));
    records
}
