//! Whether the machines of a temporary pool can be had: quota and restrictions of the size.

use mooring_arm::Client;
use serde_json::Value;

use crate::observation::{Cluster, Pool, Reading};
use crate::plan::Surroundings;

/// Asks for the region's usages and sizes. What cannot be read stays unknown; free addresses of subnets are not
/// told by any one call, so they are said not to be checked.
pub(crate) async fn surroundings(
    client: &Client,
    subscription: &str,
    cluster: &Cluster,
    pool: &Pool,
) -> Surroundings {
    let mut around = Surroundings::unread();
    around.free_addresses =
        Reading::Failed("not checked: no call tells the free addresses".to_owned());
    let Some(location) = cluster.location.as_deref() else { return around };
    let size = pool.raw["properties"]["vmSize"].as_str().unwrap_or_default();
    let zones: Vec<&str> = pool.raw["properties"]["availabilityZones"]
        .as_array()
        .map(|zones| zones.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut family = None;
    match client.vm_sizes(subscription, location).await {
        Ok(sizes) => {
            let sizes: Vec<Value> = sizes.iter().filter_map(parse).collect();
            let found = sizes.iter().find(|entry| {
                entry["resourceType"] == "virtualMachines"
                    && entry["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(size))
            });
            match found {
                Some(entry) => {
                    family = entry["family"].as_str().map(str::to_owned);
                    around.vcpus = vcpus(entry)
                        .map_or_else(|| Reading::Failed("is not said".to_owned()), Reading::Known);
                    around.restrictions = Reading::Known(restrictions(entry, &zones));
                }
                None => {
                    around.restrictions =
                        Reading::Known(vec![format!("{size} is not offered in {location}")]);
                }
            }
        }
        Err(error) => around.restrictions = Reading::Failed(error.to_string()),
    }
    around.quota_left = match client.vm_usages(subscription, location).await {
        Ok(usages) => {
            let usages: Vec<Value> = usages.iter().filter_map(parse).collect();
            left(&usages, family.as_deref())
                .map_or_else(|| Reading::Failed("no quota is told".to_owned()), Reading::Known)
        }
        Err(error) => Reading::Failed(error.to_string()),
    };
    around
}

fn parse<T>(raw: &mooring_arm::Raw<T>) -> Option<Value> {
    serde_json::from_str(raw.text()).ok()
}

fn vcpus(size: &Value) -> Option<i64> {
    let capabilities = size["capabilities"].as_array()?;
    let found = capabilities.iter().find(|capability| capability["name"] == "vCPUs")?;
    found["value"].as_str()?.parse().ok()
}

/// The fewest vCPUs left among the region's and the family's.
fn left(usages: &[Value], family: Option<&str>) -> Option<i64> {
    usages
        .iter()
        .filter(|usage| {
            usage["name"]["value"].as_str().is_some_and(|name| {
                name == "cores" || family.is_some_and(|family| name.eq_ignore_ascii_case(family))
            })
        })
        .filter_map(|usage| Some(usage["limit"].as_i64()? - usage["currentValue"].as_i64()?))
        .min()
}

/// Why the size cannot be had: at all, or in one of the pool's zones.
fn restrictions(size: &Value, zones: &[&str]) -> Vec<String> {
    let list = size["restrictions"].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|restriction| {
            let reason = restriction["reasonCode"].as_str().unwrap_or("restricted");
            let name = size["name"].as_str().unwrap_or_default();
            if restriction["type"] != "Zone" {
                return Some(format!("{name} cannot be had: {reason}"));
            }
            let closed = restriction["restrictionInfo"]["zones"].as_array()?;
            let hit: Vec<&str> = closed
                .iter()
                .filter_map(Value::as_str)
                .filter(|zone| zones.contains(zone))
                .collect();
            (!hit.is_empty())
                .then(|| format!("{name} cannot be had in zone {}: {reason}", hit.join(", ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_scarcer_quota_counts() {
        let usage = |name: &str, limit: i64, used: i64| json!({"name": {"value": name}, "limit": limit, "currentValue": used});
        let usages = [usage("cores", 100, 40), usage("standardDSv5Family", 50, 48)];
        assert_eq!(left(&usages, None), Some(60));
        assert_eq!(left(&usages, Some("StandardDSv5Family")), Some(2));
        assert_eq!(left(&[], None), None);
    }

    #[test]
    fn a_zone_counts_only_if_the_pool_is_in_it() {
        let size = json!({"name": "s", "capabilities": [{"name": "vCPUs", "value": "8"}], "restrictions": [
            {"type": "Zone", "reasonCode": "NotAvailableForSubscription", "restrictionInfo": {"zones": ["3"]}}]});
        assert_eq!(vcpus(&size), Some(8));
        assert_eq!(restrictions(&size, &["1", "2"]), Vec::<String>::new());
        assert_eq!(restrictions(&size, &["3"]).len(), 1);
        let closed =
            json!({"name": "s", "restrictions": [{"type": "Location", "reasonCode": "QuotaId"}]});
        assert_eq!(restrictions(&closed, &[]), ["s cannot be had: QuotaId"]);
    }
}
