//! Watches: NodeClaims, Karpenter's events, Nodes, and the objects of Mooring's events.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::core::{
    ApiResource, ClusterResourceScope, DynamicObject, GroupVersionKind, NamespaceResourceScope,
    PartialObjectMeta,
};
use kube::runtime::watcher::{self, Config, Event, watcher};
use mooring_k8s::Clock;
use mooring_nodes::claim::object::ClaimFields;
use mooring_nodes::text::fraction;
use mooring_nodes::{NodeItem, unregistered};
use serde::Deserialize;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use crate::observation::karpenter::{KarpenterEvent, ProvisioningError};
use crate::run::controller::{Controller, ControllerMessage, Projector};
use crate::run::health::{self, Health};
use crate::state::Input;
use crate::verdict::event::{NAMESPACE, RegardingKind};

const CLAIMS: &str = "NodeClaims";
const EVENTS: &str = "events";
const NODES: &str = "Nodes";

/// For watches that verdicts depend on.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// For watches whose resources may not exist in this cluster.
const MAX_OPTIONAL_PAUSE: Duration = Duration::from_mins(5);
/// Pauses begin anew after this time without a failure.
const WORKS_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// Starts all watches. They end with the set.
pub(super) fn start(
    controller: &Controller,
    projector: &Arc<Projector>,
    to_loop: &Sender<ControllerMessage>,
    watches: &mut JoinSet<()>,
) {
    let Controller { kube, clock, health, settings, .. } = controller;
    let handler = |name: &'static str, longest: Duration| WatchHandler {
        name,
        clock: Arc::clone(clock),
        health: Arc::clone(health),
        backoff: Backoff::new(name, &settings.instance, longest),
        to_loop: to_loop.clone(),
    };
    health.expect(CLAIMS);
    health.expect(EVENTS);
    let api = Api::<Watched<ClaimFields>>::all(kube.clone());
    let open = move || watcher(api.clone(), Config::default());
    watches.spawn(handler(CLAIMS, MAX_PAUSE).watch(open, claims(Arc::clone(projector))));
    let api = Api::<Watched<KarpenterEvent>>::namespaced(kube.clone(), NAMESPACE);
    let config = Config::default().fields("reason=AsyncProvisioningError");
    let open = move || watcher(api.clone(), config.clone());
    watches.spawn(handler(EVENTS, MAX_PAUSE).watch(open, given_up));
    let api = Api::<Watched<NodeItem>>::all(kube.clone());
    let open = move || watcher(api.clone(), Config::default().labels(unregistered::SELECTOR));
    watches.spawn(handler(NODES, MAX_OPTIONAL_PAUSE).watch(open, nodes()));
    // Only uids for events, so readiness does not wait for them: a cluster may lack either.
    for regarding in [RegardingKind::NodePool, RegardingKind::AksNodeClass] {
        let [group, version, kind, plural] = regarding.resource();
        let resource = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&resource, plural);
        let api = Api::<PartialObjectMeta<DynamicObject>>::all_with(kube.clone(), &resource);
        let open = move || watcher(api.clone(), Config::default());
        watches.spawn(handler(plural, MAX_OPTIONAL_PAUSE).watch(open, names(regarding)));
    }
}

/// Destination and health of a watch.
struct WatchHandler {
    name: &'static str,
    clock: Clock,
    health: Arc<Health>,
    backoff: Backoff,
    to_loop: Sender<ControllerMessage>,
}

impl WatchHandler {
    /// Forwards the items of a watch. After an error it pauses and lists again: the library reports neither
    /// bookmarks nor that a watch was opened, so a complete list is what shows that a watch without items works, unless
    /// it fails again after it. The client ends a watch that receives nothing, not even a bookmark.
    async fn watch<K, S>(
        self,
        open: impl Fn() -> S,
        mut input: impl FnMut(Event<K>) -> Option<Input>,
    ) where
        S: Stream<Item = watcher::Result<Event<K>>> + Send,
    {
        let Self { name, clock, health, mut backoff, to_loop } = self;
        loop {
            let mut stream = std::pin::pin!(open());
            let error = loop {
                let event = match stream.next().await {
                    None => return,
                    Some(Err(error)) => break error,
                    Some(Ok(event)) => event,
                };
                let complete = matches!(event, Event::InitDone);
                let is_item = matches!(event, Event::Apply(_) | Event::Delete(_));
                if let Some(input) = input(event)
                    && to_loop.send(ControllerMessage::Input(input)).await.is_err()
                {
                    return;
                }
                // After the input: once a list is reported complete, it has been delivered.
                let now = clock();
                let is_recovered = if complete {
                    health.listed(name, now);
                    backoff.list(now)
                } else if is_item {
                    health.watched(name);
                    backoff.succeed()
                } else {
                    false
                };
                if is_recovered {
                    tracing::info!(watch = name, "watch recovered");
                }
            };
            let now = clock();
            health.failed(name, now);
            let (pause, is_new) = backoff.fail(status_of(&error), now);
            if is_new {
                let why = mooring_nodes::text::safe(&mooring_k8s::redacted_message(&error), 512);
                tracing::warn!(watch = name, why, "watch failed, retrying");
            }
            tokio::time::sleep(pause).await;
        }
    }
}

fn claims(projector: Arc<Projector>) -> impl FnMut(Event<Watched<ClaimFields>>) -> Option<Input> {
    let mut listed = HashSet::new();
    // NodeClaims of other clouds are ignored.
    move |event| match event {
        Event::Init => {
            listed.clear();
            None
        }
        Event::InitApply(object) => {
            let claim = projector.object(object.fields).ok()?;
            listed.insert(Arc::clone(&claim.uid));
            Some(Input::Claim(Box::new(claim)))
        }
        Event::InitDone => Some(Input::Listed(std::mem::take(&mut listed))),
        Event::Apply(object) => Some(Input::Claim(Box::new(projector.object(object.fields).ok()?))),
        Event::Delete(object) => Some(Input::ClaimDeleted(Arc::from(object.fields.metadata.uid))),
    }
}

fn given_up(event: Event<Watched<KarpenterEvent>>) -> Option<Input> {
    match event {
        Event::InitApply(object) | Event::Apply(object) => {
            ProvisioningError::of(object.fields).map(Input::GivenUp)
        }
        _ => None,
    }
}

fn nodes() -> impl FnMut(Event<Watched<NodeItem>>) -> Option<Input> {
    let mut listed = Vec::new();
    let node = |node: &NodeItem| node.of_node_pool().filter(|_| !node.is_deleted);
    let deletion = |NodeItem { name, uid, .. }| Input::NodeDeleted { name, uid };
    move |event| match event {
        Event::Init => {
            listed.clear();
            None
        }
        Event::InitApply(object) => {
            listed.extend(node(&object.fields));
            None
        }
        Event::InitDone => Some(Input::Nodes(std::mem::take(&mut listed))),
        Event::Apply(object) => {
            let found = node(&object.fields).map(Input::Node);
            Some(found.unwrap_or_else(|| deletion(object.fields)))
        }
        // Karpenter's label of a registered Node also removes it from the selector.
        Event::Delete(object) => Some(deletion(object.fields)),
    }
}

fn names<K: kube::Resource>(kind: RegardingKind) -> impl FnMut(Event<K>) -> Option<Input> {
    move |event| match event {
        Event::InitApply(object) | Event::Apply(object) => {
            let meta = object.meta();
            let (name, uid) = (meta.name.clone()?, meta.uid.clone()?);
            Some(Input::Object { kind, name, uid })
        }
        _ => None,
    }
}

fn status_of(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status))
        | watcher::Error::WatchError(status) => Some(status.code),
        _ => None,
    }
}

/// Pauses after failures: 0.5 s, doubled up to the maximum, with jitter per replica and watch.
struct Backoff {
    seed: String,
    longest: Duration,
    failed: u32,
    last: Option<(Option<u16>, Timestamp)>,
    is_failing: bool,
    /// The complete list after the last failure.
    listed: Option<Timestamp>,
    /// It failed again after such a list: lists show nothing of a watch that hangs.
    failed_again: bool,
}

impl Backoff {
    fn new(watch: &str, instance: &str, longest: Duration) -> Self {
        Self {
            seed: format!("{watch}/{instance}"),
            longest,
            failed: 0,
            last: None,
            is_failing: false,
            listed: None,
            failed_again: false,
        }
    }

    /// Records a failure. Returns the pause, and true if the failure is new and should be logged.
    fn fail(&mut self, status: Option<u16>, now: Timestamp) -> (Duration, bool) {
        if self.last.is_some_and(|(_, at)| now.duration_since(at) > WORKS_AFTER) {
            self.succeed();
        }
        let works = |at: Timestamp| now >= at + health::WORKS_AFTER;
        self.failed_again |= self.listed.take().is_some_and(|at| !works(at));
        let is_known = self.last.is_some_and(|(before, _)| before == status);
        let is_new = !std::mem::replace(&mut self.is_failing, true) || !is_known;
        let whole = 0.5 * f64::from(1_u32 << self.failed.min(16));
        let jitter = fraction(&[&self.seed, &self.failed.to_string()]);
        self.failed = self.failed.saturating_add(1);
        self.last = Some((status, now));
        let pause = whole.min(self.longest.as_secs_f64()) * (0.75 + jitter / 2.0);
        (Duration::from_secs_f64(pause), is_new)
    }

    /// Records a complete list. Returns true if the watch failed before, and not again after such a list. Only items
    /// reset the pause: lists may succeed where each watch fails, and would be repeated twice a second.
    fn list(&mut self, now: Timestamp) -> bool {
        let is_recovered = self.is_failing && !self.failed_again;
        if is_recovered {
            self.is_failing = false;
            self.listed = Some(now);
        }
        is_recovered
    }

    /// Records an item. Returns true if the watch failed before.
    fn succeed(&mut self) -> bool {
        (self.failed, self.listed, self.failed_again) = (0, None, false);
        std::mem::take(&mut self.is_failing)
    }
}

/// The fields of an object, and the metadata that a watch needs.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "T", bound = "T: WatchedFields + Deserialize<'de>")]
pub(crate) struct Watched<T> {
    meta: ObjectMeta,
    pub(crate) fields: T,
}

/// The fields of one kind of objects.
pub(crate) trait WatchedFields {
    type Scope;
    const GROUP: &'static str;
    const VERSION: &'static str;
    const KIND: &'static str;
    const PLURAL: &'static str;

    fn name_and_version(&self) -> (Option<String>, Option<String>);
}

impl<T: WatchedFields> From<T> for Watched<T> {
    fn from(fields: T) -> Self {
        let (name, resource_version) = fields.name_and_version();
        Self { meta: ObjectMeta { name, resource_version, ..ObjectMeta::default() }, fields }
    }
}

impl<T: WatchedFields> kube::Resource for Watched<T> {
    type DynamicType = ();
    type Scope = T::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        T::KIND.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        T::GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        T::VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        T::PLURAL.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

impl WatchedFields for ClaimFields {
    type Scope = ClusterResourceScope;
    const GROUP: &'static str = "karpenter.sh";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "NodeClaim";
    const PLURAL: &'static str = "nodeclaims";

    fn name_and_version(&self) -> (Option<String>, Option<String>) {
        (Some(self.metadata.name.clone()), self.metadata.resource_version.clone())
    }
}

impl WatchedFields for KarpenterEvent {
    type Scope = NamespaceResourceScope;
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Event";
    const PLURAL: &'static str = "events";

    fn name_and_version(&self) -> (Option<String>, Option<String>) {
        (self.metadata.name.clone(), self.metadata.resource_version.clone())
    }
}

impl WatchedFields for NodeItem {
    type Scope = ClusterResourceScope;
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Node";
    const PLURAL: &'static str = "nodes";

    fn name_and_version(&self) -> (Option<String>, Option<String>) {
        (Some(self.name.clone()), Some(self.resource_version.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn backoff_grows_to_its_maximum_and_resets_on_success() {
        let mut backoff = Backoff::new("w", "a", MAX_OPTIONAL_PAUSE);
        let pauses: Vec<Duration> = (0..14).map(|n| backoff.fail(Some(404), at(n)).0).collect();
        assert!(pauses[0] < Duration::from_secs(1), "{pauses:?}");
        assert!(pauses[13] >= Duration::from_secs(225), "{pauses:?}");
        assert!(pauses.iter().all(|pause| *pause <= Duration::from_secs(375)), "{pauses:?}");
        assert!(backoff.list(at(14)) && !backoff.list(at(15)));
        let (pause, is_new) = backoff.fail(Some(404), at(20));
        assert!(pause > Duration::from_secs(200) && is_new, "the list works, the watch does not");
        backoff.succeed();
        assert!(backoff.fail(Some(404), at(20)).0 < Duration::from_secs(1));
        for _ in 0..10 {
            backoff.fail(None, at(30));
        }
        assert!(backoff.fail(None, at(30 + 601)).0 < Duration::from_secs(1));
    }

    #[test]
    fn pause_doubles_with_a_quarter_of_jitter() {
        let mut backoff = Backoff::new("w", "a", Duration::from_secs(30));
        for (failed, whole) in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0].into_iter().enumerate() {
            let jitter = fraction(&["w/a", &failed.to_string()]);
            let expected = Duration::from_secs_f64(whole * (0.75 + jitter / 2.0));
            assert_eq!(backoff.fail(None, at(0)), (expected, failed == 0), "{failed}");
        }
        // Long enough without a failure, the watch works.
        assert!(backoff.fail(None, at(WORKS_AFTER.as_secs())).0 > Duration::from_secs(20));
        let (pause, is_new) = backoff.fail(None, at(2 * WORKS_AFTER.as_secs() + 1));
        assert!(pause < Duration::from_secs(1) && is_new, "{pause:?}");
    }

    fn handler(to_loop: Sender<ControllerMessage>) -> WatchHandler {
        WatchHandler {
            name: CLAIMS,
            clock: Arc::new(|| at(0)),
            health: Arc::new(Health::new(at(0))),
            backoff: Backoff::new("w", "a", MAX_PAUSE),
            to_loop,
        }
    }

    /// A list that is interrupted and restarted, as the library reports it: only the second is complete.
    fn restarted<K: Clone + Send>(
        first: &K,
        second: &K,
    ) -> impl Stream<Item = watcher::Result<Event<K>>> + Send + use<K> {
        let events = [
            Event::Init,
            Event::InitApply(first.clone()),
            Event::Init,
            Event::InitApply(second.clone()),
            Event::InitDone,
        ];
        futures::stream::iter(events.map(Ok))
    }

    async fn inputs(mut from_watch: tokio::sync::mpsc::Receiver<ControllerMessage>) -> Vec<Input> {
        let mut inputs = Vec::new();
        while let Some(message) = from_watch.recv().await {
            match message {
                ControllerMessage::Input(input) => inputs.push(input),
                _ => panic!("a watch sends inputs only"),
            }
        }
        inputs
    }

    #[tokio::test]
    async fn restarted_list_of_nodeclaims_replaces_the_first() {
        let claim = |name: &str| -> Watched<ClaimFields> {
            serde_json::from_value(serde_json::json!({
                "metadata": {"name": name, "uid": name, "creationTimestamp": "2026-11-15T05:00:00Z"},
                "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
            }))
            .unwrap()
        };
        let (to_loop, from_watch) = tokio::sync::mpsc::channel(16);
        let projector = Arc::new(Projector::new("CSEProvisioned"));
        let list = || restarted(&claim("gone"), &claim("there"));
        handler(to_loop).watch(list, claims(projector)).await;
        let listed = inputs(from_watch).await.into_iter().find_map(|input| match input {
            Input::Listed(uids) => Some(uids),
            _ => None,
        });
        assert_eq!(listed, Some(HashSet::from([Arc::from("there")])));
    }

    #[tokio::test]
    async fn restarted_list_of_nodes_replaces_the_first() {
        let node = |name: &str| -> Watched<NodeItem> {
            serde_json::from_value(serde_json::json!({
                "metadata": {
                    "name": name, "uid": name, "creationTimestamp": "2026-11-15T05:00:00Z",
                    "labels": {"karpenter.sh/nodepool": "default"},
                },
            }))
            .unwrap()
        };
        let (to_loop, from_watch) = tokio::sync::mpsc::channel(16);
        let list = || restarted(&node("gone"), &node("there"));
        handler(to_loop).watch(list, nodes()).await;
        let inputs = inputs(from_watch).await;
        let [Input::Nodes(nodes)] = &inputs[..] else { panic!("one list: {inputs:?}") };
        let names: Vec<&str> = nodes.iter().map(|node| &*node.name).collect();
        assert_eq!(names, ["there"]);
    }

    #[test]
    fn watch_logs_only_changes_of_state() {
        let mut backoff = Backoff::new("w", "a", MAX_PAUSE);
        let new: Vec<bool> = [Some(404), Some(404), Some(403), Some(403), None]
            .map(|status| backoff.fail(status, at(0)).1)
            .to_vec();
        assert_eq!(new, [true, false, true, false, true]);
        backoff.succeed();
        assert!(backoff.fail(None, at(1)).1);
    }

    #[test]
    fn watch_that_hangs_after_each_list_has_not_recovered() {
        let mut backoff = Backoff::new("w", "a", MAX_PAUSE);
        assert!(!backoff.list(at(0)), "the first list");
        assert!(backoff.fail(None, at(150)).1);
        assert!(backoff.list(at(151)));
        assert!(backoff.fail(None, at(301)).1, "it hangs");
        for second in [302, 453] {
            assert!(!backoff.list(at(second)));
            assert!(!backoff.fail(None, at(second + 150)).1);
        }
        assert!(backoff.succeed(), "an item");
        assert!(backoff.fail(None, at(700)).1 && backoff.list(at(701)));
        // A watch that worked since the list fails for another reason.
        assert!(backoff.fail(None, at(901)).1 && backoff.list(at(902)));
    }
}
