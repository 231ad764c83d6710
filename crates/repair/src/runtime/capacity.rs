//! Reads quota, VM size restrictions and IP addresses for a temporary pool.

use mooring_arm::calls::SubnetProperties;
use mooring_arm::{Client, ResourceId};
use serde_json::Value;

use super::responses::missing;
use crate::checks::{Capacity, subnets};
use crate::observation::{ManagedCluster, Pool};
use mooring_workflow::Reading;

/// Reads usages and VM sizes of the region, and the pool's subnets. Failed reads stay unknown.
pub(crate) async fn read_capacity(
    client: &Client,
    subscription: &str,
    cluster: &ManagedCluster,
    pool: &Pool,
) -> Capacity {
    let mut capacity = Capacity::unread();
    for (id, _) in subnets(cluster, pool) {
        let free = match ResourceId::parse(&id) {
            Ok(subnet) => match client.subnet(&subnet).await {
                Ok(subnet) => {
                    Reading::of(free_addresses(&subnet.properties), "its address range is unknown")
                }
                Err(error) => missing(&error),
            },
            Err(error) => Reading::Failed(error.to_string()),
        };
        capacity.free_addresses.insert(id, free);
    }
    let Some(location) = cluster.location.as_deref() else { return capacity };
    let size = pool.raw["properties"]["vmSize"].as_str().unwrap_or_default();
    let zones: Vec<&str> = pool.raw["properties"]["availabilityZones"]
        .as_array()
        .map(|zones| zones.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut family = None;
    match client.vm_sizes(subscription, location).await {
        Ok(sizes) => {
            let found = sizes.iter().find(|entry| {
                entry["resourceType"] == "virtualMachines"
                    && entry["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(size))
            });
            match found {
                Some(entry) => {
                    family = entry["family"].as_str().map(str::to_owned);
                    capacity.vcpus = Reading::of(vcpus(entry), "is unknown");
                    capacity.restrictions = Reading::Known(restrictions(entry, &zones));
                }
                None => {
                    capacity.restrictions =
                        Reading::Known(vec![format!("{size} is not offered in {location}")]);
                }
            }
        }
        Err(error) => capacity.restrictions = missing(&error),
    }
    capacity.quota_left = match client.vm_usages(subscription, location).await {
        Ok(usages) => {
            let left = available_vcpus(&usages, family.as_deref());
            Reading::of(left, "no quota was returned")
        }
        Err(error) => missing(&error),
    };
    capacity
}

/// Returns the free IPv4 addresses of a subnet. Azure reserves five of every range.
fn free_addresses(subnet: &SubnetProperties) -> Option<i64> {
    let ranges = subnet.address_prefix.iter().chain(&subnet.address_prefixes);
    let sizes = ranges.filter(|range| !range.contains(':')).map(|range| {
        let bits: u32 = range.rsplit_once('/')?.1.parse().ok()?;
        Some((1_i64 << 32_u32.checked_sub(bits)?) - 5)
    });
    let all = sizes.collect::<Option<Vec<i64>>>().filter(|sizes| !sizes.is_empty())?;
    let used = i64::try_from(subnet.ip_configurations.len()).ok()?;
    Some(all.iter().sum::<i64>() - used)
}

fn vcpus(size: &Value) -> Option<i64> {
    let capabilities = size["capabilities"].as_array()?;
    let found = capabilities.iter().find(|capability| capability["name"] == "vCPUs")?;
    found["value"].as_str()?.parse().ok()
}

/// Returns the available vCPUs of the region or the family, whichever is fewer.
fn available_vcpus(usages: &[Value], family: Option<&str>) -> Option<i64> {
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

/// Returns the reasons why the size is not available, at all or in the pool's zones.
fn restrictions(size: &Value, zones: &[&str]) -> Vec<String> {
    let list = size["restrictions"].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|restriction| {
            let reason = restriction["reasonCode"].as_str().unwrap_or("restricted");
            let name = size["name"].as_str().unwrap_or_default();
            if restriction["type"] != "Zone" {
                return Some(format!("{name} is not available: {reason}"));
            }
            let closed = restriction["restrictionInfo"]["zones"].as_array()?;
            let hit: Vec<&str> = closed
                .iter()
                .filter_map(Value::as_str)
                .filter(|zone| zones.contains(zone))
                .collect();
            (!hit.is_empty())
                .then(|| format!("{name} is not available in zone {}: {reason}", hit.join(", ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lower_quota_of_region_and_family_counts() {
        let usage = |name: &str, limit: i64, used: i64| json!({"name": {"value": name}, "limit": limit, "currentValue": used});
        let usages = [usage("cores", 100, 40), usage("standardDSv5Family", 50, 48)];
        assert_eq!(available_vcpus(&usages, None), Some(60));
        assert_eq!(available_vcpus(&usages, Some("StandardDSv5Family")), Some(2));
        assert_eq!(available_vcpus(&[], None), None);
    }

    #[test]
    fn free_addresses_exclude_reserved_and_used_ones() {
        let free = |subnet: Value| free_addresses(&serde_json::from_value(subnet).unwrap());
        assert_eq!(free(json!({"addressPrefix": "10.0.0.0/24"})), Some(251));
        let used = json!([{"id": null}, {"id": null}]);
        assert_eq!(
            free(json!({"addressPrefix": "10.0.0.0/29", "ipConfigurations": used})),
            Some(1)
        );
        assert_eq!(
            free(json!({"addressPrefixes": ["10.0.0.0/28", "fd00::/64", "10.1.0.0/28"]})),
            Some(22)
        );
        for unsaid in
            [json!({}), json!({"addressPrefix": "10.0.0.0"}), json!({"addressPrefix": "x/99"})]
        {
            assert_eq!(free(unsaid), None);
        }
    }

    #[test]
    fn restriction_counts_only_in_zones_of_the_pool() {
        let size = json!({"name": "s", "capabilities": [{"name": "vCPUs", "value": "8"}], "restrictions": [
            {"type": "Zone", "reasonCode": "NotAvailableForSubscription", "restrictionInfo": {"zones": ["3"]}}]});
        assert_eq!(vcpus(&size), Some(8));
        assert_eq!(restrictions(&size, &["1", "2"]), Vec::<String>::new());
        assert_eq!(restrictions(&size, &["3"]).len(), 1);
        let closed =
            json!({"name": "s", "restrictions": [{"type": "Location", "reasonCode": "QuotaId"}]});
        assert_eq!(restrictions(&closed, &[]), ["s is not available: QuotaId"]);
    }
}
