//! Compares the results that the client reports with the state of the model.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedules::plan::Action;
use crate::schedules::steps::{StepOutcome, StepReport};
use crate::schedules::world::{Record, RecordedRequest, is_own};

/// Five attempts, and one more for a rejected token.
const MAX_ATTEMPTS: usize = 6;
/// Pages of the longest list, at three rows a page.
const MAX_PAGES: u64 = 30;

/// Returns all violations of a run.
pub(crate) fn check(record: &Record) -> Vec<String> {
    let mut wrong = Vec::new();
    check_requests(record, &mut wrong);
    check_budget(record, &mut wrong);
    for report in &record.reports {
        check_report(record, report, &mut wrong);
    }
    check_model(record, &mut wrong);
    wrong
}

/// Checks that no token is sent to other hosts, no requests are sent too early, and no `once` call is repeated.
fn check_requests(record: &Record, wrong: &mut Vec<String>) {
    let mut calls: BTreeMap<&str, Vec<&RecordedRequest>> = BTreeMap::new();
    for seen in &record.seen {
        if !is_own(seen) {
            wrong.push(format!("a token was sent to {}", seen.host));
        }
        calls.entry(&seen.request_id).or_default().push(seen);
    }
    for attempts in calls.values() {
        let first = attempts[0];
        let call = format!("{} {} of {}", first.method, first.path(), first.correlation);
        if attempts.len() > MAX_ATTEMPTS {
            wrong.push(format!("{call}: {} attempts", attempts.len()));
        }
        for pair in attempts.windows(2) {
            if let Some((at, Some(seconds))) = pair[0].responded
                && pair[1].at < at + seconds * 1000
                && pair[0].status != 401
            {
                wrong.push(format!(
                    "{call}: came {} ms too early",
                    at + seconds * 1000 - pair[1].at
                ));
            }
            if pair[0].is_once() && pair[0].may_be_applied() {
                wrong.push(format!("{call}: sent again although it may have been applied"));
            }
        }
        let accepted = attempts.iter().filter(|seen| seen.is_once() && seen.is_accepted()).count();
        if accepted > 1 {
            wrong.push(format!("{call}: done {accepted} times"));
        }
    }
}

/// Checks that no more requests were sent than the buckets allow.
fn check_budget(record: &Record, wrong: &mut Vec<String>) {
    let writes = record.seen.iter().filter(|seen| seen.is_write()).count() as u64;
    let reads = record.seen.len() as u64 - writes;
    for (what, sent, limit) in
        [("reads", reads, record.limits.reads), ("writes", writes, record.limits.writes)]
    {
        let allowed = u64::from(limit.burst)
            + record.ended * u64::from(limit.milli_per_second) / 1_000_000
            + 1;
        if sent > allowed {
            wrong.push(format!("{sent} {what}, although the budget allows {allowed}"));
        }
    }
}

fn check_report(record: &Record, report: &StepReport, wrong: &mut Vec<String>) {
    let own: Vec<&RecordedRequest> =
        record.seen.iter().filter(|seen| seen.correlation == report.correlation).collect();
    let accepted = own.iter().filter(|seen| seen.is_write() && seen.is_accepted()).count();
    let mut fail = |what: &str| {
        let StepReport { correlation, what: step, outcome, error, .. } = report;
        wrong.push(format!("{correlation} {step:?} reported {outcome:?}, but {what}; {error}"));
    };
    match report.outcome {
        StepOutcome::NotApplied if accepted > 0 => fail("the model accepted it"),
        StepOutcome::Accepted
        | StepOutcome::Succeeded
        | StepOutcome::Failed
        | StepOutcome::Canceled
        | StepOutcome::Replaced
            if accepted == 0 =>
        {
            fail("the model never accepted it");
        }
        StepOutcome::Succeeded
        | StepOutcome::Failed
        | StepOutcome::Canceled
        | StepOutcome::Replaced => {
            check_outcome(record, report, &own, &mut fail);
        }
        StepOutcome::Lost => {
            let may_be = own.iter().any(|seen| seen.status == 404)
                || record.azure.begun_by(&report.correlation).any(|(_, _, hidden)| hidden);
            if !may_be {
                fail("the model knows it");
            }
        }
        _ => {}
    }
    if report.ended - report.began > report.bound && report.outcome != StepOutcome::Dropped {
        fail(&format!("after {} ms, not within {}", report.ended - report.began, report.bound));
    }
    let took = (report.ended - report.began) / 1000;
    let calls: BTreeSet<&str> = own.iter().map(|seen| seen.request_id.as_str()).collect();
    let max = MAX_PAGES + took;
    if calls.len() as u64 > max {
        fail(&format!("it made {} calls in {took} s", calls.len()));
    }
    if report.error.contains("eyJ0eXAi") || report.error.contains("Bearer") {
        fail("the error shows a token");
    }
}

/// Checks that the reported outcome is the one in the model.
fn check_outcome(
    record: &Record,
    report: &StepReport,
    own: &[&RecordedRequest],
    fail: &mut impl FnMut(&str),
) {
    let begun: Vec<(&str, &str, bool)> = record.azure.begun_by(&report.correlation).collect();
    // Nothing to do: 204.
    if begun.is_empty() {
        if report.outcome != StepOutcome::Succeeded || !own.iter().any(|seen| seen.status == 204) {
            fail("the model began nothing");
        }
        return;
    }
    // Without the operation, the resource's state decides, and others may have changed it since then.
    let unobserved =
        begun.iter().any(|(_, _, hidden)| *hidden) || own.iter().any(|seen| seen.status == 404);
    if unobserved && (record.stale || record.actors > 1) {
        return;
    }
    let word = match report.outcome {
        StepOutcome::Failed => "Failed",
        StepOutcome::Canceled | StepOutcome::Replaced => "Canceled",
        _ => "Succeeded",
    };
    if !begun.iter().any(|(_, status, _)| *status == word) {
        fail(&format!("the model has {begun:?}"));
    }
}

/// Checks that the model contains the last accepted write of each pool, and every tag.
fn check_model(record: &Record, wrong: &mut Vec<String>) {
    let mut last: BTreeMap<&str, &RecordedRequest> = BTreeMap::new();
    for seen in record.seen.iter().filter(|seen| seen.is_accepted()) {
        if matches!(seen.method.as_str(), "PUT" | "DELETE") {
            last.insert(seen.path(), seen);
        }
    }
    for (path, seen) in last.into_iter().filter(|(_, seen)| seen.method == "PUT") {
        let pool = record.azure.resource(path);
        let mark = pool.and_then(|pool| pool.pointer("/properties/nodeLabels/write")?.as_str());
        if mark != Some(seen.correlation.as_str()) {
            wrong.push(format!("{path} has the mark {mark:?}, not {}", seen.correlation));
        }
    }
    let cluster = record.azure.resource(&record.azure.options().cluster_id()).unwrap();
    for report in record.reports.iter().filter(|report| matches!(report.what, Action::Tags)) {
        let there = cluster["tags"].get(&report.correlation).is_some();
        match report.outcome {
            StepOutcome::Accepted if !there => {
                wrong.push(format!("{} lost its tag", report.correlation));
            }
            StepOutcome::NotApplied if there => {
                wrong.push(format!("{} created a tag", report.correlation));
            }
            _ => {}
        }
    }
}
