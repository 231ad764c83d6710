//! The request pipeline: faults, sign-in, api-version, buckets, permissions, then the resource.

use http::{HeaderName, HeaderValue, StatusCode};
use jiff::{SignedDuration, Timestamp};

use crate::azure::api::access::sign_in;
use crate::azure::api::request::{ArmCall, ArmError, ArmPath, Reply, versions};
use crate::azure::state::Azure;
use crate::exchange::query;
use crate::exchange::{Request, Response, ServerReply, header, json, plain};
use crate::faults::{Fault, MatchedCall, ServiceName};

impl Azure {
    pub fn handle(&mut self, request: &Request, now: Timestamp) -> ServerReply {
        let path = request.uri().path();
        let method = request.method().as_str();
        let service = if is_sign_in(path) { ServiceName::SignIn } else { ServiceName::Arm };
        let fault = self.next_fault(service, request, now);
        if let Some(Fault::ClockJump { seconds }) = fault {
            self.clock += SignedDuration::from_secs(seconds);
        }
        let now = self.model_time(now);
        self.state.settle(now);
        let request_id = self.ids.guid();
        let (reply, outcome) = self.fate_of(request, now, fault.as_ref(), &request_id);
        let code = reply.as_ref().and_then(code_of).unwrap_or_default();
        let status = reply.as_ref().map_or(0, |reply| reply.status);
        let target = request.uri().path_and_query().map_or(path, |target| target.as_str());
        let injected =
            fault.map_or_else(String::new, |fault| format!(" fault {}", text_of(&fault)));
        self.trace.record(now, format_args!("{method} {target} -> {status} {code}{injected}"));
        outcome
    }

    fn next_fault(
        &mut self,
        service: ServiceName,
        request: &Request,
        now: Timestamp,
    ) -> Option<Fault> {
        let (path, method) = (request.uri().path(), request.method().as_str());
        let writes = !matches!(method, "GET" | "HEAD");
        let call = MatchedCall { service, method, path, writes };
        self.faults.next_of(call, now, concerns_azure)
    }

    /// Applies this run's fault rules to a response of another service (metadata service, registry).
    pub fn with_faults(
        &mut self,
        service: ServiceName,
        request: &Request,
        now: Timestamp,
        answer: impl FnOnce(Timestamp) -> ServerReply,
    ) -> ServerReply {
        let (path, method) = (request.uri().path(), request.method().as_str());
        let fault = self.next_fault(service, request, now);
        let injected = fault.as_ref().map_or_else(|| "none".to_owned(), text_of);
        self.trace.record(now, format_args!("{method} {path} fault {injected}"));
        match fault {
            Some(Fault::TimeoutBefore | Fault::TimeoutAfter) => ServerReply::Silence,
            Some(Fault::DropBefore | Fault::DropAfter) => ServerReply::Dropped,
            Some(fault @ Fault::Status { .. }) => self.fate_of(request, now, Some(&fault), "").1,
            Some(Fault::Truncate) => match answer(self.model_time(now)) {
                ServerReply::Answer(response) => {
                    let half = response.body().bytes().len() / 2;
                    ServerReply::CutShort(response, half)
                }
                other => other,
            },
            _ => answer(self.model_time(now)),
        }
    }

    fn fate_of(
        &mut self,
        request: &Request,
        now: Timestamp,
        fault: Option<&Fault>,
        request_id: &str,
    ) -> (Option<Reply>, ServerReply) {
        let mut sent = None;
        let outcome = Fault::deliver(fault, || {
            let reply = match fault {
                Some(Fault::Status { status, code, retry_after }) => {
                    let code = code.as_deref().unwrap_or(usual_code(*status));
                    let mut error = ArmError::new(*status, code, "A fault rule of the simulator.");
                    if let Some(seconds) = retry_after {
                        error = error.with("retry-after", seconds.to_string());
                    }
                    error.reply()
                }
                _ => self.answer(request, now, fault),
            };
            let response = respond(&reply, request, request_id);
            sent = Some(reply);
            response
        });
        (sent, outcome)
    }

    fn answer(&mut self, request: &Request, now: Timestamp, fault: Option<&Fault>) -> Reply {
        let base = base_of(request, &self.state.options.endpoint);
        let path = ArmPath::parse(request.uri().path());
        let segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
        let method = request.method().as_str();
        sign_in::answer(&self.state.options, method, &segments, request.body(), &base, now)
            .unwrap_or_else(|| {
                self.arm(request, path, base, now, fault).unwrap_or_else(ArmError::reply)
            })
    }

    fn arm(
        &mut self,
        request: &Request,
        path: ArmPath,
        base: String,
        now: Timestamp,
        fault: Option<&Fault>,
    ) -> Result<Reply, ArmError> {
        let header = |name: &str| header(request, name);
        let principal = if self.state.options.require_token {
            sign_in::principal(&self.state.options.token_key, header("authorization"), now)?
        } else {
            self.state.options.principal.clone()
        };
        let correlation = header("x-ms-correlation-request-id")
            .or(header("x-ms-client-request-id"))
            .map_or_else(|| self.ids.guid(), str::to_owned);
        let mut call = ArmCall {
            method: request.method().clone(),
            path,
            query: query(request.uri().query()),
            body: None,
            base,
            principal,
            correlation,
            if_match: header("if-match").map(str::to_owned),
            if_none_match: header("if-none-match").map(str::to_owned),
            now,
            operation_fault: match fault {
                Some(Fault::Operation(fault)) => Some(*fault),
                _ => None,
            },
            hidden: matches!(fault, Some(Fault::NotFoundAfterAccept)),
        };
        versions::check(&call, &self.state.options)?;
        let speed = self.state.options.speed;
        let left = self.buckets.draw(&call, &self.state.options.limits, speed)?;
        if !request.body().is_empty() {
            let body = serde_json::from_slice(request.body());
            call.body = Some(body.map_err(|error| {
                ArmError::bad_body(format!(
                    "The request content was invalid and could not be deserialized: '{error}'."
                ))
            })?);
        }
        self.state.authorize(&call)?;
        let is_read = matches!(call.method.as_str(), "GET" | "HEAD");
        if let (true, Some(Fault::Stale { seconds })) = (is_read, fault)
            && let Some(old) = self.history.at(now, *seconds)
        {
            let mut reply = (*old).clone().route(&call)?;
            reply.headers.extend(left);
            return Ok(reply);
        }
        let may_be_stale = self.faults.rules().any(|rule| matches!(rule.then, Fault::Stale { .. }));
        if may_be_stale {
            self.history.keep(now, &self.state);
        }
        let mut reply = self.state.route(&call)?;
        reply.headers.extend(left);
        Ok(reply.with("x-ms-correlation-request-id", call.correlation))
    }
}

/// Returns a fault as in the trace.
fn text_of(fault: &Fault) -> String {
    serde_json::to_string(fault).unwrap_or_default()
}

fn concerns_azure(fault: &Fault) -> bool {
    !matches!(
        fault,
        Fault::DropWatch | Fault::DuplicateEvent | Fault::ReorderEvent | Fault::Restart
    )
}

fn is_sign_in(path: &str) -> bool {
    let arm = ["/subscriptions", "/providers", "/tenants"];
    !arm.iter()
        .any(|start| path.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start)))
}

fn usual_code(status: u16) -> &'static str {
    match status {
        400 => "BadRequest",
        401 => "InvalidAuthenticationToken",
        403 => "AuthorizationFailed",
        404 => "ResourceNotFound",
        409 => "OperationNotAllowed",
        412 => "PreconditionFailed",
        429 => "SubscriptionRequestsThrottled",
        503 => "ServerTimeout",
        504 => "GatewayTimeout",
        _ => "InternalServerError",
    }
}

/// Returns the error code of a response, for the trace.
fn code_of(reply: &Reply) -> Option<String> {
    let body = reply.body.as_ref()?;
    let code =
        body.pointer("/error/code").or_else(|| body.get("code").filter(|_| reply.status >= 400));
    code?.as_str().map(str::to_owned)
}

/// Returns the scheme and authority that the client used.
fn base_of(request: &Request, otherwise: &str) -> String {
    let authority = request.uri().authority().map(http::uri::Authority::as_str);
    let authority = authority.or(header(request, "host"));
    authority.map_or_else(|| otherwise.to_owned(), |authority| format!("https://{authority}"))
}

fn respond(reply: &Reply, request: &Request, request_id: &str) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match &reply.body {
        Some(body) => json(status, body),
        None => plain(status, ""),
    };
    let headers = response.headers_mut();
    let mut put = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    put("x-ms-request-id", request_id);
    put("x-ms-correlation-request-id", request_id);
    for name in ["x-ms-correlation-request-id", "x-ms-client-request-id"] {
        if let Some(id) = header(request, name) {
            put(name, id);
        }
    }
    for (name, value) in &reply.headers {
        put(name, value);
    }
    response
}
