//! `mooring why` and `mooring fleet`.

use std::process::ExitCode;

use jiff::Timestamp;
use mooring_arm::Limits;
use mooring_controller::query::{NodeQuery, QueryError};
use mooring_controller::run::Api;
use mooring_controller::{LEGACY_NAMESPACE, Scope, Settings};

use crate::cluster_args::{ClusterArguments, FleetArguments, ReportFormat, WhyArguments};
use crate::connect;
use crate::failure::Failure;
use crate::runs::build_runtime;
use crate::show::{self, print};
use crate::{show_fleet, show_why};

/// Exits with 1 if a node failed.
pub(crate) fn why(arguments: &WhyArguments) -> Result<ExitCode, Failure> {
    build_runtime()?.block_on(async {
        let query = node_query(&arguments.cluster, arguments.run_command, true).await?;
        let mut reports = query.why(&arguments.what).await.map_err(|error| to_failure(&error))?;
        query.add_earlier(&mut reports).await;
        report_old_record(&query).await;
        // Without the failure record only the context is missing.
        let fleet = query.fleet().await.unwrap_or_default();
        let lost = query.nodes_without_provider_id().await;
        let text = show_why::show(arguments.output, &arguments.what, &reports, &fleet, &lost)?;
        print(text.as_bytes())?;
        let failed = reports.iter().any(mooring_controller::query::NodeReport::is_failed);
        Ok(ExitCode::from(u8::from(failed)))
    })
}

/// Prints schema mooring.fleet/v1.
pub(crate) fn fleet(arguments: &FleetArguments) -> Result<(), Failure> {
    build_runtime()?.block_on(async {
        let query = node_query(&arguments.read.cluster, false, false).await?;
        let table = query.fleet().await.map_err(|error| to_failure(&error))?;
        report_old_record(&query).await;
        let state = show_fleet::ClusterState {
            has_versions: query.has_versions().await,
            nodes_without_provider_id: query.nodes_without_provider_id().await,
        };
        print(show_fleet::show(ReportFormat::Json, &table, &state)?.as_bytes())
    })
}

/// Warns about a failure record of an earlier version that no controller has adopted.
async fn report_old_record(query: &NodeQuery) {
    if let Some(failures) = query.old_failures().await {
        show::print_warning(&format!(
            "namespace {LEGACY_NAMESPACE} has a failure record of an earlier version ({failures} failures), which is not shown\nhint: `mooring controller` adopts it when it becomes leader; `--namespace {LEGACY_NAMESPACE}` shows it"
        ));
    }
}

pub(crate) async fn node_query(
    arguments: &ClusterArguments,
    run_command: bool,
    needs_azure: bool,
) -> Result<NodeQuery, Failure> {
    // Interactive: may use all of Azure's rate limits.
    let arm = connect::azure_client(arguments.arm_endpoint.as_ref(), Limits::default())?;
    let scope =
        if needs_azure { connect::read_scope(&arm, arguments).await? } else { Scope::default() };
    Ok(NodeQuery {
        api: Some(Api::new(connect::connect_cluster(arguments).await?.client)),
        arm,
        scope,
        namespace: connect::named_namespace(arguments)
            .unwrap_or_else(|| crate::cluster::NAMESPACE.to_owned()),
        condition_type: Settings::default().condition_type,
        now: Timestamp::now(),
        run_command,
        progress: show::print_note,
    })
}

pub(crate) fn to_failure(error: &QueryError) -> Failure {
    match error {
        QueryError::Azure(azure) => Failure::azure(azure),
        QueryError::NotFound(_) => Failure::usage(error.to_string()),
        other => Failure::io(other.to_string()),
    }
}
