//! The loop: messages in, tasks and writes out.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mooring_k8s::Gate;
use mooring_nodes::verdict::ConditionReason;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::api::Api;
use super::controller::{Controller, ControllerMessage, Projector, ViewRequest, snapshot};
use super::read::Inspector;
use super::read::{observe, read_list};
use super::write::{Batch, Writer};
use super::{api, leader, watch};
use crate::metrics::{FailedNode, log};
use crate::state::{Action, DiagnosedClaim, Input, State};
use crate::verdict::patch;

const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);
/// Batches that wait for the writer. A blocking send would deadlock with the writer's results.
const WRITE_QUEUE: usize = 1024;
/// Time that a shutdown waits for started writes.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

impl Controller {
    /// Runs until `stop` completes, then finishes started writes and releases the Lease.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        self.run_viewed(stop, mpsc::channel(1).1).await;
    }

    /// Runs as [`Self::run`], and answers requests for views of its state.
    pub async fn run_viewed(
        self,
        stop: impl Future<Output = ()>,
        mut views: mpsc::Receiver<ViewRequest>,
    ) {
        let (to_loop, mut messages) = mpsc::channel(1024);
        let (to_writer, batches) = mpsc::channel(WRITE_QUEUE);
        let (leave, stopped) = tokio::sync::oneshot::channel();
        let gate = Arc::new(Gate::new(Arc::clone(&self.clock)));
        let projector = Arc::new(Projector::new(&self.settings.condition_type));
        let api = Api::new(self.kube.clone());

        let mut watches = JoinSet::new();
        watch::start(&self, &projector, &to_loop, &mut watches);
        // Sets abort their tasks when this future is dropped.
        let (mut leader, mut writer) = (JoinSet::new(), JoinSet::new());
        let bid = leader::Leader::new(&self, api.clone(), Arc::clone(&gate), to_loop.clone());
        leader.spawn(bid.run(stopped));
        let scribe = Writer::new(&self, api.clone(), &gate, &projector, to_loop.clone());
        writer.spawn(scribe.run(batches));

        let mut work = Loop {
            state: State::new(self.settings.clone(), (self.clock)()),
            tasks: JoinSet::new(),
            term: 0,
            generation: 1,
            ticked: Instant::now(),
            controller: &self,
            inspector: Inspector::new(api.clone()),
            api,
            projector,
            inbox: to_loop,
            to_writer,
        };
        tokio::pin!(stop);
        loop {
            let wake = work.wake();
            let message = tokio::select! {
                biased;
                () = &mut stop => break,
                Some(message) = messages.recv() => message,
                () = tokio::time::sleep_until(wake) => {
                    work.ticked = Instant::now();
                    ControllerMessage::Input(Input::Tick)
                }
                Some(request) = views.recv() => {
                    request.answer(&work.state, work.generation, &self);
                    continue;
                }
                Some(_) = work.tasks.join_next(), if !work.tasks.is_empty() => continue,
                // These never end; without one of them the controller cannot work.
                Some(_) = watches.join_next() => {
                    self.health.broken("a watch task ended");
                    continue;
                }
                Some(_) = writer.join_next() => {
                    self.health.broken("the writer task ended");
                    continue;
                }
                Some(_) = leader.join_next() => {
                    self.health.broken("the leader election task ended");
                    continue;
                }
            };
            work.handle_message(message);
        }
        tracing::info!("shutting down");
        watches.shutdown().await;
        let Loop { tasks, to_writer, .. } = work;
        drop((tasks, to_writer));
        // The writer receives no further batch and ends after the current ones; its results are not read.
        messages.close();
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, writer.join_next()).await;
        writer.shutdown().await;
        let _ = leave.send(());
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, leader.join_next()).await;
        self.metrics.leads(false);
    }
}

struct Loop<'a> {
    state: State,
    tasks: JoinSet<()>,
    term: u64,
    /// Grows with every input but a tick.
    generation: u64,
    /// Time of the last tick. The next one counts from here, so that nothing else that wakes the loop delays it.
    ticked: Instant,
    controller: &'a Controller,
    api: Api,
    inspector: Inspector,
    projector: Arc<Projector>,
    inbox: mpsc::Sender<ControllerMessage>,
    to_writer: mpsc::Sender<Batch>,
}

impl Loop<'_> {
    fn now(&self) -> Timestamp {
        (self.controller.clock)()
    }

    fn wake(&self) -> Instant {
        let now = self.now();
        let heartbeat = self.ticked + HEARTBEAT_INTERVAL;
        self.state.wake_at(now).map_or(heartbeat, |at| {
            let wait = Duration::try_from(at.duration_since(now)).unwrap_or_default();
            // A minimum, so that a wake-up that changes nothing cannot spin.
            (Instant::now() + wait).max(self.ticked + Duration::from_millis(5)).min(heartbeat)
        })
    }

    fn handle_message(&mut self, message: ControllerMessage) {
        let now = self.now();
        self.generation += u64::from(!matches!(message, ControllerMessage::Input(Input::Tick)));
        let actions = match message {
            ControllerMessage::Input(input) => self.state.handle(input, now),
            ControllerMessage::Elected { term, record, counts } => {
                self.term = term;
                let mut actions = self.state.handle(Input::Record(record), now);
                actions.extend(self.state.handle(Input::Counts(counts), now));
                actions.extend(self.state.handle(Input::Leads(true), now));
                actions
            }
            ControllerMessage::Deposed => self.state.handle(Input::Leads(false), now),
        };
        self.perform(actions);
        let Controller { metrics, health, arm, .. } = self.controller;
        metrics.lengths(self.state.lengths());
        metrics.dropped(self.state.dropped());
        if health.record_loop(now) {
            metrics.arm(snapshot(arm));
        }
    }

    fn perform(&mut self, actions: Vec<Action>) {
        let mut writes = Vec::new();
        for action in actions {
            match action {
                Action::Read(read) => {
                    let arm = self.controller.arm.clone();
                    self.spawn(async move {
                        let observation = observe(&arm, &read.target, read.priority).await;
                        [Input::Observed { uid: read.uid, observation }]
                    });
                }
                Action::Sweep(sweep) => {
                    let arm = self.controller.arm.clone();
                    self.spawn(
                        async move { read_list(&arm, &sweep).await.map(Input::SweepResult) },
                    );
                }
                Action::Inspect { uid, node } => {
                    let inspector = self.inspector.clone();
                    self.spawn(async move {
                        let request = inspector.inspect(&node).await;
                        [Input::Inspected { uid, request }]
                    });
                }
                Action::Reread { uid, name } => self.reread(uid, name),
                Action::LogDiagnosis(diagnosed) => self.log_diagnosis(&diagnosed),
                Action::ImageFails { image, cause } => {
                    tracing::error!(image, cause, "node image failing");
                    self.controller.metrics.image_fails(&image, &cause);
                }
                Action::ImageRecovered { image, cause } => {
                    tracing::info!(image, cause, "node image no longer failing");
                    self.controller.metrics.image_recovered(&image, &cause);
                }
                Action::NodeFinding(node) => {
                    tracing::error!(Node = node.name, NodePool = node.pool, "{}", node.finding());
                }
                Action::Record(_) | Action::Count(_) | Action::Event(_) | Action::Patch { .. } => {
                    writes.push(action);
                }
            }
        }
        if writes.is_empty() {
            return;
        }
        if let Err(writes) = enqueue(&self.to_writer, Batch { term: self.term, writes }) {
            self.controller.metrics.deferred(writes.len());
            let actions = self.state.handle(Input::Deferred(writes), self.now());
            self.perform(actions);
        }
    }

    fn reread(&mut self, uid: Arc<str>, name: String) {
        let (api, projector) = (self.api.clone(), Arc::clone(&self.projector));
        self.spawn(async move {
            match api.get(&api::claim_path(&name)).await {
                Ok(text) => match projector.text(&text) {
                    Ok(claim) if claim.uid == uid => vec![Input::Claim(Box::new(claim))],
                    Ok(claim) => vec![Input::ClaimDeleted(uid), Input::Claim(Box::new(claim))],
                    Err(_) => vec![Input::ClaimDeleted(uid)],
                },
                Err(error) if error.status == Some(404) => vec![Input::ClaimDeleted(uid)],
                Err(_) => vec![Input::Patched { uid, result: patch::PatchResult::Retry }],
            }
        });
    }

    /// Starts work whose results are inputs.
    fn spawn<I>(&mut self, work: impl Future<Output = I> + Send + 'static)
    where
        I: IntoIterator<Item = Input, IntoIter: Send> + Send,
    {
        let to_loop = self.inbox.clone();
        self.tasks.spawn(async move {
            for input in work.await {
                let _ = to_loop.send(ControllerMessage::Input(input)).await;
            }
        });
    }

    fn log_diagnosis(&self, diagnosed: &DiagnosedClaim) {
        let DiagnosedClaim { claim, verdict, after_seconds } = diagnosed;
        let metrics = &self.controller.metrics;
        log::verdict(claim, verdict);
        if let Some(failure) = verdict.failure.as_ref().filter(|failure| failure.is_confirmed()) {
            let failed = FailedNode {
                code: failure.code,
                cause: failure.cause.clone(),
                pool: claim.pool.as_deref().unwrap_or_default().to_owned(),
                image: claim.image_key().unwrap_or_default(),
            };
            match verdict.reason {
                ConditionReason::NodeNotRegistered => metrics.not_registered(&failed),
                _ => metrics.failed(&failed),
            }
        }
        if let Some(seconds) = after_seconds.and_then(|seconds| u32::try_from(seconds).ok()) {
            metrics.verdict(verdict.reason, f64::from(seconds));
        }
    }
}

/// Queues writes, or returns them if the queue is full.
fn enqueue(to_writer: &mpsc::Sender<Batch>, batch: Batch) -> Result<(), Vec<Action>> {
    // The writer ends after this end of the channel, so an error is a full queue.
    to_writer.try_send(batch).map_err(|error| error.into_inner().writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_write_queue_returns_the_writes() {
        let (to_writer, mut batches) = mpsc::channel(1);
        let batch = |image: &str| {
            let (image, cause) = (image.to_owned(), String::new());
            Batch { term: 1, writes: vec![Action::ImageFails { image, cause }] }
        };
        assert!(enqueue(&to_writer, batch("first")).is_ok());
        let returned = enqueue(&to_writer, batch("second")).unwrap_err();
        let [Action::ImageFails { image, .. }] = returned.as_slice() else {
            panic!("{returned:?}")
        };
        assert_eq!(image, "second");
        assert!(batches.try_recv().is_ok());
        assert!(enqueue(&to_writer, batch("second")).is_ok());
    }
}
