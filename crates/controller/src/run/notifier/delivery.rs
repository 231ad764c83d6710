//! One notification to one hook, with retries.

use std::sync::Arc;
use std::time::Duration;

use mooring_kube::{Clock, Gate};
use tokio::time::{Instant, sleep, timeout};

use crate::notify::payload::Notification;
use crate::notify::{Hook, Statuses, Transport};

const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_TIMEOUT: Duration = Duration::from_mins(5);
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_mins(1);

pub(super) struct Delivery {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) hook: Hook,
    pub(super) notification: Notification,
    pub(super) statuses: Arc<Statuses>,
    pub(super) clock: Clock,
    pub(super) gate: Arc<Gate>,
    pub(super) term: u64,
}

pub(super) enum DeliveryResult {
    Delivered,
    Undelivered(String),
    TermEnded,
}

impl Delivery {
    /// Sends until the hook accepts it, rejects it, or the time for retries ends.
    pub(super) async fn run(self) -> DeliveryResult {
        let end = Instant::now() + RETRY_TIMEOUT;
        let mut pause = MIN_PAUSE;
        loop {
            if !self.gate.allows_write(self.term).await {
                return DeliveryResult::TermEnded;
            }
            let now = (self.clock)();
            let body = self.notification.body(self.hook.format, now);
            let request = self.hook.request(body, now);
            let sent = timeout(ATTEMPT_TIMEOUT, self.transport.send(request)).await;
            let (why, is_permanent) = match sent {
                Ok(Ok(200..=299)) => {
                    self.statuses.delivered(&self.hook.name, (self.clock)());
                    return DeliveryResult::Delivered;
                }
                Ok(Ok(status)) => (format!("status {status}"), !is_retried(status)),
                Ok(Err(why)) => (why, false),
                Err(_) => ("no response: timed out".to_owned(), false),
            };
            self.statuses.failed(&self.hook.name, (self.clock)(), &why);
            if is_permanent || Instant::now() + pause > end {
                self.statuses.undelivered(&self.hook.name);
                return DeliveryResult::Undelivered(why);
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }
}

/// Other statuses do not change by themselves: a wrong URL, a removed hook, a redirect.
fn is_retried(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}
