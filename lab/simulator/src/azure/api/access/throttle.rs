//! Throttling by token buckets, as Azure does it.

use jiff::SignedDuration;

use crate::azure::api::request::{ArmCall, ArmError};
use crate::azure::state::{BucketRate, Buckets, RateLimits};

/// Number of buckets above which full ones are dropped, and seconds until every bucket is full.
const MAX_BUCKETS: usize = 10_000;
const FULL_AGAIN: SignedDuration = SignedDuration::from_mins(10);

/// Header with the levels of compute buckets, by name.
const COMPUTE_LEFT: &str = "x-ms-ratelimit-remaining-resource";
/// Code of the AKS resource provider, whose errors have another form.
const THROTTLED_BY_AKS: &str = "Throttled";

/// Headers with the remaining tokens of an accepted call.
pub(crate) type RemainingHeaders = Vec<(&'static str, String)>;

struct Draw {
    key: String,
    limit: BucketRate,
    /// Azure's code for an empty bucket, and the header with its level.
    code: &'static str,
    header: Option<&'static str>,
}

impl Buckets {
    /// Draws a token for this call from every bucket that applies, or returns the time to wait.
    pub(crate) fn draw(
        &mut self,
        call: &ArmCall,
        limits: &RateLimits,
        speed: f64,
    ) -> Result<RemainingHeaders, ArmError> {
        // Names come from clients: a bucket that was not used for a while is full again anyway.
        if self.levels.len() > MAX_BUCKETS {
            self.levels.retain(|_, (_, at)| call.now.duration_since(*at) < FULL_AGAIN);
        }
        let mut left = RemainingHeaders::new();
        for draw in draws(call, limits) {
            let full = (draw.limit.burst * limits.full, call.now);
            let (level, at) = *self.levels.get(&draw.key).unwrap_or(&full);
            let passed = call.now.duration_since(at).as_secs_f64().max(0.0);
            let rate = draw.limit.per_second * speed;
            let level = (level + passed * rate).min(draw.limit.burst);
            if level < 1.0 {
                self.levels.insert(draw.key, (level, call.now));
                // Whole seconds, at least one, at most a day for a bucket that never fills.
                let wait = ((1.0 - level) / rate).ceil().clamp(1.0, 86_400.0);
                let message = format!(
                    "Number of requests exceeded the limit. Please try again after '{wait}' seconds."
                );
                let by_aks = draw.code == THROTTLED_BY_AKS;
                let error = if by_aks { ArmError::aks } else { ArmError::new };
                return Err(error(429, draw.code, message).with("retry-after", wait.to_string()));
            }
            if let Some(header) = draw.header {
                let rest = (level - 1.0).floor();
                let prefix = if header == COMPUTE_LEFT { "Microsoft.Compute/GetVM;" } else { "" };
                left.push((header, format!("{prefix}{rest}")));
            }
            self.levels.insert(draw.key, (level - 1.0, call.now));
        }
        Ok(left)
    }
}

fn draws(call: &ArmCall, limits: &RateLimits) -> Vec<Draw> {
    let lower: Vec<&str> = call.path.lower.iter().map(String::as_str).collect();
    let subscription = lower.get(1).copied().unwrap_or_default();
    let who = &call.principal;
    let (kind, limit, header) = match call.method.as_str() {
        "GET" | "HEAD" => ("reads", limits.reads, "x-ms-ratelimit-remaining-subscription-reads"),
        "DELETE" => ("deletes", limits.deletes, "x-ms-ratelimit-remaining-subscription-deletes"),
        _ => ("writes", limits.writes, "x-ms-ratelimit-remaining-subscription-writes"),
    };
    let key = format!("{kind} {subscription} {who}");
    let code = "SubscriptionRequestsThrottled";
    let mut draws = vec![Draw { key, limit, code, header: Some(header) }];
    let aks = |key, limit| Draw { key, limit, code: THROTTLED_BY_AKS, header: None };
    let compute =
        |key, limit| Draw { key, limit, code: "OperationNotAllowed", header: Some(COMPUTE_LEFT) };
    let provider = lower.iter().position(|part| *part == "providers").map(|at| &lower[at + 1..]);
    draws.extend(match provider {
        Some(["microsoft.containerservice", "locations", ..]) => {
            Some(aks(format!("aks operations {subscription}"), limits.aks_operations))
        }
        Some(["microsoft.containerservice", ..]) => {
            Some(aks(format!("aks {subscription}"), limits.aks))
        }
        Some(["microsoft.compute", "virtualmachines", name, ..]) => {
            Some(compute(format!("vm {name}"), limits.machine))
        }
        Some(
            ["microsoft.compute", "virtualmachinescalesets", set, "virtualmachines", name, ..],
        ) => Some(compute(format!("vm {set} {name}"), limits.machine)),
        Some(["microsoft.compute", "virtualmachines" | "virtualmachinescalesets", ..]) => {
            Some(compute(format!("lists {subscription}"), limits.machine_list))
        }
        Some(["microsoft.resourcegraph", ..]) => Some(Draw {
            key: format!("graph {who}"),
            limit: limits.graph,
            code: "RateLimiting",
            header: Some("x-ms-user-quota-remaining"),
        }),
        _ => None,
    });
    draws
}
