//! The reads of both documents.

use jiff::Timestamp;
use mooring_arm::BudgetLimits;
use mooring_controller::Settings;
use mooring_controller::query::NodeQuery;
use mooring_controller::run::Api;
use mooring_nodes::Scope;

use crate::arguments::ClusterArguments;
use crate::cluster::connect;
use crate::output::failure::CommandFailure;
use crate::output::show;

pub(super) async fn node_query(
    arguments: &ClusterArguments,
    run_command: bool,
    needs_azure: bool,
) -> Result<NodeQuery, CommandFailure> {
    // Interactive: may use all of Azure's rate limits.
    let arm = connect::azure_client(arguments.arm_endpoint.as_ref(), BudgetLimits::default())?;
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
