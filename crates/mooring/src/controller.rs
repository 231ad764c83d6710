//! `mooring controller`.

use std::io::{self, IsTerminal as _, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use mooring_arm::Client;
use mooring_controller::Settings;
use mooring_controller::metrics::Metrics;
use mooring_controller::metrics::log;
use mooring_controller::run::{Api, Clock, Controller, Health, Pages, ViewRequest};
use mooring_controller::schedule::controller_limits;
use mooring_k8s::Times;
use mooring_nodes::Scope;
use mooring_page::{Live, PageAccess, serve_texts};
use mooring_workflow::published::ClusterIdentity;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::arguments::ClusterArguments;
use crate::cluster::{NodesCluster, by_group_name, find_cluster};
use crate::cluster::{config, connect};
use crate::output::failure::CommandFailure;
use crate::process::{build_server_runtime, stop_signal};
use crate::ui::feed::{self, Feed};

pub(crate) const CONTROLLER_HELP: &str = "\
Before Karpenter deletes a NodeClaim whose bootstrap failed, the controller
sets its condition CSEProvisioned, creates events on the NodeClaim and its
NodePool, and stores the failure in the ConfigMap mooring-failures. It reads
Azure only for nodes that have not joined yet. Replicas are leader-elected with
the Lease mooring.

Examples:
  mooring controller --context prod
  mooring controller --resource-group rg --cluster prod
  mooring-lab sim --scenario oras-missing --kube-port 0 --state demo &
  . demo/env.sh; mooring controller

With a kubeconfig, the cluster in Azure is found from the nodes if no flag or
variable names it. A pod requires a name.

Logs are lines on stderr: JSON, or text on a terminal. SIGTERM stops the
controller: it finishes started writes and releases the Lease.

Permissions: charts/mooring/files/rules.yaml for Kubernetes, docs/SECURITY.md
for Azure.";

#[derive(Debug, Args)]
pub(crate) struct ControllerArguments {
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Address of /metrics
    #[arg(long, value_name = "ADDRESS", default_value = ":8080")]
    pub(crate) metrics_address: String,
    /// Address of /healthz and /readyz
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub(crate) health_address: String,
    /// Loopback address of the live page, or off
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8082")]
    pub(crate) page_address: String,
    /// Format of the log [default: text on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) log_format: Option<LogFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Writes lines to stderr without terminal control characters. JSON has them as escapes.
struct PrintableStderr;

impl Write for PrintableStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = mooring_redact::printable_lines(&String::from_utf8_lossy(line));
        io::stderr().write_all(text.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

pub(crate) fn controller(arguments: &ControllerArguments) -> Result<(), CommandFailure> {
    let level = match std::env::var("MOORING_LOG").as_deref() {
        Ok("debug") => log::Level::DEBUG,
        Ok("warn") => log::Level::WARN,
        _ => log::Level::INFO,
    };
    // `--verbose` sets no subscriber for this command; a second one cannot be set.
    let is_text = match arguments.log_format {
        Some(format) => format == LogFormat::Text,
        None => io::stderr().is_terminal(),
    };
    let _ = if is_text {
        tracing::subscriber::set_global_default(log::text_lines(|| PrintableStderr, level))
    } else {
        tracing::subscriber::set_global_default(log::subscriber(io::stderr, level))
    };
    build_server_runtime()?.block_on(run(arguments))
}

async fn run(arguments: &ControllerArguments) -> Result<(), CommandFailure> {
    let stop = stop_signal()?;
    let docs = config::docs_url()?;
    let connection = connect::connect_cluster(&arguments.cluster).await?;
    let kube = connection.client.clone();
    let arm = connect::azure_client(arguments.cluster.arm_endpoint.as_ref(), controller_limits())?;
    let metrics_at = listen("--metrics-address", &arguments.metrics_address).await?;
    let health_at = listen("--health-address", &arguments.health_address).await?;
    let page_at = listen_page(&arguments.page_address).await?;
    let (metrics_on, health_on) = (metrics_at.local_addr()?, health_at.local_addr()?);
    // Confines which VMs are read, since NodeClaims can name any; required.
    let scope = if connection.context.is_some() && !connect::is_named(&arguments.cluster) {
        scope_of_nodes(&arm, &kube).await?
    } else {
        connect::read_scope(&arm, &arguments.cluster).await?
    };
    let clock: Clock = Arc::new(Timestamp::now);
    let (metrics, health) = (Arc::new(Metrics::new()), Arc::new(Health::new(clock())));
    let probes = Pages::Probes(Arc::clone(&health), Arc::clone(&clock));
    let serve =
        |at, pages: Pages| tokio::spawn(serve_texts(at, move |path: &str| pages.page(path)));
    let pages = [serve(metrics_at, Pages::Metrics(Arc::clone(&metrics))), serve(health_at, probes)];
    let controller = Controller {
        kube,
        arm,
        clock,
        settings: Settings { instance: instance(), scope, docs, ..Settings::default() },
        namespace: connect::named_namespace(&arguments.cluster, None)
            .unwrap_or_else(|| crate::cluster::NAMESPACE.to_owned()),
        times: Times::default(),
        metrics,
        health,
    };
    let (views, requests) = mpsc::channel(1);
    let page_on = page_at.as_ref().and_then(|listener| listener.local_addr().ok());
    let mut page = JoinSet::new();
    if let Some(listener) = page_at {
        let live = Arc::new(Live::default());
        let named = connect::named_cluster(&arguments.cluster.name, None).cluster;
        let of_nodes = || by_group_name(&controller.settings.scope).map(|id| id.name().to_owned());
        let identity = ClusterIdentity {
            name: named.or_else(of_nodes).or(connection.cluster),
            id: controller.settings.scope.cluster.clone(),
            context: connection.context,
            server: Some(connection.server),
            uid: None,
        };
        page.spawn(feed::follow(Arc::clone(&live), feed(&controller, identity, views)));
        page.spawn(mooring_page::serve(listener, live, PageAccess::Port));
    }
    tracing::info!(
        instance = controller.settings.instance,
        version = crate::about::version::SHORT,
        commit = env!("MOORING_COMMIT"),
        metrics = %metrics_on,
        health = %health_on,
        page = page_on.map(tracing::field::display),
        "starting controller"
    );
    controller.run_viewed(stop, requests).await;
    pages.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(())
}

/// Finds the part of Azure that may be read from the nodes. A pod is configured instead.
async fn scope_of_nodes(arm: &Client, kube: &kube::Client) -> Result<Scope, CommandFailure> {
    let nodes = NodesCluster::read(&Api::new(kube.clone())).await?;
    let scope = nodes.scope.ok_or_else(connect::no_cluster)?;
    // It is needed for AKS Machines only.
    let found = find_cluster(arm, &scope).await.ok().flatten();
    let cluster = found.map(|found| found.id.as_str().to_owned());
    tracing::info!(
        subscription = scope.subscription,
        resourceGroupName = scope.node_resource_group,
        cluster,
        "found the cluster from its nodes"
    );
    Ok(Scope { cluster, ..scope })
}

fn feed(
    controller: &Controller,
    identity: ClusterIdentity,
    views: mpsc::Sender<ViewRequest>,
) -> Feed {
    Feed {
        client: controller.kube.clone(),
        api: Api::new(controller.kube.clone()),
        views,
        clock: Arc::clone(&controller.clock),
        health: Arc::clone(&controller.health),
        namespace: controller.namespace.clone(),
        instance: controller.settings.instance.clone(),
        identity,
        docs: controller.settings.docs.clone(),
    }
}

/// Binds the address of the page; none if it is off. The controller works without it, so a port in use is not an error.
async fn listen_page(text: &str) -> Result<Option<TcpListener>, CommandFailure> {
    if text == "off" {
        return Ok(None);
    }
    let address: SocketAddr = text.parse().map_err(|_| {
        CommandFailure::usage(format!(
            "--page-address {text}: invalid address\nhint: use an address such as 127.0.0.1:8082, or off"
        ))
    })?;
    if !address.ip().is_loopback() {
        return Err(CommandFailure::usage(format!(
            "--page-address {text}: not a loopback address, and the page has no other protection\nhint: `mooring ui` and `kubectl port-forward` reach 127.0.0.1 of the pod"
        )));
    }
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(Some(listener)),
        Err(error) => {
            tracing::warn!(%address, why = %error, "cannot listen; the live page is off");
            Ok(None)
        }
    }
}

/// Binds an address. `:8080` means all interfaces, as in other Prometheus exporters.
async fn listen(flag: &str, text: &str) -> Result<TcpListener, CommandFailure> {
    let whole = if text.starts_with(':') { format!("0.0.0.0{text}") } else { text.to_owned() };
    let address: SocketAddr = whole.parse().map_err(|_| {
        CommandFailure::usage(format!(
            "{flag} {text}: invalid address\nhint: use an address such as :8080 or 127.0.0.1:8080"
        ))
    })?;
    TcpListener::bind(address).await.map_err(|error| {
        CommandFailure::io(format!(
            "cannot listen on {address}: {error}\nhint: `{flag} 127.0.0.1:0` picks a free port"
        ))
    })
}

/// Returns a name that is unique per process: two processes with one name would both be leader.
fn instance() -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let host = variable("POD_NAME").or_else(|| variable("HOSTNAME"));
    format!("{}-{}", host.as_deref().unwrap_or("mooring"), std::process::id())
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn page_listens_on_the_loopback_interface_only() {
        let listener = super::listen_page("127.0.0.1:0").await.unwrap().unwrap();
        assert!(super::listen_page("off").await.unwrap().is_none());
        for address in ["0.0.0.0:0", ":8082", "10.0.0.1:1", "[::]:0"] {
            let error = super::listen_page(address).await.unwrap_err();
            assert!(error.text().starts_with("--page-address "), "{}", error.text());
        }
        let used = listener.local_addr().unwrap().to_string();
        assert!(
            super::listen_page(&used).await.unwrap().is_none(),
            "the controller runs without it"
        );
    }

    #[test]
    fn instance_name_contains_the_process_id() {
        let name = super::instance();
        let (host, process) = name.rsplit_once('-').unwrap();
        assert!(!host.is_empty());
        assert_eq!(process, std::process::id().to_string());
    }
}
