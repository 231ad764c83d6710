//! Throttling by token buckets, as Azure does it.

use jiff::SignedDuration;

use crate::azure::api::request::{ArmCall, ArmError};
use crate::azure::state::{BucketRate, Buckets, RateLimits};

/// Number of buckets above which full ones are dropped, and seconds until every bucket is full.
const MAX_BUCKETS: usize = 10_000;
const FULL_AGAIN: SignedDuration = SignedDuration::from_mins(10);

/// Headers with the remaining tokens of an accepted call.
pub(crate) type RemainingHeaders = Vec<(&'static str, String)>;

struct Draw {
    key: String,
    limit: BucketRate,
    /// Azure's code for an empty bucket, and the header with its level.
    code: &'static str,
    header: Option<&'static str>,
    by_aks: bool,
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
                let error = if draw.by_aks { ArmError::aks } else { ArmError::new }(
                    429, draw.code, message,
                );
                return Err(error.with("retry-after", wait.to_string()));
            }
            if let Some(header) = draw.header {
                let rest = (level - 1.0).floor();
                let is_compute = header == COMPUTE_LEFT;
                left.push((
                    header,
                    if is_compute {
                        format!("Microsoft.Compute/GetVM;{rest}")
                    } else {
                        rest.to_string()
                    },
                ));
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
    let mut draws = vec![Draw {
        key: format!("{kind} {subscription} {who}"),
        limit,
        code: "SubscriptionRequestsThrottled",
        header: Some(header),
        by_aks: false,
    }];
    let provider = lower.iter().position(|part| *part == "providers").map(|at| &lower[at + 1..]);
    match provider {
        Some(["microsoft.containerservice", "locations", ..]) => draws.push(Draw {
            key: format!("aks operations {subscription}"),
            limit: limits.aks_operations,
            code: "Throttled",
            header: None,
            by_aks: true,
        }),
        Some(["microsoft.containerservice", ..]) => draws.push(Draw {
            key: format!("aks {subscription}"),
            limit: limits.aks,
            code: "Throttled",
            header: None,
            by_aks: true,
        }),
        Some(["microsoft.compute", "virtualmachines", name, ..]) => {
            draws.push(compute(format!("vm {name}"), limits.machine));
        }
        Some(
            ["microsoft.compute", "virtualmachinescalesets", set, "virtualmachines", name, ..],
        ) => {
            draws.push(compute(format!("vm {set} {name}"), limits.machine));
        }
        Some(["microsoft.compute", "virtualmachines" | "virtualmachinescalesets", ..]) => {
            draws.push(compute(format!("lists {subscription}"), limits.machine_list));
        }
        Some(["microsoft.resourcegraph", ..]) => draws.push(Draw {
            key: format!("graph {who}"),
            limit: limits.graph,
            code: "RateLimiting",
            header: Some("x-ms-user-quota-remaining"),
            by_aks: false,
        }),
        _ => {}
    }
    draws
}

/// Header with the levels of compute buckets, by name.
const COMPUTE_LEFT: &str = "x-ms-ratelimit-remaining-resource";

fn compute(key: String, limit: BucketRate) -> Draw {
    Draw { key, limit, code: "OperationNotAllowed", header: Some(COMPUTE_LEFT), by_aks: false }
}
