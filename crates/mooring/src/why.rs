//! `mooring why` and `mooring fleet`: one look, told.

use std::process::ExitCode;

use jiff::Timestamp;
use mooring_arm::Limits;
use mooring_controller::Settings;
use mooring_controller::once::{Failed, Looker};
use mooring_controller::run::Api;

use crate::cluster_cli::{ClusterArguments, FleetArguments, WhyArguments};
use crate::connect::{self, Place};
use crate::failure::Failure;
use crate::show::print;
use crate::{show_fleet, show_why};

/// Says why; exits with 1 if a node failed.
pub(crate) fn why(arguments: &WhyArguments) -> Result<ExitCode, Failure> {
    runtime()?.block_on(async {
        let looker = looker(&arguments.cluster, arguments.run_command, true).await?;
        let told = looker.why(&arguments.what).await.map_err(|failed| of(&failed))?;
        // Without the record there is no context, which is no reason to tell nothing.
        let fleet = looker.fleet().await.unwrap_or_default();
        let text = show_why::show(arguments.output, &arguments.what, &told, &fleet)?;
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
        print(show_fleet::show(arguments.output, &table)?.as_bytes())
    })
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
    let place = if needs_azure { connect::place(&arm, arguments).await? } else { Place::default() };
    let (subscription, node_resource_group) = match (place.subscription, place.node_resource_group)
    {
        (Some(subscription), Some(group)) => (subscription, group),
        _ if !needs_azure => (String::new(), String::new()),
        _ => {
            return Err(Failure::usage(
                "which cluster?\nhint: `--subscription`, `--resource-group` and `--cluster` name it, or SUBSCRIPTION_ID, RESOURCE_GROUP and CLUSTER_NAME".to_owned(),
            ));
        }
    };
    Ok(Looker {
        api: Some(Api::new(connect::kubernetes(arguments).await?)),
        arm,
        subscription,
        node_resource_group,
        namespace: arguments.namespace.clone(),
        condition_type: Settings::default().condition_type,
        now: Timestamp::now(),
        run_command,
    })
}

pub(crate) fn of(failed: &Failed) -> Failure {
    match failed {
        Failed::Azure(error) => Failure::azure(error),
        Failed::NotFound(_) => Failure::usage(failed.to_string()),
        other => Failure::unreadable(other.to_string()),
    }
}
