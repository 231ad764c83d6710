//! Notifications of runs to the hooks of `MOORING_NOTIFY`, which are those of the controller.
//!
//! A hook that does not respond, or a wrong setting, is a warning: neither stops a run.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mooring_controller::notify::{
    AlertEvent, Hook, HttpTransport, RunNotification, RunState, Transport, hook,
};
use mooring_redact::printable;
use mooring_workflow::published::ClusterIdentity;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::output::failure::CommandFailure;
use crate::output::show;
use crate::process::env_var;

/// Time for one notification, to all hooks at the same time.
const LIMIT: Duration = Duration::from_secs(3);

/// Hooks and the way to send to them.
pub(crate) struct Hooks {
    hooks: Vec<Hook>,
    transport: HttpTransport,
}

impl Hooks {
    /// Reads the hooks of the environment.
    pub(crate) fn from_environment() -> Result<Self, String> {
        let hooks = hook::hooks(env_var).map_err(|error| error.to_string())?;
        Ok(Self { hooks, transport: HttpTransport::new()? })
    }

    /// Returns the hooks with the event `run`; none if there are none.
    fn of_runs() -> Option<Self> {
        // Most commands have no hooks, and need no HTTP client.
        env_var(hook::VARIABLE).filter(|value| !value.is_empty())?;
        let warn = |why: &String| show::print_warning(&format!("no notifications are sent: {why}"));
        let mut all = Self::from_environment().inspect_err(warn).ok()?;
        all.hooks.retain(|hook| hook.events.contains(&AlertEvent::Run));
        Some(all).filter(|all| !all.hooks.is_empty())
    }

    /// Sends a notification to every hook. Returns the name of each with the reason if it was not delivered.
    pub(crate) async fn send(
        &self,
        notification: &RunNotification,
    ) -> Vec<(&str, Result<(), String>)> {
        let sends = self.hooks.iter().map(|hook| async move {
            let now = Timestamp::now();
            let request = hook.request(notification.body(hook.format, now), now);
            let result = match timeout(LIMIT, self.transport.send(request)).await {
                Ok(Ok(200..=299)) => Ok(()),
                Ok(Ok(status)) => Err(format!("status {status}")),
                Ok(Err(why)) => Err(why),
                Err(_) => Err(format!("no response within {}s", LIMIT.as_secs())),
            };
            (hook.name.as_str(), result)
        });
        futures::future::join_all(sends).await
    }

    async fn send_or_warn(&self, notification: &RunNotification) {
        for (hook, result) in self.send(notification).await {
            if let Err(why) = result {
                show::print_warning(&format!("hook {hook} was not notified: {why}"));
            }
        }
    }
}

/// Subject of a run.
pub(crate) struct RunSubject {
    pub(crate) cluster: ClusterIdentity,
    /// `repair` or `finalizers`.
    pub(crate) workflow: &'static str,
    /// Pool or profile.
    pub(crate) name: String,
    /// Start of a sentence, such as `Repair of pool system`.
    pub(crate) what: String,
    /// Flags of further commands.
    pub(crate) flags: String,
}

impl RunSubject {
    fn notification(&self, run_id: &str, state: RunState, message: &str) -> RunNotification {
        let command = |word: &str| format!("mooring {} {word}{}", self.workflow, self.flags);
        let mut next = vec![(command("status"), "show the run")];
        if state == RunState::Stopped {
            next.push((command("resume"), "continue the run"));
        }
        let now = Timestamp::now();
        RunNotification {
            cluster: serde_json::to_value(&self.cluster).unwrap_or_default(),
            workflow: Some(self.workflow),
            subject: Some(self.name.clone()),
            run_id: run_id.to_owned(),
            state,
            started_at: now,
            ended_at: (state != RunState::Started).then_some(now),
            message: printable(message),
            next,
        }
    }
}

/// Notifications of one run: of its start, and of its end.
#[derive(Default)]
pub(crate) struct Notices {
    hooks: Option<(Arc<Hooks>, RunSubject)>,
    started: Option<Started>,
}

struct Started {
    run_id: String,
    at: Timestamp,
    sent: JoinHandle<()>,
}

impl Notices {
    /// Reads the subject only if there are hooks.
    pub(crate) async fn new(subject: impl Future<Output = RunSubject>) -> Self {
        let Some(hooks) = Hooks::of_runs() else { return Self::default() };
        Self { hooks: Some((Arc::new(hooks), subject.await)), started: None }
    }

    /// Notifies of the start, once. The run does not wait for it.
    pub(crate) fn start(&mut self, run_id: &str) {
        let Some((hooks, subject)) = self.hooks.as_ref().filter(|_| self.started.is_none()) else {
            return;
        };
        let cluster = subject.cluster.name.as_deref().unwrap_or("the cluster");
        let message = format!("{} in {cluster} started.", subject.what);
        let notification = subject.notification(run_id, RunState::Started, &message);
        let (hooks, at) = (Arc::clone(hooks), notification.started_at);
        let sent = tokio::spawn(async move { hooks.send_or_warn(&notification).await });
        self.started = Some(Started { run_id: run_id.to_owned(), at, sent });
    }

    /// Notifies of the end, if a run has started.
    pub(crate) async fn end(&mut self, done: &Result<u8, CommandFailure>) {
        let Some((hooks, subject)) = &self.hooks else { return };
        let Some(Started { run_id, at, sent }) = self.started.take() else { return };
        // Its own limit ends it.
        let _ = sent.await;
        let cluster = subject.cluster.name.as_deref().unwrap_or("the cluster");
        let (state, result) = match done {
            Ok(0) => (RunState::Finished, "finished".to_owned()),
            Ok(code) => (RunState::Stopped, format!("ended with exit code {code}")),
            Err(failure) => {
                let why = failure.text().lines().next().unwrap_or_default();
                (RunState::Stopped, format!("stopped: {why}"))
            }
        };
        let message = format!("{} in {cluster} {result}.", subject.what);
        let mut notification = subject.notification(&run_id, state, &message);
        notification.started_at = at;
        hooks.send_or_warn(&notification).await;
    }
}
