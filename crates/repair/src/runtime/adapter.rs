//! Azure and Kubernetes for the engine.

use jiff::Timestamp;
use mooring_workflow::live::Adapter;
use mooring_workflow::{EffectResult, Reading};

use super::azure::AzureRuntime;
use super::kubernetes::ClusterApi;
use crate::observation::{Answer, Query};
use crate::workflow::PoolRepair;
use crate::workflow::effects::Effect;

pub(super) struct Services {
    pub(super) azure: AzureRuntime,
    pub(super) kube: ClusterApi,
}

impl Adapter<PoolRepair> for Services {
    async fn read(&mut self, query: &Query, now: Timestamp) -> Answer {
        read(&mut self.azure, Ok(&self.kube), query, now).await
    }

    async fn perform(&mut self, effect: &Effect, now: Timestamp) -> EffectResult {
        match effect {
            Effect::AbortOperation { scope, operation, .. } => {
                self.azure.abort(scope, operation, now).await
            }
            Effect::PutPool { pool, body, only } => {
                self.azure.put_pool(pool, body, only.as_ref()).await
            }
            Effect::DeletePool { pool, if_match } => {
                self.azure.delete_pool(pool, if_match.as_deref()).await
            }
            Effect::Cordon { node, uid } => self.kube.set_unschedulable(node, uid, true).await,
            Effect::Uncordon { node, uid } => self.kube.set_unschedulable(node, uid, false).await,
            Effect::Evict { namespace, pod, uid } => self.kube.evict(namespace, pod, uid).await,
            Effect::DeletePod { namespace, pod, uid, .. } => {
                self.kube.delete_pod(namespace, pod, uid).await
            }
            Effect::TagCluster { name, value } => self.azure.tag(name, value).await,
        }
    }
}

/// Reads from Azure or Kubernetes.
pub(super) async fn read(
    azure: &mut AzureRuntime,
    kube: Result<&ClusterApi, &String>,
    query: &Query,
    now: Timestamp,
) -> Answer {
    if let Some(answer) = azure.observe(query, now).await {
        return answer;
    }
    match query {
        Query::Uid => Answer::Uid(ask(kube, ClusterApi::uid).await),
        Query::Pods => Answer::Pods(ask(kube, ClusterApi::pods).await),
        Query::Pdbs => Answer::Pdbs(ask(kube, ClusterApi::pdbs).await),
        Query::Replicas(workload) => {
            let replicas = ask(kube, async |kube| kube.replicas(workload).await);
            Answer::Replicas(workload.clone(), replicas.await)
        }
        _ => Answer::Nodes(azure.own(ask(kube, ClusterApi::nodes).await).await),
    }
}

async fn ask<T>(
    kube: Result<&ClusterApi, &String>,
    read: impl AsyncFnOnce(&ClusterApi) -> Reading<T>,
) -> Reading<T> {
    match kube {
        Ok(kube) => read(kube).await,
        Err(why) => Reading::Failed(why.clone()),
    }
}
