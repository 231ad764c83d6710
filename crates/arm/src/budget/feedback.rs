//! Updates of the buckets from Azure's responses.

use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;

use super::admission::Budget;
use super::routes::BucketName;

/// Maximum pause after a 429, regardless of `Retry-After`.
const MAX_PAUSE: Duration = Duration::from_mins(5);

impl Budget {
    /// Lowers the buckets to the remaining requests in the headers.
    pub(crate) fn learn(&self, now: Timestamp, names: &[BucketName], headers: &HeaderMap) {
        let mut state = self.lock();
        for (name, left) in remaining(headers) {
            if names.contains(&name)
                && let Some(bucket) = state.buckets.get_mut(&name)
            {
                bucket.at_most(now, left);
            }
        }
    }

    /// Closes a bucket after a 429: the resource manager's if `gate` is set, otherwise the one of the service.
    pub(crate) fn throttled(
        &self,
        now: Timestamp,
        names: &[BucketName],
        gate: bool,
        pause: Option<Duration>,
    ) {
        let name = if gate { names.first() } else { names.last() };
        if let Some(name) = name
            && let Some(bucket) = self.lock().buckets.get_mut(name)
        {
            bucket.close(now, pause.unwrap_or(Duration::from_secs(1)).min(MAX_PAUSE));
        }
    }
}

fn remaining(headers: &HeaderMap) -> Vec<(BucketName, u32)> {
    let number =
        |header: &str| -> Option<u32> { headers.get(header)?.to_str().ok()?.trim().parse().ok() };
    let single = [
        ("x-ms-ratelimit-remaining-subscription-reads", BucketName::Reads),
        ("x-ms-ratelimit-remaining-subscription-writes", BucketName::Writes),
        ("x-ms-ratelimit-remaining-subscription-deletes", BucketName::Writes),
        ("x-ms-user-quota-remaining", BucketName::Graph),
    ];
    let mut remaining: Vec<(BucketName, u32)> =
        single.into_iter().filter_map(|(header, name)| Some((name, number(header)?))).collect();
    // `Microsoft.Compute/HighCostGetSubscriptionMaximum;895,Microsoft.Compute/…;…`
    for value in headers.get_all("x-ms-ratelimit-remaining-resource") {
        for part in value.to_str().unwrap_or_default().split(',') {
            let Some((policy, left)) = part.trim().rsplit_once(';') else { continue };
            let policy = policy.to_ascii_lowercase();
            let name = match policy.rsplit('/').next().unwrap_or_default() {
                policy if policy.starts_with("highcostget") => BucketName::ComputeLists,
                policy if policy.starts_with("lowcostget") && policy.contains("subscription") => {
                    BucketName::ComputeReads
                }
                policy if policy.starts_with("getoperation") => BucketName::ComputeOperations,
                _ => continue,
            };
            if let Ok(left) = left.trim().parse() {
                remaining.push((name, left));
            }
        }
    }
    remaining
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_requests_are_read_from_headers() {
        let mut headers = HeaderMap::new();
        let mut put =
            |name: &'static str, value: &str| headers.append(name, value.parse().unwrap());
        put("x-ms-ratelimit-remaining-subscription-reads", "249");
        put("x-ms-ratelimit-remaining-subscription-writes", "many");
        put(
            "x-ms-ratelimit-remaining-resource",
            "Microsoft.Compute/HighCostGetVMScaleSet3Min;177,Microsoft.Compute/LowCostGetSubscriptionMaximum;23998",
        );
        put(
            "x-ms-ratelimit-remaining-resource",
            "Microsoft.Compute/GetOperation3Min;5, nonsense, Microsoft.Compute/PutVM3Min;2, Microsoft.Compute/LowCostGetResource3Min;11",
        );
        put("x-ms-user-quota-remaining", "14");
        assert_eq!(
            remaining(&headers),
            [
                (BucketName::Reads, 249),
                (BucketName::Graph, 14),
                (BucketName::ComputeLists, 177),
                (BucketName::ComputeReads, 23_998),
                (BucketName::ComputeOperations, 5)
            ]
        );
    }
}
