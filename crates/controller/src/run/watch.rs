//! Watches: every NodeClaim, Karpenter's events, and the names of what events are written about.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use kube::Api;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Config, Event, watcher};
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use super::seen::{SeenClaim, SeenEvent};
use super::{Clock, Controller, Health, Message, Projector};
use crate::event::{Kind, NAMESPACE};
use crate::hash::fraction;
use crate::karpenter::ProvisioningError;
use crate::state::Input;

const CLAIMS: &str = "NodeClaims";
const EVENTS: &str = "events";

/// Starts all watches. They end with the set.
pub(super) fn start(
    controller: &Controller,
    projector: &Arc<Projector>,
    to_loop: &Sender<Message>,
    watches: &mut JoinSet<()>,
) {
    let Controller { kube, clock, health, settings, .. } = controller;
    let told = |name: &'static str| Told {
        name,
        clock: Arc::clone(clock),
        health: Arc::clone(health),
        backoff: Pauses::new(name, &settings.instance),
        to_loop: to_loop.clone(),
    };
    health.expect(CLAIMS);
    health.expect(EVENTS);
    let claims = watcher(Api::<SeenClaim>::all(kube.clone()), Config::default());
    watches.spawn(told(CLAIMS).claims(claims, Arc::clone(projector)));
    let events = Api::<SeenEvent>::namespaced(kube.clone(), NAMESPACE);
    let events = watcher(events, Config::default().fields("reason=AsyncProvisioningError"));
    watches.spawn(told(EVENTS).events(events));
    // Only uids for events, so neither is waited for: a cluster may lack one of them.
    let pools = ("karpenter.sh", "v1", "NodePool", "nodepools");
    let classes = ("karpenter.azure.com", "v1beta1", "AKSNodeClass", "aksnodeclasses");
    for (kind, (group, version, name, plural)) in
        [(Kind::NodePool, pools), (Kind::AksNodeClass, classes)]
    {
        let resource = GroupVersionKind::gvk(group, version, name);
        let resource = ApiResource::from_gvk_with_plural(&resource, plural);
        let api = Api::<PartialObjectMeta<DynamicObject>>::all_with(kube.clone(), &resource);
        watches.spawn(told(plural).names(watcher(api, Config::default()), kind));
    }
}

/// Where a watch tells what it sees, and how it is.
struct Told {
    name: &'static str,
    clock: Clock,
    health: Arc<Health>,
    backoff: Pauses,
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

    /// Passes on what a watch brings, for ever. Its own restarts after errors and 410 are the watcher's.
    async fn watch<K>(
        self,
        stream: impl Stream<Item = watcher::Result<Event<K>>> + Send,
        mut input: impl FnMut(Event<K>) -> Option<Input>,
    ) {
        let Self { name, clock, health, backoff, to_loop } = self;
        let mut stream = std::pin::pin!(stream.backoff(backoff));
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => {
                    let complete = matches!(event, Event::InitDone);
                    let input = input(event);
                    if let Some(input) = input
                        && to_loop.send(Message::Input(input)).await.is_err()
                    {
                        return;
                    }
                    // After the input: who is told that a list is complete finds it delivered.
                    health.watched(name, complete);
                }
                Err(error) => {
                    health.failed(name, clock());
                    let why = crate::text::safe(&mooring_kubeconfig::words(&error), 512);
                    tracing::warn!(watch = name, why, "a watch broke off and begins again");
                }
            }
        }
    }
}

/// Pauses after errors: 0.5 s, doubled up to 30 s, each replica and watch at its own pace.
struct Pauses {
    seed: String,
    failed: u32,
}

impl Pauses {
    fn new(watch: &str, instance: &str) -> Self {
        Self { seed: format!("{watch}/{instance}"), failed: 0 }
    }
}

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let whole = (0.5 * f64::from(1_u32 << self.failed.min(6))).min(30.0);
        let jitter = fraction(&[&self.seed, &self.failed.to_string()]);
        self.failed = self.failed.saturating_add(1);
        Some(Duration::from_secs_f64(whole * (0.75 + jitter / 2.0)))
    }
}

impl Backoff for Pauses {
    fn reset(&mut self) {
        self.failed = 0;
    }
}
