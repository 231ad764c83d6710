//! Results of Azure for commands that show the cluster again and again.

use std::time::Duration;

use mooring_nodes::{AksPool, ClusterFacts};
use mooring_workflow::Reading;
use mooring_workflow::published::Source;
use tokio::time::Instant;

use super::azure::{ConnectedCluster, Reports, VmRequest};
use crate::arguments::SourceArguments;
use crate::output::failure::CommandFailure;

/// Results of the last read of Azure, which is read less often than the cluster.
#[derive(Default)]
pub(crate) struct AzureResults {
    pub(crate) read_at: Option<Instant>,
    pub(crate) reports: Reports,
    pub(crate) source: Option<Source>,
    pools: Reading<Vec<AksPool>>,
    /// What Azure said of each node, by uid.
    nodes: Vec<(String, Reading<()>)>,
}

impl AzureResults {
    /// Reads Azure after a pause, and adds the last results before its end. Returns true if Azure was read.
    pub(crate) async fn refresh(
        &mut self,
        cluster: &mut ConnectedCluster,
        arguments: &SourceArguments,
        request: impl Fn(&ClusterFacts) -> VmRequest,
        pause: Duration,
    ) -> Result<bool, CommandFailure> {
        if self.read_at.is_some_and(|at| at.elapsed() < pause) {
            self.restore(&mut cluster.facts);
            return Ok(false);
        }
        let request = request(&cluster.facts);
        self.reports = cluster.ask_azure(arguments, &request).await?;
        self.source = cluster.facts.sources.last().cloned();
        let inventory = &cluster.facts.inventory;
        self.pools = inventory.aks_pools_read();
        let asked = inventory.nodes.iter().filter(|node| node.azure != Reading::NotAsked);
        self.nodes = asked.map(|node| (node.uid.clone(), node.azure.clone())).collect();
        self.read_at = Some(Instant::now());
        Ok(true)
    }

    pub(crate) fn restore(&self, facts: &mut ClusterFacts) {
        for (uid, report) in &self.reports {
            facts.inventory.add_report(uid, report);
        }
        for (uid, azure) in &self.nodes {
            facts.inventory.set_azure(uid, azure.clone());
        }
        facts.inventory.set_aks_pools(self.pools.clone());
        if let (Some(last), Some(source)) = (facts.sources.last_mut(), &self.source) {
            *last = source.clone();
        }
    }
}
