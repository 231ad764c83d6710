//! A kill before or after any write, the journal's own included, ends as the clean run does.

use mooring_finalizers::shell::CommandResult;
use mooring_finalizers::workflow::Finish;
use mooring_finalizers::workflow::RunOutcome;
use serde_json::{Value, json};

use crate::bench::{Bench, Mortal, approved, planned, resume};

/// What is left in the cluster, without what differs from run to run.
fn end_state(bench: &Bench) -> Value {
    bench.model.as_ref().unwrap().with(|model, _| {
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

/// Lives until the kill, if there is one; the number of writes.
async fn live(bench: &Bench, kill: Option<u64>) -> (Option<CommandResult>, u64) {
    let mortal = Mortal::new(kill, true);
    let remover = bench.remover_by(mortal.client(&bench.client("admin")), bench.settings.clone());
    let ended = mortal
        .live(async {
            let plan = planned(&remover).await;
            remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await
        })
        .await;
    (ended, mortal.writes())
}

#[tokio::test(start_paused = true)]
async fn a_kill_at_any_write_ends_as_the_clean_run_does() {
    let clean = Bench::model("a_kill");
    clean.retired().await;
    let (ending, writes) = live(&clean, None).await;
    assert!(
        matches!(ending, Some(CommandResult::Rested(RunOutcome::Finished(Finish::Clean)))),
        "{ending:?}"
    );
    assert!(writes > 30, "{writes}");
    let wanted = end_state(&clean);
    for kill in 0..2 * writes {
        let bench = Bench::model("a_kill");
        bench.retired().await;
        let (ended, _) = live(&bench, Some(kill)).await;
        assert!(ended.is_none(), "kill {kill} was never reached");
        // Killed before the run was in the journal, there is nothing to resume, only to begin.
        let (ending, _) = match resume(&bench.remover()).await {
            CommandResult::Nothing(_) if end_state(&bench) != wanted => live(&bench, None).await,
            ending => (Some(ending), 0),
        };
        assert!(
            matches!(
                ending,
                Some(
                    CommandResult::Rested(RunOutcome::Finished(Finish::Clean))
                        | CommandResult::Nothing(_)
                )
            ),
            "kill {kill}: {ending:?}"
        );
        assert_eq!(end_state(&bench), wanted, "kill {kill}");
    }
    eprintln!("{} kills", 2 * writes);
}
