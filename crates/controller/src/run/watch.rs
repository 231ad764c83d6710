//! Watches: every NodeClaim, Karpenter's events, and the names of what events are written about.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use futures::{Stream, StreamExt as _};
use kube::Api;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use kube::runtime::watcher::{self, Config, Event, watcher};
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use super::controller::{Controller, Message, Projector};
use super::health::Health;
use super::seen::{SeenClaim, SeenEvent, SeenNode};
use crate::hash::fraction;
use crate::observation::karpenter::ProvisioningError;
use crate::observation::node::{self, Node};
use crate::state::Input;
use crate::verdict::event::{Kind, NAMESPACE};
use mooring_kube::Clock;

const CLAIMS: &str = "NodeClaims";
const EVENTS: &str = "events";
const NODES: &str = "Nodes";

/// The longest pause of a watch that no verdict can do without.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The longest pause of others: what they list may not exist in this cluster at all.
const LONGEST_PAUSE_OF_OTHERS: Duration = Duration::from_mins(5);
/// A watch that has not failed for so long works, also if it has brought nothing.
const WORKS_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// Starts all watches. They end with the set.
pub(super) fn start(
    controller: &Controller,
    projector: &Arc<Projector>,
    to_loop: &Sender<Message>,
    watches: &mut JoinSet<()>,
) {
    let Controller { kube, clock, health, settings, .. } = controller;
    let told = |name: &'static str, longest: Duration| Told {
        name,
        clock: Arc::clone(clock),
        health: Arc::clone(health),
        backoff: Backoff::new(name, &settings.instance, longest),
        to_loop: to_loop.clone(),
    };
    health.expect(CLAIMS);
    health.expect(EVENTS);
    let claims = watcher(Api::<SeenClaim>::all(kube.clone()), Config::default());
    watches.spawn(told(CLAIMS, LONGEST_PAUSE).claims(claims, Arc::clone(projector)));
    let events = Api::<SeenEvent>::namespaced(kube.clone(), NAMESPACE);
    let events = watcher(events, Config::default().fields("reason=AsyncProvisioningError"));
    watches.spawn(told(EVENTS, LONGEST_PAUSE).events(events));
    let nodes =
        watcher(Api::<SeenNode>::all(kube.clone()), Config::default().labels(node::SELECTOR));
    watches.spawn(told(NODES, LONGEST_PAUSE_OF_OTHERS).nodes(nodes));
    // Only uids for events, so neither is waited for: a cluster may lack one of them.
    let pools = ("karpenter.sh", "v1", "NodePool", "nodepools");
    let classes = ("karpenter.azure.com", "v1beta1", "AKSNodeClass", "aksnodeclasses");
    for (kind, (group, version, name, plural)) in
        [(Kind::NodePool, pools), (Kind::AksNodeClass, classes)]
    {
        let resource = GroupVersionKind::gvk(group, version, name);
        let resource = ApiResource::from_gvk_with_plural(&resource, plural);
        let api = Api::<PartialObjectMeta<DynamicObject>>::all_with(kube.clone(), &resource);
        watches.spawn(
            told(plural, LONGEST_PAUSE_OF_OTHERS).names(watcher(api, Config::default()), kind),
        );
    }
}

/// Where a watch tells what it sees, and how it is.
struct Told {
    name: &'static str,
    clock: Clock,
    health: Arc<Health>,
    backoff: Backoff,
    to_loop: Sender<Message>,
}

impl Told {
    async fn claims(
        self,
        stream: impl Stream<Item = watcher::Result<Event<SeenClaim>>> + Send,
        projector: Arc<Projector>,
    ) {
        let mut listed = HashSet::new();
        self.watch(stream, |event| match event {
            Event::Init => {
                listed.clear();
                None
            }
            Event::InitApply(seen) => {
                // Claims of other clouds are nobody's business here.
                let claim = projector.seen(seen).ok()?;
                listed.insert(Arc::clone(&claim.uid));
                Some(Input::Claim(Box::new(claim)))
            }
            Event::InitDone => Some(Input::Listed(std::mem::take(&mut listed))),
            Event::Apply(seen) => Some(Input::Claim(Box::new(projector.seen(seen).ok()?))),
            Event::Delete(seen) => Some(Input::ClaimGone(Arc::from(seen.uid()))),
        })
        .await;
    }

    async fn events(self, stream: impl Stream<Item = watcher::Result<Event<SeenEvent>>> + Send) {
        self.watch(stream, |event| match event {
            Event::InitApply(seen) | Event::Apply(seen) => {
                ProvisioningError::of(seen.event).map(Input::GivenUp)
            }
            _ => None,
        })
        .await;
    }

    async fn nodes(self, stream: impl Stream<Item = watcher::Result<Event<SeenNode>>> + Send) {
        let mut listed = Vec::new();
        self.watch(stream, |event| match event {
            Event::Init => {
                listed.clear();
                None
            }
            Event::InitApply(seen) => {
                listed.extend(Node::of(seen.into_object()));
                None
            }
            Event::InitDone => Some(Input::Nodes(std::mem::take(&mut listed))),
            Event::Apply(seen) => Some(match Node::of(seen.clone().into_object()) {
                Some(node) => Input::Node(node),
                None => seen.gone(),
            }),
            // Karpenter's label of a registered Node takes it out of the selector, too.
            Event::Delete(seen) => Some(seen.gone()),
        })
        .await;
    }

    async fn names<K: kube::Resource>(
        self,
        stream: impl Stream<Item = watcher::Result<Event<K>>> + Send,
        kind: Kind,
    ) {
        self.watch(stream, |event| match event {
            Event::InitApply(object) | Event::Apply(object) => {
                let meta = object.meta();
                let (name, uid) = (meta.name.clone()?, meta.uid.clone()?);
                Some(Input::Object { kind, name, uid })
            }
            _ => None,
        })
        .await;
    }

    /// Passes on what a watch brings, without an end. The watcher lists again by itself after errors and 410, as soon as
    /// it is asked for more; so the pause is made here. It grows until a list is complete: the watcher announces each
    /// list that it begins, also one that fails at once.
    async fn watch<K>(
        self,
        stream: impl Stream<Item = watcher::Result<Event<K>>> + Send,
        mut input: impl FnMut(Event<K>) -> Option<Input>,
    ) {
        let Self { name, clock, health, mut backoff, to_loop } = self;
        let mut stream = std::pin::pin!(stream);
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => {
                    let complete = matches!(event, Event::InitDone);
                    let works = !matches!(event, Event::Init | Event::InitApply(_));
                    let input = input(event);
                    if let Some(input) = input
                        && to_loop.send(Message::Input(input)).await.is_err()
                    {
                        return;
                    }
                    // After the input: who is told that a list is complete finds it delivered.
                    health.watched(name, complete);
                    if works && backoff.succeed() {
                        tracing::info!(watch = name, "the watch works again");
                    }
                }
                Err(error) => {
                    let now = clock();
                    health.failed(name, now);
                    let (pause, is_new) = backoff.fail(status_of(&error), now);
                    if is_new {
                        let why = crate::verdict::text::safe(
                            &mooring_kube::redacted_message(&error),
                            512,
                        );
                        tracing::warn!(watch = name, why, "the watch fails and is tried again");
                    }
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }
}

/// The HTTP status of a failed watch, which is how failures are told apart.
fn status_of(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status))
        | watcher::Error::WatchError(status) => Some(status.code),
        _ => None,
    }
}

/// Pauses after failures: 0.5 s, doubled up to the longest, each replica and watch at its own pace.
struct Backoff {
    seed: String,
    longest: Duration,
    /// Failures in a row.
    failed: u32,
    /// The last failure: its status, and when it was.
    last: Option<(Option<u16>, Timestamp)>,
}

impl Backoff {
    fn new(watch: &str, instance: &str, longest: Duration) -> Self {
        Self { seed: format!("{watch}/{instance}"), longest, failed: 0, last: None }
    }

    /// Notes a failure. Returns the pause, and whether the failure is new and so worth a line.
    fn fail(&mut self, status: Option<u16>, now: Timestamp) -> (Duration, bool) {
        if self.last.is_some_and(|(_, at)| now.duration_since(at) > WORKS_AFTER) {
            self.succeed();
        }
        let is_new = self.last.is_none_or(|(before, _)| before != status);
        let whole = 0.5 * f64::from(1_u32 << self.failed.min(16));
        let jitter = fraction(&[&self.seed, &self.failed.to_string()]);
        self.failed = self.failed.saturating_add(1);
        self.last = Some((status, now));
        let pause = whole.min(self.longest.as_secs_f64()) * (0.75 + jitter / 2.0);
        (Duration::from_secs_f64(pause), is_new)
    }

    /// Notes that the watch works. Returns whether it failed before.
    fn succeed(&mut self) -> bool {
        self.failed = 0;
        self.last.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn pauses_grow_to_the_longest_and_begin_anew_when_the_watch_works() {
        let mut backoff = Backoff::new("w", "a", LONGEST_PAUSE_OF_OTHERS);
        let pauses: Vec<Duration> = (0..14).map(|n| backoff.fail(Some(404), at(n)).0).collect();
        assert!(pauses[0] < Duration::from_secs(1), "{pauses:?}");
        assert!(pauses[13] >= Duration::from_secs(225), "{pauses:?}");
        assert!(pauses.iter().all(|pause| *pause <= Duration::from_secs(375)), "{pauses:?}");
        assert!(backoff.succeed() && !backoff.succeed());
        assert!(backoff.fail(Some(404), at(20)).0 < Duration::from_secs(1));
        // A quiet watch brings nothing that shows that it works.
        for _ in 0..10 {
            backoff.fail(None, at(30));
        }
        assert!(backoff.fail(None, at(30 + 601)).0 < Duration::from_secs(1));
    }

    fn told(to_loop: Sender<Message>) -> Told {
        Told {
            name: CLAIMS,
            clock: Arc::new(|| at(0)),
            health: Arc::new(Health::new(at(0))),
            backoff: Backoff::new("w", "a", LONGEST_PAUSE),
            to_loop,
        }
    }

    /// A list that breaks off and is restarted, as the library reports it: only the second is complete.
    fn restarted<K>(first: K, second: K) -> impl Stream<Item = watcher::Result<Event<K>>> + Send
    where
        K: Send,
    {
        let events = [
            Event::Init,
            Event::InitApply(first),
            Event::Init,
            Event::InitApply(second),
            Event::InitDone,
        ];
        futures::stream::iter(events.map(Ok))
    }

    async fn inputs(mut from_watch: tokio::sync::mpsc::Receiver<Message>) -> Vec<Input> {
        let mut inputs = Vec::new();
        while let Some(message) = from_watch.recv().await {
            match message {
                Message::Input(input) => inputs.push(input),
                _ => panic!("a watch sends inputs only"),
            }
        }
        inputs
    }

    #[tokio::test]
    async fn restarted_list_of_nodeclaims_replaces_the_first() {
        let claim = |name: &str| -> SeenClaim {
            serde_json::from_value(serde_json::json!({
                "metadata": {"name": name, "uid": name, "creationTimestamp": "2026-11-15T05:00:00Z"},
                "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
            }))
            .unwrap()
        };
        let (to_loop, from_watch) = tokio::sync::mpsc::channel(16);
        let projector = Arc::new(Projector::new("CSEProvisioned"));
        told(to_loop).claims(restarted(claim("gone"), claim("there")), projector).await;
        let listed = inputs(from_watch).await.into_iter().find_map(|input| match input {
            Input::Listed(uids) => Some(uids),
            _ => None,
        });
        assert_eq!(listed, Some(HashSet::from([Arc::from("there")])));
    }

    #[tokio::test]
    async fn restarted_list_of_nodes_replaces_the_first() {
        let node = |name: &str| -> SeenNode {
            serde_json::from_value(serde_json::json!({
                "metadata": {
                    "name": name, "uid": name, "creationTimestamp": "2026-11-15T05:00:00Z",
                    "labels": {"karpenter.sh/nodepool": "default"},
                },
            }))
            .unwrap()
        };
        let (to_loop, from_watch) = tokio::sync::mpsc::channel(16);
        told(to_loop).nodes(restarted(node("gone"), node("there"))).await;
        let inputs = inputs(from_watch).await;
        let [Input::Nodes(nodes)] = &inputs[..] else { panic!("one list: {inputs:?}") };
        let names: Vec<&str> = nodes.iter().map(|node| &*node.name).collect();
        assert_eq!(names, ["there"]);
    }

    #[test]
    fn only_a_change_of_state_is_worth_a_line() {
        let mut backoff = Backoff::new("w", "a", LONGEST_PAUSE);
        let new: Vec<bool> = [Some(404), Some(404), Some(403), Some(403), None]
            .map(|status| backoff.fail(status, at(0)).1)
            .to_vec();
        assert_eq!(new, [true, false, true, false, true]);
        backoff.succeed();
        assert!(backoff.fail(None, at(1)).1);
    }
}
