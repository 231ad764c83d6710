//! The client: a cloud, a world, a budget, and the terms of the next calls.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::Value;

use crate::budget::{Budget, Priority};
use crate::calls::Versions;
use crate::cloud::Cloud;
use crate::identity::{IdentityError, TokenCache};
use crate::metrics::{Counters, Metrics};
use crate::world::{Token, World};

/// How long a call may take unless told otherwise: five attempts with their pauses.
const WITHIN: Duration = Duration::from_mins(2);

/// Calls the resource manager. Clones share budget, tokens and counters; each has terms of its own:
///
/// ```no_run
/// # async fn read(client: mooring_arm::Client, vm: mooring_arm::ResourceId) -> Result<(), mooring_arm::Error> {
/// use mooring_arm::Priority;
/// let vm = client.at(Priority::Trigger).within(std::time::Duration::from_secs(10)).vm(&vm).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) priority: Priority,
    pub(crate) within: Duration,
    pub(crate) correlation_id: Option<String>,
    pub(crate) versions: Versions,
}

pub(crate) struct Shared {
    pub(crate) cloud: Cloud,
    pub(crate) world: Arc<dyn World>,
    pub(crate) budget: Budget,
    pub(crate) tokens: TokenCache,
    pub(crate) counters: Counters,
}

impl Client {
    /// A client. Its calls are routine work and end after two minutes unless told otherwise.
    #[must_use]
    pub fn new(cloud: Cloud, world: Arc<dyn World>, budget: Budget) -> Self {
        let (tokens, counters) = (TokenCache::default(), Counters::default());
        Self {
            shared: Arc::new(Shared { cloud, world, budget, tokens, counters }),
            priority: Priority::Routine,
            within: WITHIN,
            correlation_id: None,
            versions: Versions::default(),
        }
    }

    /// The same client for calls of another priority.
    #[must_use]
    pub fn at(&self, priority: Priority) -> Self {
        Self { priority, ..self.clone() }
    }

    /// The same client for calls that may take this long, waiting and repeating included.
    #[must_use]
    pub fn within(&self, within: Duration) -> Self {
        Self { within, ..self.clone() }
    }

    /// The same client for calls that belong together: all carry this correlation id.
    #[must_use]
    pub fn correlated(&self, correlation_id: &str) -> Self {
        Self { correlation_id: Some(correlation_id.to_owned()), ..self.clone() }
    }

    /// The same client for calls at other api-versions.
    #[must_use]
    pub fn speaking(&self, versions: Versions) -> Self {
        Self { versions, ..self.clone() }
    }

    pub fn cloud(&self) -> &Cloud {
        &self.shared.cloud
    }

    /// What was done so far, by all clones.
    pub fn metrics(&self) -> Metrics {
        let (waiting, watched_vms, unwatched_vms) = self.shared.budget.counts();
        Metrics {
            waiting,
            watched_vms,
            unwatched_vms,
            buckets: self.shared.budget.levels(self.shared.world.now()),
            ..self.shared.counters.so_far()
        }
    }

    /// A token for another scope than the resource manager's, such as [`Cloud::aks_scope`].
    pub async fn token(&self, scope: &str) -> Result<Token, IdentityError> {
        self.shared.tokens.token(self.world(), scope).await
    }

    /// Returns the object id of the caller, as its token names it; none if the token cannot be read.
    pub async fn object_id(&self) -> Option<String> {
        let token = self.token(&self.cloud().scope()).await.ok()?;
        let claims = token.secret.expose().split('.').nth(1)?.trim_end_matches('=').to_owned();
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        claims.get("oid")?.as_str().map(str::to_owned)
    }

    /// A fresh id in the form of a UUID, for requests that shall be found again in Azure's logs.
    pub fn new_id(&self) -> String {
        let (high, low) = (self.world().random(), self.world().random());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }

    pub(crate) fn world(&self) -> &dyn World {
        &*self.shared.world
    }

    /// The end of a call that begins now.
    pub(crate) fn deadline(&self) -> Timestamp {
        self.world().now().checked_add(self.within).unwrap_or(Timestamp::MAX)
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.shared.cloud.endpoint().as_str())
            .field("priority", &self.priority)
            .field("within", &self.within)
            .finish_non_exhaustive()
    }
}
