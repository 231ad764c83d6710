//! The client: cloud, world, budget, and options of the next calls.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::budget::{Budget, Priority};
use crate::cloud::Cloud;
use crate::identity::{IdentityError, Token};
use crate::metrics::{ArmMetrics, Counters};
use crate::world::World;

/// Default deadline of a call: five attempts with their pauses.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// Calls the resource manager. Clones share budget, tokens and counters, but not priority and timeout:
///
/// ```no_run
/// # async fn read(client: mooring_arm::Client, vm: mooring_arm::ResourceId) -> Result<(), mooring_arm::Error> {
/// use mooring_arm::Priority;
/// let vm: mooring_arm::calls::Vm =
///     client.at(Priority::Trigger).within(std::time::Duration::from_secs(10)).vm(&vm).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<SharedState>,
    pub(crate) priority: Priority,
    pub(crate) within: Duration,
    pub(crate) correlation_id: Option<String>,
    pub(crate) versions: Versions,
}

pub(crate) struct SharedState {
    pub(crate) cloud: Cloud,
    pub(crate) world: Arc<dyn World>,
    pub(crate) budget: Budget,
    pub(crate) tokens: TokenCache,
    pub(crate) counters: Counters,
}

impl Client {
    /// Creates a client with routine priority and a timeout of two minutes.
    pub fn new(cloud: Cloud, world: Arc<dyn World>, budget: Budget) -> Self {
        let (tokens, counters) = (TokenCache::default(), Counters::default());
        Self {
            shared: Arc::new(SharedState { cloud, world, budget, tokens, counters }),
            priority: Priority::Routine,
            within: DEFAULT_TIMEOUT,
            correlation_id: None,
            versions: Versions::default(),
        }
    }

    #[must_use]
    pub fn at(&self, priority: Priority) -> Self {
        Self { priority, ..self.clone() }
    }

    /// Sets the time limit of a call, including waits and retries.
    #[must_use]
    pub fn within(&self, within: Duration) -> Self {
        Self { within, ..self.clone() }
    }

    /// Sends this correlation ID with all calls.
    #[must_use]
    pub fn correlated(&self, correlation_id: &str) -> Self {
        Self { correlation_id: Some(correlation_id.to_owned()), ..self.clone() }
    }

    #[must_use]
    pub fn with_versions(&self, versions: Versions) -> Self {
        Self { versions, ..self.clone() }
    }

    pub fn cloud(&self) -> &Cloud {
        &self.shared.cloud
    }

    /// Returns the counters of all clones.
    pub fn metrics(&self) -> ArmMetrics {
        let (waiting, watched_vms, unwatched_vms) = self.shared.budget.counts();
        ArmMetrics {
            waiting,
            watched_vms,
            unwatched_vms,
            buckets: self.shared.budget.levels(self.shared.world.now()),
            ..self.shared.counters.snapshot()
        }
    }

    /// Returns a token for a scope, such as [`Cloud::aks_scope`].
    pub async fn token(&self, scope: &str) -> Result<Token, IdentityError> {
        self.shared.tokens.token(self.world(), scope).await
    }

    /// Returns the caller's object ID from its token.
    pub async fn object_id(&self) -> Option<String> {
        let token = self.token(&self.cloud().scope()).await.ok()?;
        let claims = token.secret.expose().split('.').nth(1)?.trim_end_matches('=').to_owned();
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        claims.get("oid")?.as_str().map(str::to_owned)
    }

    /// Returns a new UUID, to find requests in Azure's logs.
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

    /// Returns the deadline of a call that starts now.
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

/// Tokens are renewed this long before they expire, so that none expires in transit or in a queue.
const RENEWAL_MARGIN: Duration = Duration::from_mins(5);

/// One token per scope. Concurrent callers wait for one fetch; if that fetch is dropped, the next caller fetches.
#[derive(Debug, Default)]
pub(crate) struct TokenCache(Mutex<BTreeMap<String, Token>>);

impl TokenCache {
    pub(crate) async fn token(
        &self,
        world: &dyn World,
        scope: &str,
    ) -> Result<Token, IdentityError> {
        let mut tokens = self.0.lock().await;
        let now = world.now();
        let cached = tokens.get(scope);
        if let Some(token) = cached.filter(|token| expires_after(token, now, RENEWAL_MARGIN)) {
            return Ok(token.clone());
        }
        match world.token(scope).await {
            Ok(token) => {
                tokens.insert(scope.to_owned(), token.clone());
                Ok(token)
            }
            // A token that is still valid is used while the sign-in endpoint is unavailable.
            Err(error) => match tokens.get(scope) {
                Some(token) if expires_after(token, world.now(), Duration::ZERO) => {
                    tracing::warn!(%error, "failed to renew the token, using the cached one until it expires");
                    Ok(token.clone())
                }
                _ => Err(error),
            },
        }
    }

    /// Removes a token that was rejected.
    pub(crate) async fn forget(&self, scope: &str) {
        self.0.lock().await.remove(scope);
    }
}

fn expires_after(token: &Token, now: Timestamp, margin: Duration) -> bool {
    now.checked_add(margin).is_ok_and(|then| token.expires > then)
}

/// Pools use the newest stable version: GET and PUT lose every member that their version lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// Clusters and pools. `ignore-pod-disruption-budget` and `If-Match` exist since 2025-02-01.
    pub aks: &'static str,
    /// `operations/latest` exists in preview versions only, which stop working about a year after their release.
    pub aks_operations: &'static str,
    /// Machines. `status.provisioningError` exists only in newer versions.
    pub machines: &'static str,
    /// VMs, scale sets, extensions, run command.
    pub compute: &'static str,
    /// Network interfaces of scale sets, which exist only in this old version.
    pub scale_set_network: &'static str,
    pub network: &'static str,
    pub activity_log: &'static str,
    pub tags: &'static str,
    /// Permissions and deny assignments.
    pub authorization: &'static str,
    pub locks: &'static str,
    pub graph: &'static str,
    /// Version of requests about resource groups.
    pub resources: &'static str,
}

impl Default for Versions {
    fn default() -> Self {
        Self {
            aks: "2026-05-01",
            aks_operations: "2026-04-02-preview",
            machines: "2026-05-01",
            compute: "2024-07-01",
            scale_set_network: "2018-10-01",
            network: "2024-05-01",
            activity_log: "2015-04-01",
            tags: "2021-04-01",
            authorization: "2022-04-01",
            locks: "2020-05-01",
            graph: "2022-10-01",
            resources: "2021-04-01",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_renewed_five_minutes_before_it_expires() {
        let now = Timestamp::UNIX_EPOCH;
        for (left, is_kept) in [(299, false), (300, false), (301, true)] {
            let expires = Timestamp::from_second(left).unwrap();
            let token = Token { secret: "x".into(), expires, credential: None };
            assert_eq!(expires_after(&token, now, RENEWAL_MARGIN), is_kept, "{left} s left");
        }
    }
}
