//! The services of a repair over the network: Azure by `arm`, Kubernetes by raw requests.

use std::cell::{Cell, OnceCell, RefCell};

use jiff::{SignedDuration, Timestamp};
use mooring_arm::{Priority, ResourceId, ResourceIdError};
use mooring_workflow::published::{Source, SourceName};
use mooring_workflow::{Clock, EffectResult, Reading};

use super::credentials::{self, ApiUnavailable, CredentialSource};
use super::kubernetes::ClusterApi;
use super::responses::{is_unavailable, listed, read};
use crate::observation::{
    ActivityEvent, AksOperation, Instance, ManagedCluster, Nic, Node, Pdb, Pod, Pool, Replicas,
    ScaleSet,
};
use crate::settings::Settings;
use crate::workflow::Services;
use crate::workflow::effects::Effect;

/// The services of one cluster. The Kubernetes API is connected to once it is needed.
#[derive(Clone)]
pub(super) struct LiveServices {
    pub(super) client: mooring_arm::Client,
    pub(super) cluster: ResourceId,
    /// Window of failed writes.
    pub(super) window: Cell<SignedDuration>,
    /// Last read of the cluster.
    pub(super) last: RefCell<Option<ManagedCluster>>,
    pub(super) access: CredentialSource,
    kube: OnceCell<Result<ClusterApi, ApiUnavailable>>,
    clock: Clock,
    /// Reads of the cluster and of Azure.
    sources: RefCell<[Source; 2]>,
}

impl LiveServices {
    pub(super) fn new(
        client: &mooring_arm::Client,
        access: CredentialSource,
        settings: &Settings,
        clock: Clock,
    ) -> Result<Self, ResourceIdError> {
        let target = &settings.target;
        Ok(Self {
            client: client.at(Priority::Interactive),
            cluster: ResourceId::cluster(
                &target.subscription,
                &target.resource_group,
                &target.cluster,
            )?,
            window: Cell::new(settings.fail_window),
            last: RefCell::default(),
            access,
            kube: OnceCell::new(),
            clock,
            sources: RefCell::new([SourceName::Cluster, SourceName::Azure].map(Source::new)),
        })
    }

    pub(super) fn sources(&self) -> [Source; 2] {
        self.sources.borrow().clone()
    }

    pub(super) async fn kube(&self) -> Result<ClusterApi, ApiUnavailable> {
        if let Some(kube) = self.kube.get() {
            return kube.clone();
        }
        let connected = credentials::connect(&self.access, &self.client, &self.cluster).await;
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
        self.of_azure(self.read_cluster()).await
    }

    async fn pools(&self) -> Reading<Vec<Pool>> {
        let read = async { listed(self.reads().agent_pools(&self.cluster).await, Pool::read) };
        self.of_azure(read).await
    }

    async fn scale_sets(&self) -> Reading<Vec<ScaleSet>> {
        let read = async {
            let (group, subscription) = (self.group().await?, self.cluster.subscription());
            Ok(listed(self.reads().scale_sets(subscription, &group).await, ScaleSet::read))
        };
        self.of_azure(either(read)).await
    }

    async fn instances(&self, set: &str) -> Reading<Vec<Instance>> {
        let read = async {
            let set = self.scale_set(set).await?;
            Ok(listed(self.reads().scale_set_vms(&set).await, Instance::read))
        };
        self.of_azure(either(read)).await
    }

    async fn nics(&self, set: &str) -> Reading<Vec<Nic>> {
        let read = async {
            let set = self.scale_set(set).await?;
            Ok(listed(self.reads().scale_set_nics(&set).await, Nic::read))
        };
        self.of_azure(either(read)).await
    }

    async fn events(&self) -> Reading<Vec<ActivityEvent>> {
        let read = async { Ok(Reading::Known(self.read_events().await?)) };
        self.of_azure(either(read)).await
    }

    async fn latest_operation(&self) -> Reading<Option<AksOperation>> {
        let read = async {
            let found = self.reads().latest_operation(&self.cluster).await;
            // The endpoint is a preview; without it, the activity log has the operation.
            if found.as_ref().is_err_and(is_unavailable) {
                return Reading::Known(None);
            }
            read(found, |raw| Some(AksOperation::read(raw)))
        };
        self.of_azure(read).await
    }

    async fn operation(&self, token: &str) -> Reading<Vec<String>> {
        self.of_azure(self.read_operation(token)).await
    }

    async fn uid(&self) -> Reading<String> {
        self.of_kubernetes(ClusterApi::uid).await
    }

    async fn nodes(&self) -> Reading<Vec<Node>> {
        let own = async |kube: &ClusterApi| match kube.nodes().await {
            Reading::Known(nodes) => {
                self.own(nodes).await.map_or_else(|missing| missing, Reading::Known)
            }
            missing => missing,
        };
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
        match (effect, self.kube().await) {
            (Effect::AbortOperation { scope, operation, .. }, _) => {
                self.abort(scope, operation).await
            }
            (Effect::PutPool { pool, body, only }, _) => {
                self.put_pool(pool, body, only.as_ref()).await
            }
            (Effect::DeletePool { pool, if_match }, _) => {
                self.delete_pool(pool, if_match.as_deref()).await
            }
            (Effect::TagCluster { name, value }, _) => self.tag(name, value).await,
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

/// Returns the reading, or why what it depends on is missing.
async fn either<T>(read: impl Future<Output = Result<Reading<T>, Reading<T>>>) -> Reading<T> {
    read.await.unwrap_or_else(|missing| missing)
}
