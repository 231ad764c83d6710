//! The operator of a command, with the flags that select it and the target of its changes.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use mooring_arm::{BudgetLimits, Client};
use mooring_repair::plan::Plan;
use mooring_repair::runtime::{CredentialSource, Operator};
use mooring_repair::settings::Settings;
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::plural::counted;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName, SourceState};
use tokio::time::{Instant, timeout_at};

use super::arguments::TargetArguments;
use super::context::ContextCluster;
use crate::cluster::{AzureLimit, connect::azure_client};
use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::process::build_runtime;
use crate::workflows::runs::{ReadLimit, Signals, confirm, confirm_protected, write_screen};

/// Limit of all ways to sign in.
const SIGN_IN: Duration = Duration::from_secs(10);

pub(crate) struct RepairSession<'a> {
    pub(crate) operator: Operator,
    pub(crate) signals: Signals,
    pub(crate) target: &'a TargetArguments,
    /// The context whose changes are confirmed on a terminal, also if flags approve them.
    protected: Option<&'a str>,
    pub(crate) limit: Option<ReadLimit>,
}

pub(crate) fn with_session(
    target: &TargetArguments,
    limit: Option<ReadLimit>,
    context: Option<&ContextCluster>,
    settings: Settings,
    act: impl AsyncFnOnce(&mut RepairSession<'_>) -> Result<u8, CommandFailure>,
) -> Result<u8, CommandFailure> {
    let client = azure_client(None, BudgetLimits::default())?;
    let runtime = build_runtime()?;
    if let Some(limit) = limit {
        let sign_in =
            async { AzureLimit::start_required(SIGN_IN.min(limit.timeout)).sign_in(&client).await };
        runtime.block_on(sign_in)?;
    }
    let end = limit.map(|limit| Instant::now() + limit.timeout);
    runtime.block_on(ReadLimit::apply(limit, "Azure or the Kubernetes API", async {
        // With a context, credentials are those of its cluster in Azure.
        let file = target.kubeconfig.as_deref().filter(|_| !target.has_context());
        if let Some(context) = context {
            let (mut by_azure, _) = operator(&client, None, settings.clone())?;
            context.compare(by_azure.identity().await.uid.as_deref())?;
        }
        let (operator, signals) = operator(&client, file, settings)?;
        let protected = context.and_then(ContextCluster::protected);
        let mut session = RepairSession { operator, signals, target, protected, limit };
        let (Some(limit), Some(end)) = (limit, end) else { return act(&mut session).await };
        let done = timeout_at(end, act(&mut session)).await;
        done.unwrap_or_else(|_| Err(limit.late(&unanswered(&session.operator.sources()))))
    }))
}

fn operator(
    client: &Client,
    kubeconfig: Option<&Path>,
    settings: Settings,
) -> Result<(Operator, Signals), CommandFailure> {
    let access =
        kubeconfig.map_or(CredentialSource::Azure, |path| CredentialSource::File(path.to_owned()));
    let (signals, stopped) = Signals::channel();
    let operator = Operator::new(client, access, settings, Rc::new(Timestamp::now), stopped)
        .map_err(|error| CommandFailure::usage(error.to_string()))?;
    Ok((operator, signals))
}

/// Returns the services that have not answered.
fn unanswered(sources: &[Source]) -> String {
    let silent = sources.iter().filter(|source| source.state != SourceState::Read);
    let names = silent.map(|source| match source.name {
        SourceName::Cluster => "the Kubernetes API",
        other => other.as_str(),
    });
    let names: Vec<_> = names.collect();
    if names.is_empty() { "Azure or the Kubernetes API".to_owned() } else { names.join(" and ") }
}

impl RepairSession<'_> {
    /// Returns the flags of a further command on the same pool.
    pub(crate) fn flags(&self) -> String {
        self.target.repeated(&self.operator.settings().target.pool)
    }

    /// Prompts for `CLUSTER/POOL`.
    pub(crate) fn ask(&self, unattended: &str) -> Result<(), CommandFailure> {
        confirm(&self.typed_name(), &format!("mooring repair {unattended}"))
    }

    /// Prompts for `CLUSTER/POOL` although flags approve the change, if its context is protected.
    pub(crate) fn ask_protected(&self) -> Result<(), CommandFailure> {
        self.protected.map_or(Ok(()), |context| confirm_protected(&self.typed_name(), context))
    }

    fn typed_name(&self) -> String {
        let target = &self.operator.settings().target;
        format!("{}/{}", target.cluster, target.pool)
    }

    /// Returns what a document says of the cluster and its sources; a screen needs no further read.
    pub(crate) async fn about(&mut self, format: AnswerFormat) -> (ClusterIdentity, [Source; 2]) {
        let identity = if format.is_document() {
            self.operator.identity().await
        } else {
            ClusterIdentity::default()
        };
        (identity, self.operator.sources())
    }

    /// Shows what a command changes, and where. `what` is a sentence without its end, `plan` has the counts of nodes and
    /// pods.
    pub(crate) async fn show_target(&mut self, what: &str, plan: Option<&Plan>) {
        let identity = self.operator.identity().await;
        let target = &self.operator.settings().target;
        let counts = plan.map(|plan| {
            let count = |number: Option<usize>, what: &str| {
                number.map_or_else(|| format!("an unknown number of {what}s"), |n| counted(n, what))
            };
            format!(" ({}, {})", count(plan.nodes, "node"), count(plan.pods, "pod"))
        });
        let mut screen = Screen::default();
        let pool = Text::new(format!("{what} pool ")).bold(&target.pool);
        screen.marked(Mark::Warning, pool.plain(counts.unwrap_or_default()).plain(" in"));
        let region = plan.map(|plan| plan.region.as_deref().unwrap_or("region unknown"));
        let region = region.map(|region| format!(", {region}")).unwrap_or_default();
        let cluster = Text::default().bold(&target.cluster).plain(format!(
            "{region}, resource group {}, subscription {}",
            target.resource_group, target.subscription
        ));
        let server = identity.server.as_deref().unwrap_or("unknown");
        let access = match &identity.context {
            Some(context) => format!("context {context}"),
            None => "credentials from Azure".to_owned(),
        };
        screen.labeled(2, 10, "cluster", [cluster]);
        screen.labeled(2, 10, "server", [Text::new(format!("{server} ({access})"))]);
        if identity.uid.is_none() {
            let why = "the uid of kube-system could not be read, so the plan is not bound to this cluster";
            screen.labeled(2, 10, "warning", [Text::new(why)]);
        }
        write_screen(&screen);
    }
}
