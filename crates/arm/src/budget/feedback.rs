//! What Azure's answers say about the buckets.

use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;

use super::{Budget, MAX_PAUSE, Name};

impl Budget {
    /// Reads the headers that tell what is left.
    pub(crate) fn learn(&self, now: Timestamp, names: &[Name], headers: &HeaderMap) {
        let mut state = self.lock();
        for (name, left) in told(headers) {
            if names.contains(&name)
                && let Some(bucket) = state.buckets.get_mut(&name)
            {
                bucket.at_most(now, left);
            }
        }
    }

    /// Azure refused a request for being one too many. `gate`: the resource manager itself did, not the
    /// service behind it.
    pub(crate) fn refused(
        &self,
        now: Timestamp,
        names: &[Name],
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

/// What is left, by bucket, as far as the headers tell.
fn told(headers: &HeaderMap) -> Vec<(Name, u32)> {
    let number =
        |header: &str| -> Option<u32> { headers.get(header)?.to_str().ok()?.trim().parse().ok() };
    let single = [
        ("x-ms-ratelimit-remaining-subscription-reads", Name::Reads),
        ("x-ms-ratelimit-remaining-subscription-writes", Name::Writes),
        ("x-ms-ratelimit-remaining-subscription-deletes", Name::Writes),
        ("x-ms-user-quota-remaining", Name::Graph),
    ];
    let mut told: Vec<(Name, u32)> =
        single.into_iter().filter_map(|(header, name)| Some((name, number(header)?))).collect();
    // `Microsoft.Compute/HighCostGetSubscriptionMaximum;895,Microsoft.Compute/…;…`
    for value in headers.get_all("x-ms-ratelimit-remaining-resource") {
        for part in value.to_str().unwrap_or_default().split(',') {
            let Some((policy, left)) = part.trim().rsplit_once(';') else { continue };
            let policy = policy.to_ascii_lowercase();
            let name = match policy.rsplit('/').next().unwrap_or_default() {
                policy if policy.starts_with("highcostget") => Name::ComputeLists,
                policy if policy.starts_with("lowcostget") && policy.contains("subscription") => {
                    Name::ComputeReads
                }
                policy if policy.starts_with("getoperation") => Name::ComputeOperations,
                _ => continue,
            };
            if let Ok(left) = left.trim().parse() {
                told.push((name, left));
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_are_read_and_nonsense_is_not() {
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
            "Microsoft.Compute/GetOperation3Min;5, nonsense, Microsoft.Compute/PutVM3Min;2",
        );
        put("x-ms-user-quota-remaining", "14");
        assert_eq!(
            told(&headers),
            [
                (Name::Reads, 249),
                (Name::Graph, 14),
                (Name::ComputeLists, 177),
                (Name::ComputeReads, 23_998),
                (Name::ComputeOperations, 5)
            ]
        );
    }
}
