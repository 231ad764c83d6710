//! Azure and Kubernetes for checks and runs.

use std::cell::{OnceCell, RefCell};

use jiff::Timestamp;
use mooring_workflow::published::{Source, SourceName};
use mooring_workflow::{Clock, EffectResult, Reading};

use super::azure::AzureRuntime;
use super::credentials::{self, ApiUnavailable, CredentialSource};
use super::kubernetes::ClusterApi;
use crate::observation::{
    ActivityEvent, AksOperation, Instance, ManagedCluster, Nic, Node, Pdb, Pod, Pool, Replicas,
    ScaleSet,
};
use crate::workflow::Services;
use crate::workflow::effects::Effect;

/// The services of one cluster. The Kubernetes API is connected to once it is needed.
#[derive(Clone)]
pub(super) struct LiveServices {
    pub(super) azure: AzureRuntime,
    pub(super) access: CredentialSource,
    kube: OnceCell<Result<ClusterApi, ApiUnavailable>>,
    clock: Clock,
    /// Reads of the cluster and of Azure.
    sources: RefCell<[Source; 2]>,
}

impl LiveServices {
    pub(super) fn new(azure: AzureRuntime, access: CredentialSource, clock: Clock) -> Self {
        let sources = RefCell::new([SourceName::Cluster, SourceName::Azure].map(Source::new));
        Self { azure, access, kube: OnceCell::new(), clock, sources }
    }

    pub(super) fn sources(&self) -> [Source; 2] {
        self.sources.borrow().clone()
    }

    pub(super) async fn kube(&self) -> Result<ClusterApi, ApiUnavailable> {
        if let Some(kube) = self.kube.get() {
            return kube.clone();
        }
        let azure = &self.azure;
        let connected =
            credentials::connect(&self.access, azure.client(), azure.cluster_id()).await;
        self.kube.get_or_init(|| connected.map(ClusterApi)).clone()
    }

    /// Adds a read to those of the cluster.
    pub(super) async fn of_kubernetes<T>(
        &self,
        read: impl AsyncFnOnce(&ClusterApi) -> Reading<T>,
    ) -> Reading<T> {
        let kube = self.kube().await;
        let began = self.now();
        let reading = match &kube {
            Ok(kube) => read(kube).await,
            Err(unreached) => Reading::Failed(unreached.why().to_owned()),
        };
        self.add(SourceName::Cluster, began, reading.error());
        reading
    }

    async fn of_azure<T>(&self, read: impl Future<Output = Reading<T>>) -> Reading<T> {
        let began = self.now();
        let reading = read.await;
        self.add(SourceName::Azure, began, reading.error());
        reading
    }

    pub(super) fn add(&self, source: SourceName, began: Timestamp, error: Option<String>) {
        let at = usize::from(source == SourceName::Azure);
        self.sources.borrow_mut()[at].add(began, self.now(), error);
    }
}

impl Services for LiveServices {
    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    async fn cluster(&self) -> Reading<ManagedCluster> {
        self.of_azure(self.azure.read_cluster()).await
    }

    async fn pools(&self) -> Reading<Vec<Pool>> {
        self.of_azure(self.azure.pools()).await
    }

    async fn scale_sets(&self) -> Reading<Vec<ScaleSet>> {
        self.of_azure(self.azure.scale_sets()).await
    }

    async fn instances(&self, set: &str) -> Reading<Vec<Instance>> {
        self.of_azure(self.azure.instances(set)).await
    }

    async fn nics(&self, set: &str) -> Reading<Vec<Nic>> {
        self.of_azure(self.azure.nics(set)).await
    }

    async fn events(&self) -> Reading<Vec<ActivityEvent>> {
        self.of_azure(self.azure.events(self.now())).await
    }

    async fn latest_operation(&self) -> Reading<Option<AksOperation>> {
        self.of_azure(self.azure.latest_operation()).await
    }

    async fn operation(&self, token: &str) -> Reading<Vec<String>> {
        self.of_azure(self.azure.operation(token)).await
    }

    async fn uid(&self) -> Reading<String> {
        self.of_kubernetes(ClusterApi::uid).await
    }

    async fn nodes(&self) -> Reading<Vec<Node>> {
        let own = async |kube: &ClusterApi| self.azure.own(kube.nodes().await).await;
        self.of_kubernetes(own).await
    }

    async fn pods(&self) -> Reading<Vec<Pod>> {
        self.of_kubernetes(ClusterApi::pods).await
    }

    async fn pdbs(&self) -> Reading<Vec<Pdb>> {
        self.of_kubernetes(ClusterApi::pdbs).await
    }

    async fn replicas(&self, workload: &str) -> Reading<Replicas> {
        self.of_kubernetes(async |kube: &ClusterApi| kube.replicas(workload).await).await
    }

    async fn perform(&self, effect: &Effect) -> EffectResult {
        let (azure, kube) = (&self.azure, self.kube().await);
        match (effect, kube) {
            (Effect::AbortOperation { scope, operation, .. }, _) => {
                azure.abort(scope, operation, self.now()).await
            }
            (Effect::PutPool { pool, body, only }, _) => {
                azure.put_pool(pool, body, only.as_ref()).await
            }
            (Effect::DeletePool { pool, if_match }, _) => {
                azure.delete_pool(pool, if_match.as_deref()).await
            }
            (Effect::TagCluster { name, value }, _) => azure.tag(name, value).await,
            (_, Err(unreached)) => EffectResult::Unknown { why: unreached.why().to_owned() },
            (Effect::Cordon { node, uid }, Ok(kube)) => {
                kube.set_unschedulable(node, uid, true).await
            }
            (Effect::Uncordon { node, uid }, Ok(kube)) => {
                kube.set_unschedulable(node, uid, false).await
            }
            (Effect::Evict { namespace, pod, uid }, Ok(kube)) => {
                kube.evict(namespace, pod, uid).await
            }
            (Effect::DeletePod { namespace, pod, uid, .. }, Ok(kube)) => {
                kube.delete_pod(namespace, pod, uid).await
            }
        }
    }
}
