//! Documents of the release before, printed with `--schema` for one release: mooring.why/v1 and mooring.fleet/v1.

mod fleet;
mod why;

use jiff::Timestamp;
use mooring_arm::Limits;
use mooring_controller::query::{NodeQuery, NodeReport};
use mooring_controller::run::Api;
use mooring_controller::{Scope, Settings};
use std::process::ExitCode;

use crate::answers::arguments::{FleetArguments, WhyArguments};
use crate::arguments::ClusterArguments;
use crate::cluster::connect;
use crate::output::failure::Failure;
use crate::output::show;
use crate::output::{AnswerFormat, print_document};
use crate::process::build_runtime;

use why::document as why_document;

/// Exits with 1 if a node failed.
pub(crate) fn why(arguments: &WhyArguments) -> Result<ExitCode, Failure> {
    let what = arguments.what.as_deref().ok_or_else(|| {
        Failure::usage("mooring.why/v1 requires the name of a node or pool".to_owned())
    })?;
    build_runtime()?.block_on(async {
        let query =
            node_query(&arguments.read.sources.cluster, arguments.run_command, true).await?;
        let mut reports = query.why(what).await.map_err(|error| Failure::query(&error))?;
        query.add_earlier(&mut reports).await;
        // Without the failure record only the context is missing.
        let fleet = query.fleet().await.unwrap_or_default();
        let lost = query.nodes_without_provider_id().await;
        let group = &query.scope.node_resource_group;
        let document = why_document(what, &reports, &fleet, &lost, group);
        print_document(&document, arguments.output == AnswerFormat::Yaml)?;
        Ok(ExitCode::from(u8::from(reports.iter().any(NodeReport::is_failed))))
    })
}

/// Prints schema mooring.fleet/v1.
pub(crate) fn fleet(arguments: &FleetArguments) -> Result<(), Failure> {
    build_runtime()?.block_on(async {
        let query = node_query(&arguments.read.sources.cluster, false, false).await?;
        let table = query.fleet().await.map_err(|error| Failure::query(&error))?;
        let lost = query.nodes_without_provider_id().await;
        let document = fleet::document(&table, query.has_versions().await, &lost);
        print_document(&document, arguments.output == AnswerFormat::Yaml)
    })
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
        namespace: connect::named_namespace(arguments, None)
            .unwrap_or_else(|| crate::cluster::NAMESPACE.to_owned()),
        condition_type: Settings::default().condition_type,
        now: Timestamp::now(),
        run_command,
        progress: show::print_note,
    })
}
