//! Tokens, kept until shortly before they end.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Mutex;

use super::IdentityError;
use crate::world::{Token, World};

/// A token is replaced this long before it ends, so that none ends on its way or in a queue.
const EARLY: Duration = Duration::from_mins(5);

/// One token per scope. Whoever comes while a token is fetched waits for that one instead of fetching another;
/// if the one who fetches is dropped, the next in line fetches.
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
        let kept = tokens.get(scope);
        if let Some(token) = kept.filter(|token| ends_after(token, now, EARLY)) {
            return Ok(token.clone());
        }
        match world.token(scope).await {
            Ok(token) => {
                tokens.insert(scope.to_owned(), token.clone());
                Ok(token)
            }
            // An old token that still holds is better than none while the sign-in endpoint is away.
            Err(error) => match tokens.get(scope) {
                Some(token) if ends_after(token, world.now(), Duration::ZERO) => {
                    tracing::warn!(%error, "cannot renew the token, the old one is used while it holds");
                    Ok(token.clone())
                }
                _ => Err(error),
            },
        }
    }

    /// Forgets a token that was not accepted.
    pub(crate) async fn forget(&self, scope: &str) {
        self.0.lock().await.remove(scope);
    }
}

fn ends_after(token: &Token, now: Timestamp, margin: Duration) -> bool {
    now.checked_add(margin).is_ok_and(|then| token.expires > then)
}
