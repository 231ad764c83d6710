//! Runs whose journal has the step and check names of earlier builds.

use mooring_repair::names::APPROVAL_TAG;
use mooring_repair::plan::Step;
use mooring_repair::resume::{Consent, ResumeBasis, authorize, resume_basis};
use mooring_repair::workflow::{Entry, Finish, Run, RunOutcome};
use mooring_workflow::canonical;
use mooring_workflow::journal::{decode, follow};
use mooring_workflow::store::{FileJournal, RealDisk};
use serde_json::{Value, json};

use super::resumptions::pools;
use crate::fake::records::session;
use crate::fake::scenarios::overriding;
use crate::fake::{Cloud, Ended, continue_run, until};

const STEPS: [(&str, &str); 6] = [
    ("clear-operation", "settle"),
    ("verify-temporary", "prove-temporary"),
    ("verify-workloads", "prove-placement"),
    ("wait-for-nodes", "await-nodes"),
    ("verify-pool", "verify-cure"),
    ("reconcile-cluster", "touch-cluster"),
];

fn rename(name: &mut Value) {
    let former = STEPS.iter().find(|(current, _)| name == current);
    if let Some((_, former)) = former {
        *name = json!(former);
    }
}

/// Rewrites a journal as an earlier build wrote it. Returns its text.
fn former_journal(cloud: &mut Cloud) -> String {
    let mut text = String::new();
    let mut prev = String::new();
    for record in &cloud.journal {
        let mut record = serde_json::to_value(record).unwrap();
        if let Some(step) = record.get_mut("step") {
            rename(step);
        }
        if let Some(plan) = record.get_mut("plan").filter(|plan| plan.is_object()) {
            plan["steps"].as_array_mut().unwrap().iter_mut().for_each(rename);
            let overrides = plan["settings"]["overrides"].as_object_mut().unwrap();
            let reason = overrides.remove("workloads").unwrap();
            overrides.insert("placement".to_owned(), reason);
            let hash = canonical::hash(plan);
            if let Some(pool) = cloud.pools.get_mut("systmp") {
                pool.edit()["properties"]["tags"][APPROVAL_TAG] = format!("v2:{hash}").into();
            }
        }
        record.as_object_mut().unwrap().remove("hash");
        record["prev"] = prev.into();
        prev = canonical::hash(&record);
        record["hash"] = prev.clone().into();
        text.push_str(&canonical::canonical(&record));
        text.push('\n');
    }
    cloud.journal = decode(&text).unwrap();
    cloud.state = Run::replay(&cloud.journal).unwrap();
    text
}

#[test]
fn run_with_former_names_is_resumed_unattended() {
    let settings = overriding("workloads");
    for step in [
        Step::VerifyTemporary,
        Step::VerifyWorkloads,
        Step::DeletePool,
        Step::WaitForNodes,
        Step::VerifyPool,
    ] {
        let mut cloud = until(step, &settings, Cloud::wedged).borrow().clone();
        let text = former_journal(&mut cloud);
        assert!(text.contains(r#""step":"settle""#) && text.contains(r#""placement":"#));
        let state = cloud.state.clone().unwrap();
        assert!(state.has_done(step) && state.session.settings().overrides == settings.overrides);
        let basis = resume_basis(&state, &pools(&cloud));
        assert_eq!(basis, ResumeBasis::Anchored, "{step:?}");
        let unattended = Consent::Unattended;
        let grant =
            authorize(&state, &basis, &cloud.journal, &settings, &unattended, None, cloud.now)
                .unwrap();
        let mut session = session(&grant.plan, &settings);
        (session.approval, session.overrides) = (grant.approval, grant.overrides);
        let end = continue_run(cloud, session);
        assert_eq!(end.ended, Ended::Stopped(RunOutcome::Finished(Finish::Repaired)), "{step:?}");
    }
}

#[test]
fn file_with_former_names_is_continued_and_kept_as_written() {
    let mut cloud =
        until(Step::VerifyTemporary, &overriding("workloads"), Cloud::wedged).borrow().clone();
    let text = former_journal(&mut cloud);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    std::fs::write(&path, &text).unwrap();
    let mut journal = FileJournal::<_, Entry>::open(RealDisk, &path).unwrap();
    let run = cloud.state.clone().unwrap();
    let resumed = Entry::Resumed(Box::new(run.session));
    let record = follow(journal.records().last(), &run.id, cloud.now, resumed);
    journal.append(&record).unwrap();
    let continued = std::fs::read_to_string(&path).unwrap();
    let added = continued.strip_prefix(&text).unwrap();
    // The last record is the new one, and the one before it has the former name.
    journal.keep(2).unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.contains("prove-temporary"), "{last}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{last}\n{added}"));
    assert_eq!(FileJournal::<_, Entry>::open(RealDisk, &path).unwrap().records().len(), 2);
}
