//! What the client believes against what the model has written down.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedules::plan::What;
use crate::schedules::steps::{Belief, Said};
use crate::schedules::world::{Record, Seen, is_own};

/// Five attempts, and one more for a token that was refused.
const MOST_ATTEMPTS: usize = 6;
/// Pages of the longest list, at three rows a page.
const MOST_PAGES: u64 = 30;

/// Everything that is wrong with a run, one line each.
pub(crate) fn check(record: &Record) -> Vec<String> {
    let mut wrong = Vec::new();
    judge_requests(record, &mut wrong);
    judge_budget(record, &mut wrong);
    for belief in &record.beliefs {
        judge_belief(record, belief, &mut wrong);
    }
    judge_model(record, &mut wrong);
    wrong
}

/// No token elsewhere, no storm, nothing twice that may be done once only.
fn judge_requests(record: &Record, wrong: &mut Vec<String>) {
    let mut calls: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for seen in &record.seen {
        if !is_own(seen) {
            wrong.push(format!("a token was sent to {}", seen.host));
        }
        calls.entry(&seen.request_id).or_default().push(seen);
    }
    for attempts in calls.values() {
        let first = attempts[0];
        let call = format!("{} {} of {}", first.method, first.path(), first.correlation);
        if attempts.len() > MOST_ATTEMPTS {
            wrong.push(format!("{call}: {} attempts", attempts.len()));
        }
        for pair in attempts.windows(2) {
            if let Some((at, Some(seconds))) = pair[0].told
                && pair[1].at < at + seconds * 1000
                && pair[0].status != 401
            {
                wrong.push(format!(
                    "{call}: came {} ms too early",
                    at + seconds * 1000 - pair[1].at
                ));
            }
            if pair[0].is_once() && pair[0].may_have_worked() {
                wrong.push(format!("{call}: sent again although it may have worked"));
            }
        }
        let accepted = attempts.iter().filter(|seen| seen.is_once() && seen.is_accepted()).count();
        if accepted > 1 {
            wrong.push(format!("{call}: done {accepted} times"));
        }
    }
}

/// Never more than the buckets held at the start and have got since.
fn judge_budget(record: &Record, wrong: &mut Vec<String>) {
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

fn judge_belief(record: &Record, belief: &Belief, wrong: &mut Vec<String>) {
    let own: Vec<&Seen> =
        record.seen.iter().filter(|seen| seen.correlation == belief.correlation).collect();
    let accepted = own.iter().filter(|seen| seen.is_write() && seen.is_accepted()).count();
    let mut say = |what: &str| {
        let Belief { correlation, what: step, said, error, .. } = belief;
        wrong.push(format!("{correlation} {step:?} said {said:?}, but {what}; {error}"));
    };
    match belief.said {
        Said::NotApplied if accepted > 0 => say("the model accepted it"),
        Said::Accepted | Said::Succeeded | Said::Failed | Said::Canceled | Said::Replaced
            if accepted == 0 =>
        {
            say("the model never accepted it");
        }
        Said::Succeeded | Said::Failed | Said::Canceled | Said::Replaced => {
            judge_end(record, belief, &own, &mut say);
        }
        Said::Lost => {
            let may_be = own.iter().any(|seen| seen.status == 404)
                || record.azure.begun_by(&belief.correlation).any(|(_, _, hidden)| hidden);
            if !may_be {
                say("the model knows it");
            }
        }
        _ => {}
    }
    if belief.ended - belief.began > belief.bound && belief.said != Said::Dropped {
        say(&format!("after {} ms, not within {}", belief.ended - belief.began, belief.bound));
    }
    let took = (belief.ended - belief.began) / 1000;
    let calls: BTreeSet<&str> = own.iter().map(|seen| seen.request_id.as_str()).collect();
    let most = MOST_PAGES + took;
    if calls.len() as u64 > most {
        say(&format!("it made {} calls in {took} s", calls.len()));
    }
    if belief.error.contains("eyJ0eXAi") || belief.error.contains("Bearer") {
        say("the error shows a token");
    }
}

/// The end that the client tells is the one that the model has written down.
fn judge_end(record: &Record, belief: &Belief, own: &[&Seen], say: &mut impl FnMut(&str)) {
    let begun: Vec<(&str, &str, bool)> = record.azure.begun_by(&belief.correlation).collect();
    // Nothing to do at all: 204.
    if begun.is_empty() {
        if belief.said != Said::Succeeded || !own.iter().any(|seen| seen.status == 204) {
            say("the model began nothing");
        }
        return;
    }
    // Where the operation cannot be seen, the resource tells, and others may have changed it meanwhile.
    let blind =
        begun.iter().any(|(_, _, hidden)| *hidden) || own.iter().any(|seen| seen.status == 404);
    if blind && (record.stale || record.actors > 1) {
        return;
    }
    let word = match belief.said {
        Said::Failed => "Failed",
        Said::Canceled | Said::Replaced => "Canceled",
        _ => "Succeeded",
    };
    if !begun.iter().any(|(_, status, _)| *status == word) {
        say(&format!("the model has {begun:?}"));
    }
}

/// The last write of each pool that was accepted is in the model, and so is every tag.
fn judge_model(record: &Record, wrong: &mut Vec<String>) {
    let mut last: BTreeMap<&str, &Seen> = BTreeMap::new();
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
    for belief in record.beliefs.iter().filter(|belief| matches!(belief.what, What::Tags)) {
        let there = cluster["tags"].get(&belief.correlation).is_some();
        match belief.said {
            Said::Accepted if !there => wrong.push(format!("{} lost its tag", belief.correlation)),
            Said::NotApplied if there => wrong.push(format!("{} made a tag", belief.correlation)),
            _ => {}
        }
    }
}
