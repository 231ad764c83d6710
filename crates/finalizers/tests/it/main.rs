//! What is promised of the removal of a retired operator. Cases that stand in `on_both!` run unchanged on the model, under
//! virtual time, and on a real kube-apiserver, where the test plays the controllers that such a server has not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::large_futures,
    clippy::needless_pass_by_value,
    clippy::similar_names,
    clippy::too_many_lines,
    reason = "a test may fail loudly"
)]

mod bench;
mod cases;
mod forgery;
mod gone;
mod kills;
mod players;
mod promises;

use bench::Bench;
use mooring_testbed::{RealCluster, require};

/// Names each case once, for both servers.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $case() {
                cases::$case(Bench::model(stringify!($case))).await;
            }
        )*

        #[test]
        fn every_case_holds_on_a_real_server() {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let started = RealCluster::start().await.unwrap();
                let Some(real) = require(started, "kube-apiserver") else { return };
                $(
                    eprintln!("{} on {}", stringify!($case), real.version());
                    cases::$case(Bench::real(&real, stringify!($case)).await).await;
                )*
            });
        }
    };
}

on_both! {
    a_retired_operator_is_removed_with_all_that_belongs_to_it,
    a_finalizer_that_is_not_listed_stays_and_is_told,
    objects_are_reached_by_whatever_version_is_served,
    what_is_not_permitted_is_told_with_verb_and_resource,
    a_webhook_that_refuses_is_named,
    an_operator_that_runs_is_not_robbed_of_its_finalizers,
    an_operator_that_runs_and_recreates_is_scaled_down,
    a_namespace_that_does_not_end_is_told_with_its_conditions,
    a_run_that_is_killed_is_continued,
}
