//! Azure in the same process, for the client of Azure.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use mooring_arm::identity::IdentityError;
use mooring_arm::{Budget, Client, Cloud, Outside, Settings, Token, TransportError};
use mooring_contract::Secret;
use mooring_controller::share;
use mooring_simulator::exchange::Outcome;
use mooring_simulator::faults::Service;
use mooring_simulator::world::Shell;

struct InProcess {
    shell: Shell,
    drawn: AtomicU64,
}

/// A client within the controller's own share.
pub(crate) fn client(shell: &Shell) -> Client {
    let outside = InProcess { shell: shell.clone(), drawn: AtomicU64::new(0) };
    let cloud = Cloud::new(Settings::default()).unwrap();
    Client::new(cloud, Arc::new(outside), Budget::new(share::ours()))
}

impl Outside for InProcess {
    fn now(&self) -> Timestamp {
        self.shell.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }

    fn random(&self) -> u64 {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        drawn.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Bytes>, TransportError>> {
        async move {
            match self.shell.call(Service::Arm, request).await {
                Outcome::Answer(answer) => Ok(answer.map(|body| body.bytes())),
                _ => Err(TransportError::unknown("the connection broke")),
            }
        }
        .boxed()
    }

    fn token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        let audience = scope.trim_end_matches("/.default");
        let token = self.shell.with(|world, now| world.azure().token(audience, now));
        let expires = self.shell.now() + SignedDuration::from_hours(1);
        std::future::ready(Ok(Token { secret: Secret::from(token.as_str()), expires })).boxed()
    }
}
