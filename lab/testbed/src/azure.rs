//! Connects the Azure client to the simulated Azure in the same process, on one clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use mooring_arm::identity::IdentityError;
use mooring_arm::{Token, TransportError, World};
use mooring_simulator::cluster::Shell;
use mooring_simulator::exchange::ServerReply;
use mooring_simulator::faults::ServiceName;

/// The simulated Azure with its clock and reproducible randomness.
pub struct InProcessAzure {
    shell: Shell,
    drawn: AtomicU64,
}

impl InProcessAzure {
    pub fn of(shell: &Shell) -> Self {
        Self { shell: shell.clone(), drawn: AtomicU64::new(0) }
    }
}

impl World for InProcessAzure {
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
            match self.shell.call(ServiceName::Arm, request).await {
                ServerReply::Answer(answer) => Ok(answer.map(|body| body.bytes())),
                other => Err(TransportError::unknown(format!("{other:?}"))),
            }
        }
        .boxed()
    }

    fn token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        let audience = scope.trim_end_matches("/.default");
        let secret = self.shell.with(|world, now| world.azure().token(audience, now));
        let expires = self.now() + Duration::from_mins(50);
        std::future::ready(Ok(Token { secret: secret.into(), expires, credential: None })).boxed()
    }
}
