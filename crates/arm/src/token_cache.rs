//! Cache of tokens.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Mutex;

use crate::identity::{IdentityError, Token};
use crate::world::World;

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
