//! `mooring why` and `mooring fleet`: one look, told.

use std::process::ExitCode;

use jiff::Timestamp;
use mooring_arm::Limits;
use mooring_controller::once::{Failed, Looker};
use mooring_controller::run::Api;
use mooring_controller::{LEGACY_NAMESPACE, Scope, Settings};

use crate::cluster_cli::{ClusterArguments, FleetArguments, WhyArguments};
use crate::connect;
use crate::failure::Failure;
use crate::show::print;
use crate::{show_fleet, show_why};

/// Says why; exits with 1 if a node failed.
pub(crate) fn why(arguments: &WhyArguments) -> Result<ExitCode, Failure> {
    runtime()?.block_on(async {
        let looker = looker(&arguments.cluster, arguments.run_command, true).await?;
        let mut told = looker.why(&arguments.what).await.map_err(|failed| of(&failed))?;
        looker.add_earlier(&mut told).await;
        report_old_record(&looker).await;
        // Without the record there is no context, which is no reason to tell nothing.
        let fleet = looker.fleet().await.unwrap_or_default();
        let lost = looker.nodes_without_provider_id().await;
        let text = show_why::show(arguments.output, &arguments.what, &told, &fleet, &lost)?;
        print(text.as_bytes())?;
        let failed = told.iter().any(mooring_controller::once::NodeTold::is_failed);
        Ok(ExitCode::from(u8::from(failed)))
    })
}

/// Prints the table of image × cause.
pub(crate) fn fleet(arguments: &FleetArguments) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let looker = looker(&arguments.cluster, false, false).await?;
        let table = looker.fleet().await.map_err(|failed| of(&failed))?;
        report_old_record(&looker).await;
        let around = show_fleet::Surroundings {
            has_versions: looker.has_versions().await,
            nodes: looker.nodes_without_provider_id().await,
        };
        print(show_fleet::show(arguments.output, &table, &around)?.as_bytes())
    })
}

/// Warns about a record of an earlier version that no controller has taken over.
#[expect(clippy::print_stderr, reason = "a warning next to the answer")]
async fn report_old_record(looker: &Looker) {
    if let Some(failures) = looker.old_failures().await {
        eprintln!(
            "warning: namespace {LEGACY_NAMESPACE} has a failure record of an earlier version ({failures} failures), which is not shown\nhint: `mooring controller` takes it over when it leads; `--namespace {LEGACY_NAMESPACE}` shows it"
        );
    }
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

pub(crate) async fn looker(
    arguments: &ClusterArguments,
    run_command: bool,
    needs_azure: bool,
) -> Result<Looker, Failure> {
    // A person waits, so all of Azure's limits may be used.
    let arm = connect::azure(arguments.arm_endpoint.as_ref(), Limits::default())?;
    let scope = if needs_azure { connect::scope(&arm, arguments).await? } else { Scope::default() };
    Ok(Looker {
        api: Some(Api::new(connect::kubernetes(arguments).await?)),
        arm,
        scope,
        namespace: arguments.namespace.clone(),
        condition_type: Settings::default().condition_type,
        now: Timestamp::now(),
        run_command,
        say: progress,
    })
}

/// Prints what is waited for, beside the result.
#[expect(clippy::print_stderr, reason = "progress for the one who waits")]
fn progress(text: &str) {
    eprintln!("{}", mooring_redact::printable(text));
}

pub(crate) fn of(failed: &Failed) -> Failure {
    match failed {
        Failed::Azure(error) => Failure::azure(error),
        Failed::NotFound(_) => Failure::usage(failed.to_string()),
        other => Failure::unreadable(other.to_string()),
    }
}
