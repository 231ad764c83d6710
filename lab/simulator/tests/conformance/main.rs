//! One suite of Kubernetes behaviors that the product relies on, run unchanged against the model
//! and a real kube-apiserver. If the two differ, the model is wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    clippy::large_futures,
    clippy::similar_names,
    reason = "a test; a `patch` is sent to a `path`"
)]

mod answer;
mod case;
mod cases;
mod cluster;
mod summary;
mod target;
mod watch;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use mooring_testbed::{RealCluster, require};
use tokio::runtime::{Handle, Runtime};

use case::Case;
use cluster::Cluster;
use summary::Summary;
use target::Target;

/// Cases mostly wait for the server, so more run at once than the host has cores.
const THREADS: usize = 8;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let runtime = Runtime::new().expect("a runtime");
    // Owned here, so that it ends with this function in any case.
    let real = if arguments.list {
        None
    } else {
        require(runtime.block_on(RealCluster::start()).unwrap(), "kube-apiserver")
    };

    let (model, _running) = runtime.block_on(async { Target::model() });
    let mut targets: Vec<&'static Target> = vec![Box::leak(Box::new(model))];
    if let Some(real) = &real {
        targets.push(Box::leak(Box::new(runtime.block_on(Target::real(real)))));
    }
    let cases = cases::all();
    let mut trials = Vec::new();
    for target in &targets {
        runtime.block_on(target.prepare());
        trials.extend(cases.iter().map(|case| trial(runtime.handle(), target, *case)));
    }
    let summary = Summary::new(&targets, &cases, &arguments);
    let conclusion = libtest_mimic::run(&arguments, trials);
    summary.print(&conclusion);
    conclusion.exit_code()
}

fn trial(handle: &Handle, target: &'static Target, case: Case) -> Trial {
    let handle = handle.clone();
    let run = move || {
        let cluster = Cluster::new(target, &case.full_name(), case.generation);
        handle.block_on((case.run)(cluster));
        Ok(())
    };
    Trial::test(case.full_name(), run)
        .with_kind(&target.name)
        .with_ignored_flag(target.skips(&case).is_some())
}
