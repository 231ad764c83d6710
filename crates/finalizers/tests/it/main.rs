//! Removal of an uninstalled operator. Cases in `on_both!` run unchanged on the model, under virtual time, and on a real
//! kube-apiserver, where the test implements the missing controllers.
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

mod acceptance;
mod actors;
mod cases;
mod contents;
mod forgery;
mod harness;
mod kills;
mod operator_gone;
mod screens;

use harness::Harness;
use mooring_testbed::{RealCluster, require};

/// Names each case once, for both servers.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $case() {
                cases::$case(Harness::model(stringify!($case))).await;
            }
        )*

        mod slow {
            use super::*;

            #[test]
            fn cases_pass_on_a_real_server() {
                let mut runtime = tokio::runtime::Builder::new_multi_thread();
                let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
                runtime.block_on(async {
                    let started = RealCluster::start().await.unwrap();
                    let Some(real) = require(started, "kube-apiserver") else { return };
                    $(
                        eprintln!("{} on {}", stringify!($case), real.version());
                        cases::$case(Harness::real(&real, stringify!($case)).await).await;
                    )*
                });
            }
        }
    };
}

on_both! {
    uninstalled_operator_is_removed_with_all_its_resources,
    unlisted_finalizer_is_kept_and_reported,
    objects_are_listed_in_any_served_version,
    missing_permission_is_reported_with_verb_and_resource,
    denying_webhook_is_named,
    running_operator_keeps_its_finalizers,
    running_operator_that_recreates_objects_is_scaled_down,
    stuck_namespace_is_reported_with_its_conditions,
}
