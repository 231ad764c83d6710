//! Routing of requests to models.

use futures::future::BoxFuture;

use super::admin;
use super::shell::{Shell, now};
use crate::azure::LOGS;
use crate::exchange::{Request, ServerReply, header};
use crate::faults::ServiceName;
use crate::live_patching;
use crate::secrets;
use crate::serve::Service;

impl Shell {
    fn may_administer(&self, request: &Request) -> bool {
        header(request, "authorization")
            .and_then(|header| header.strip_prefix("Bearer "))
            .is_some_and(|sent| secrets::matches(&self.admin_token, sent))
    }

    fn answer(&self, request: &Request) -> ServerReply {
        let path = request.uri().path();
        let starts = |prefix: &str| path.starts_with(prefix);
        if starts("/admin/") {
            return ServerReply::Answer(if self.may_administer(request) {
                admin::answer(self, request, now())
            } else {
                admin::refuse()
            });
        }
        if starts("/metadata/instance")
            || starts("/metadata/identity")
            || starts("/metadata/attested")
        {
            return self.azure().with_faults(ServiceName::Imds, request, now(), |now| {
                self.imds.handle(request, now)
            });
        }
        if starts(LOGS) {
            return ServerReply::Answer(self.azure().serial_log(request));
        }
        if path == live_patching::METHOD {
            return self.live_patching.handle(request, &self.imds.compute["vmId"]);
        }
        if starts("/v2/") || starts("/oauth2/") {
            return self.azure().with_faults(ServiceName::Registry, request, now(), |now| {
                self.registry.handle(request, now)
            });
        }
        self.world.handle(ServiceName::Arm, request)
    }
}

impl Service for Shell {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply> {
        let outcome = self.answer(&request);
        Box::pin(async move { outcome })
    }
}
