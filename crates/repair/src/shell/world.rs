//! The world as it is.

use std::rc::Rc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex, watch};

use super::azure::Azure;
use super::kube_api::KubeApi;
use super::store::{Store, StoreError};
use crate::effects::{Effect, EffectResult};
use crate::journal::{Content, Record};
use crate::machine::{Action, State};
use crate::observation::{Answer, Query, Reading};
use crate::world::{AppendError, World};

/// Between two signs of life. A lock is free after 30 s of silence, so that several may be lost.
const BEAT: Duration = Duration::from_secs(5);

/// Tells the time.
pub type Clock = Rc<dyn Fn() -> Timestamp>;
/// Is told what comes next.
pub type Watcher<'a> = Box<dyn FnMut(&State, &Action, Timestamp) + 'a>;

/// Azure, Kubernetes, the journal and the clock.
pub(crate) struct RealWorld<'a> {
    pub(crate) azure: Azure,
    pub(crate) kube: KubeApi,
    pub(crate) store: Rc<Mutex<Store>>,
    pub(crate) clock: Clock,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) watcher: Watcher<'a>,
}

impl World for RealWorld<'_> {
    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    async fn sleep_until(&mut self, until: Timestamp) {
        pause(until.duration_since(self.now()), &self.stop).await;
    }

    async fn observe(&mut self, query: &Query) -> Answer {
        let now = self.now();
        observe(&mut self.azure, Ok(&self.kube), query, now).await
    }

    async fn perform(&mut self, effect: &Effect) -> EffectResult {
        match effect {
            Effect::AbortOperation { scope, operation, .. } => {
                let now = self.now();
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

    async fn append(&mut self, record: &Record) -> Result<(), AppendError> {
        let now = self.now();
        self.store.lock().await.append(record, now).await.map_err(AppendError::from)
    }

    fn interrupted(&self) -> bool {
        *self.stop.borrow()
    }

    fn progress(&mut self, state: &State, action: &Action) {
        let now = (self.clock)();
        (self.watcher)(state, action, now);
    }
}

impl From<StoreError> for AppendError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LostLock => Self::LostLock,
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// Answers a question about Azure or Kubernetes; `kube` may be why there is no Kubernetes to ask.
pub(crate) async fn observe(
    azure: &mut Azure,
    kube: Result<&KubeApi, &String>,
    query: &Query,
    now: Timestamp,
) -> Answer {
    if let Some(answer) = azure.observe(query, now).await {
        return answer;
    }
    let kube = match kube {
        Ok(kube) => kube,
        Err(why) => {
            return match query {
                Query::Pods => Answer::Pods(Reading::Failed(why.clone())),
                Query::Pdbs => Answer::Pdbs(Reading::Failed(why.clone())),
                Query::Replicas(workload) => {
                    Answer::Replicas(workload.clone(), Reading::Failed(why.clone()))
                }
                _ => Answer::Nodes(Reading::Failed(why.clone())),
            };
        }
    };
    match query {
        Query::Pods => Answer::Pods(kube.pods().await),
        Query::Pdbs => Answer::Pdbs(kube.pdbs().await),
        Query::Replicas(workload) => {
            Answer::Replicas(workload.clone(), kube.replicas(workload).await)
        }
        _ => Answer::Nodes(azure.own(kube.nodes().await).await),
    }
}

/// Waits, unless somebody asks to stop meanwhile.
pub(crate) async fn pause(time: SignedDuration, stop: &watch::Receiver<bool>) {
    let mut stop = stop.clone();
    tokio::select! {
        () = tokio::time::sleep(Duration::try_from(time).unwrap_or_default()) => {}
        // A sender that is gone asks for nothing.
        true = async { stop.wait_for(|stop| *stop).await.is_ok() } => {}
    }
}

/// Gives signs of life until the lock is lost.
pub(crate) async fn beat<E: Content>(store: &Mutex<Store<E>>, clock: &Clock) -> StoreError {
    loop {
        tokio::time::sleep(BEAT).await;
        match store.lock().await.beat(clock()).await {
            // A store that is away may come back; whether the lock is still ours shows then.
            Ok(()) | Err(StoreError::Unavailable(_)) => {}
            Err(lost) => return lost,
        }
    }
}
