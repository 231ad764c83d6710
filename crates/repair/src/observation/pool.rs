//! A node pool with its raw JSON: properties that this version does not know must survive a rebuild.

use std::sync::Arc;

use serde_json::Value;

use super::{flag, text};

/// An agent pool of Azure Resource Manager.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    pub name: String,
    pub raw: Arc<Value>,
}

impl Pool {
    /// Returns none without a name or properties.
    pub fn read(raw: &Value) -> Option<Self> {
        raw.get("properties")?.as_object()?;
        Some(Self { name: text(raw, "/name")?, raw: Arc::new(raw.clone()) })
    }

    pub fn id(&self) -> Option<String> {
        text(&self.raw, "/id")
    }

    /// `provisioningState`; empty if absent.
    pub fn state(&self) -> &str {
        self.raw["properties"]["provisioningState"].as_str().unwrap_or("")
    }

    /// Desired number of nodes. Pools of single VMs have none, which is not 0.
    pub fn count(&self) -> Option<i64> {
        self.number("count")
    }

    /// Returns type or mode of a pool that cannot be rebuilt: not of scale sets, or neither of mode System nor User.
    pub fn other_kind(&self) -> Option<String> {
        let kind = text(&self.raw, "/properties/type");
        let mode = text(&self.raw, "/properties/mode");
        let kind = kind.filter(|kind| kind != "VirtualMachineScaleSets").map(|kind| ("type", kind));
        let mode =
            mode.filter(|mode| mode != "System" && mode != "User").map(|mode| ("mode", mode));
        let (member, other) = kind.or(mode)?;
        Some(format!("{member} {}", mooring_redact::identifier(&other)))
    }

    /// Returns the reason why the pool cannot be rebuilt; none if it can.
    pub fn not_rebuildable(&self) -> Option<String> {
        let name = &self.name;
        if let Some(kind) = self.other_kind() {
            return Some(format!(
                "pool {name} is of {kind}; only pools of type VirtualMachineScaleSets and mode System or User can be rebuilt"
            ));
        }
        self.stopped().then(|| {
            format!("pool {name} is stopped; start it with `az aks nodepool start`, or leave it as it is")
        })
    }

    /// Names of Windows pools have at most six characters.
    pub fn is_windows(&self) -> bool {
        is_windows(&self.raw)
    }

    /// Subnet of the nodes; none in the AKS-managed VNet.
    pub fn subnet(&self) -> Option<String> {
        text(&self.raw, "/properties/vnetSubnetID")
    }

    pub fn min_count(&self) -> Option<i64> {
        self.number("minCount")
    }

    pub fn autoscaled(&self) -> bool {
        flag(&self.raw, "/properties/enableAutoScaling")
    }

    pub fn stopped(&self) -> bool {
        text(&self.raw, "/properties/powerState/code").as_deref() == Some("Stopped")
    }

    pub fn is_system(&self) -> bool {
        text(&self.raw, "/properties/mode").as_deref() == Some("System")
    }

    pub fn etag(&self) -> Option<String> {
        text(&self.raw, "/properties/eTag").or_else(|| text(&self.raw, "/eTag"))
    }

    pub fn tag(&self, name: &str) -> Option<String> {
        self.raw["properties"]["tags"][name].as_str().map(str::to_owned)
    }

    pub fn busy(&self) -> bool {
        !matches!(self.state(), "Succeeded" | "Failed" | "Canceled" | "")
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.raw["properties"][name].as_i64()
    }
}

pub(crate) fn is_windows(raw: &Value) -> bool {
    raw["properties"]["osType"] == "Windows"
}

/// Returns the name after the last `/agentPools/` of a resource id.
pub fn pool_name_of_id(id: &str) -> Option<&str> {
    let (_, name) = id.rsplit_once("/agentPools/")?;
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pool(properties: &Value) -> Pool {
        Pool::read(&json!({"name": "p", "id": "/x/agentPools/p", "properties": properties}))
            .unwrap()
    }

    #[test]
    fn pool_has_a_name_and_properties() {
        for raw in [
            json!(null),
            json!({}),
            json!({"name": "a"}),
            json!({"properties": {}}),
            json!({"name": "", "properties": {}}),
        ] {
            assert_eq!(Pool::read(&raw), None, "{raw}");
        }
    }

    #[test]
    fn absent_members_are_none_or_false() {
        let empty = pool(&json!({}));
        assert_eq!((empty.state(), empty.count(), empty.min_count()), ("", None, None));
        assert!(!empty.autoscaled() && !empty.stopped() && !empty.is_system() && !empty.busy());
        assert_eq!((empty.etag(), empty.tag("t")), (None, None));
        let full = pool(&json!({"provisioningState": "Updating", "count": 3, "minCount": 2,
            "enableAutoScaling": true, "powerState": {"code": "Stopped"}, "mode": "System", "eTag": "e",
            "tags": {"t": "v", "n": null}}));
        assert_eq!((full.state(), full.count(), full.min_count()), ("Updating", Some(3), Some(2)));
        assert!(full.autoscaled() && full.stopped() && full.is_system() && full.busy());
        assert_eq!(
            (full.etag().unwrap(), full.tag("t").unwrap(), full.tag("n")),
            ("e".into(), "v".into(), None)
        );
        assert_eq!(full.id().unwrap(), "/x/agentPools/p");
    }

    #[test]
    fn pools_of_other_types_modes_or_stopped_cannot_be_rebuilt() {
        let scale_sets = "VirtualMachineScaleSets";
        for (properties, why) in [
            (json!({}), None),
            (json!({"type": scale_sets, "mode": "System"}), None),
            (json!({"type": scale_sets, "mode": "User", "powerState": {"code": "Running"}}), None),
            (
                json!({"type": scale_sets, "mode": "User", "powerState": {"code": "Stopped"}}),
                Some("stopped"),
            ),
            (json!({"type": "VirtualMachines", "mode": "User"}), Some("type VirtualMachines")),
            (json!({"type": "VirtualMachines", "mode": "Machines"}), Some("type VirtualMachines")),
            (json!({"mode": "Machines"}), Some("mode Machines")),
            (json!({"type": scale_sets, "mode": "Gateway"}), Some("mode Gateway")),
            (json!({"mode": "ManagedSystem"}), Some("mode ManagedSystem")),
            (json!({"type": "AvailabilitySet", "mode": "System"}), Some("type AvailabilitySet")),
            (json!({"type": "Tomorrow"}), Some("type Tomorrow")),
        ] {
            let found = pool(&properties).not_rebuildable();
            match why {
                None => assert_eq!(found, None, "{properties}"),
                Some(why) => assert!(found.unwrap().contains(why), "{properties}"),
            }
        }
    }

    #[test]
    fn pool_in_a_final_state_is_not_busy() {
        for state in ["Succeeded", "Failed", "Canceled"] {
            assert!(!pool(&json!({"provisioningState": state})).busy());
        }
        for state in ["Creating", "Deleting", "Canceling", "Scaling"] {
            assert!(pool(&json!({"provisioningState": state})).busy());
        }
    }

    #[test]
    fn pool_name_follows_the_last_agent_pools_segment() {
        for (id, name) in [
            ("/a/agentPools/system", Some("system")),
            ("/a/agentPools/user01", Some("user01")),
            ("/resourceGroups/agentPools/x/agentPools/sys", Some("sys")),
            ("", None),
            ("/a/pools/x", None),
            ("/a/agentPools/", None),
            ("/a/agentPools/x/y", None),
        ] {
            assert_eq!(pool_name_of_id(id), name, "{id}");
        }
    }
}
