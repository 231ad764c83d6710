//! A kill before or after any write, including the journal, ends like a clean run.

use mooring_finalizers::commands::CommandResult;
use mooring_workflow::Finish;
use mooring_workflow::RunOutcome;
use serde_json::{Value, json};

use crate::harness::{Harness, KillableProcess, approved, planned, resume};

/// Final state without values that differ between runs.
fn end_state(harness: &Harness) -> Value {
    harness.model.as_ref().unwrap().with(|model, _| {
        let names = |resource: &str| -> Vec<Value> {
            model.objects(resource, None).map(|one| one["metadata"]["name"].clone()).collect()
        };
        json!({
            "definitions": names("customresourcedefinitions.apiextensions.k8s.io"),
            "namespaces": names("namespaces"),
            "bindings": names("clusterrolebindings.rbac.authorization.k8s.io"),
            "roles": names("clusterroles.rbac.authorization.k8s.io"),
            "secrets": names("secrets"),
        })
    })
}

/// Runs until the kill; returns the number of writes.
async fn live(harness: &Harness, kill: Option<u64>) -> (Option<CommandResult>, u64) {
    let mortal = KillableProcess::new(kill);
    let remover =
        harness.remover_by(mortal.client(&harness.client("admin")), harness.settings.clone());
    let ended = mortal
        .live(async {
            let plan = planned(&remover).await;
            remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await
        })
        .await;
    (ended, mortal.writes())
}

/// Kills a run at one of `every` points, before (even) or after (odd) a write.
async fn kill_one_of(every: usize) {
    let clean = Harness::model("a_kill");
    clean.retired().await;
    let (ending, writes) = live(&clean, None).await;
    assert!(
        matches!(ending, Some(CommandResult::Stopped(RunOutcome::Finished(Finish::Complete)))),
        "{ending:?}"
    );
    assert!(writes > 30, "{writes}");
    let wanted = end_state(&clean);
    for kill in (0..2 * writes).step_by(every) {
        let harness = Harness::model("a_kill");
        harness.retired().await;
        let (ended, _) = live(&harness, Some(kill)).await;
        assert!(ended.is_none(), "kill {kill} was never reached");
        // Killed before the first record: a new run starts.
        let (ending, _) = match resume(&harness.remover()).await {
            CommandResult::Nothing(_) if end_state(&harness) != wanted => {
                live(&harness, None).await
            }
            ending => (Some(ending), 0),
        };
        assert!(
            matches!(
                ending,
                Some(
                    CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))
                        | CommandResult::Nothing(_)
                )
            ),
            "kill {kill}: {ending:?}"
        );
        assert_eq!(end_state(&harness), wanted, "kill {kill}");
    }
    eprintln!("one of {every} of {} kills", 2 * writes);
}

#[tokio::test(start_paused = true)]
async fn kill_at_some_writes_ends_like_a_clean_run() {
    kill_one_of(9).await;
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn kill_at_any_write_ends_like_a_clean_run() {
        kill_one_of(1).await;
    }
}
