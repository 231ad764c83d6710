//! Routing of calls.

use http::Method;
use serde_json::{Value, json};

use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{AzureState, text};

/// Provider of role assignments and locks, which exists below any scope.
const AUTHORIZATION: &str = "microsoft.authorization";
const SCALE_SETS: &str = "Microsoft.Compute/virtualMachineScaleSets";

impl AzureState {
    pub(crate) fn route(&mut self, call: &ArmCall) -> ArmResult {
        let owned = call.path.lower.clone();
        let lower: Vec<&str> = owned.iter().map(String::as_str).collect();
        if let [.., "providers", "microsoft.resources", "tags", "default"] = lower[..] {
            return self.tags(call, &call.path.key(lower.len() - 4));
        }
        if let Some(at) = lower.windows(2).rposition(|pair| pair == ["providers", AUTHORIZATION]) {
            return self.route_authorization(call, at, &lower[at + 2..]);
        }
        match lower[..] {
            ["subscriptions"] => Ok(Reply::ok(json!({"value": [self.subscription()]}))),
            ["tenants"] => Ok(Reply::ok(json!({"value": [self.tenant()]}))),
            ["providers", "microsoft.resourcegraph", "resources"]
                if call.method == Method::POST =>
            {
                self.graph(call)
            }
            ["subscriptions", subscription, ..] if subscription != self.options.subscription => {
                Err(ArmError::no_subscription(call.name(1)))
            }
            ["subscriptions", _] => Ok(Reply::ok(self.subscription())),
            ["subscriptions", _, "locations"] => Ok(Reply::ok(json!({"value": [{
                "id": format!("/subscriptions/{}/locations/{}", self.options.subscription, self.options.location),
                "name": self.options.location, "displayName": self.options.location, "type": "Region",
            }]}))),
            ["subscriptions", _, "resourcegroups"] => {
                let groups: Vec<Value> =
                    self.options.groups().iter().map(|group| self.group(group)).collect();
                Ok(Reply::ok(json!({"value": groups})))
            }
            ["subscriptions", _, "providers", ref rest @ ..] => self.route_subscription(call, rest),
            ["subscriptions", _, "resourcegroups", group, ..]
                if !self.options.groups().iter().any(|known| known.eq_ignore_ascii_case(group)) =>
            {
                Err(ArmError::no_group(call.name(3)))
            }
            ["subscriptions", _, "resourcegroups", _] => Ok(Reply::ok(self.group(call.name(3)))),
            ["subscriptions", _, "resourcegroups", _, "resources"] => {
                let prefix = format!("{}/", call.path.key(4));
                let found = self.store.all().filter(|body| {
                    let id = text(body, "/id").to_lowercase();
                    id.starts_with(&prefix) && id.matches('/').count() == 8
                });
                let found = found.map(|body| {
                    json!({"id": body["id"], "name": body["name"], "type": body["type"], "location": body["location"], "tags": body["tags"]})
                });
                self.page(call, found)
            }
            ["subscriptions", _, "resourcegroups", _, "providers", ref rest @ ..] => match rest {
                ["microsoft.containerservice", "managedclusters", rest @ ..] => {
                    self.route_clusters(call, rest)
                }
                ["microsoft.compute", rest @ ..] => self.route_compute(call, rest),
                _ => self.route_other(call),
            },
            _ => Err(unknown(call)),
        }
    }

    /// Routes role assignments and locks; the scope is the path before `providers`.
    fn route_authorization(&mut self, call: &ArmCall, at: usize, rest: &[&str]) -> ArmResult {
        let scope = format!("/{}", call.path.segments[..at].join("/"));
        match (call.method.as_str(), rest) {
            ("GET", ["permissions"]) => Ok(self.permissions(call, &scope)),
            ("GET", ["denyassignments"]) => Ok(self.list_deny_assignments(&scope)),
            ("GET", ["locks"]) => Ok(self.list_locks(&scope)),
            _ => Err(refused(call)),
        }
    }

    fn route_subscription(&mut self, call: &ArmCall, rest: &[&str]) -> ArmResult {
        match rest {
            ["microsoft.insights", "eventtypes", "management", "values"] => self.activity_log(call),
            [
                "microsoft.containerservice" | "microsoft.compute",
                "locations",
                _,
                "operations" | "operationstatus" | "operations_status",
                id,
            ] => self.operation(call, id, false),
            ["microsoft.containerservice", "locations", _, "operationresults", id] => {
                self.operation(call, id, true)
            }
            ["microsoft.compute", "locations", _, "usages"] => Ok(self.usages()),
            ["microsoft.compute", "skus"] => Ok(self.skus()),
            ["microsoft.containerservice", "managedclusters"] => {
                Ok(self.list_clusters(&call.path.key(2), call.api_version()))
            }
            ["microsoft.compute", kind @ ("virtualmachines" | "virtualmachinescalesets")] => {
                let collection = self.options.compute(kind);
                self.list_machines(call, &collection)
            }
            _ => Err(unknown(call)),
        }
    }

    fn route_clusters(&mut self, call: &ArmCall, rest: &[&str]) -> ArmResult {
        let cluster = call.path.key(8);
        if rest.is_empty() {
            return Ok(self.list_clusters(&call.path.key(4), call.api_version()));
        }
        self.need_cluster(call, &cluster)?;
        match (call.method.as_str(), &rest[1..]) {
            ("GET", []) => {
                Ok(Reply::ok(self.cluster_body(&cluster, call.api_version()).unwrap_or_default()))
            }
            ("PATCH", []) => self.patch_cluster(call, &cluster),
            ("POST", ["abort"]) => self.abort(call, &cluster),
            ("POST", ["listclusterusercredential" | "listclusteradmincredential"]) => {
                self.credential(call, &cluster)
            }
            ("GET", ["operations", which @ ..]) if which.len() < 2 => {
                self.operations_of(&self.true_id(&cluster), which.first().copied())
            }
            ("GET", ["agentpools"]) => Ok(self.list_pools(&cluster, call.api_version())),
            ("GET", ["agentpools", pool]) => self.show_pool(&cluster, pool, call.api_version()),
            ("GET", ["agentpools", pool, "upgradeprofiles", "default"]) => {
                self.get_pool(&cluster, pool)?;
                let kind = "Microsoft.ContainerService/managedClusters/agentPools/upgradeProfiles";
                Ok(Reply::ok(self.get_resource(call, &call.path.key(12), kind)?.clone()))
            }
            // A new pool's name is checked as sent: capitals are rejected.
            ("PUT", ["agentpools", _]) => self.put_pool(call, &cluster, call.name(9)),
            ("DELETE", ["agentpools", pool]) => self.delete_pool(call, &cluster, pool),
            ("POST", ["agentpools", pool, "abort"]) => {
                self.get_pool(&cluster, pool)?;
                self.abort(call, &format!("{cluster}/agentpools/{pool}"))
            }
            ("POST", ["agentpools", pool, "deletemachines"]) => {
                self.delete_machines(call, &cluster, pool)
            }
            ("GET", ["agentpools", pool, "machines", which @ ..]) if which.len() < 2 => {
                self.machines_of(&cluster, pool, which.first().copied())
            }
            ("GET", ["agentpools", pool, "operations", which @ ..]) if which.len() < 2 => {
                let pool = self.true_id(&format!("{cluster}/agentpools/{pool}"));
                self.operations_of(&pool, which.first().copied())
            }
            _ => Err(refused(call)),
        }
    }

    fn route_compute(&mut self, call: &ArmCall, rest: &[&str]) -> ArmResult {
        let id = call.path.key(8);
        match (call.method.as_str(), rest) {
            (_, ["virtualmachines", _, rest @ ..]) => {
                self.route_machine(call, "Microsoft.Compute/virtualMachines", &id, rest)
            }
            (_, ["virtualmachinescalesets", _, "virtualmachines", _, rest @ ..]) => {
                let kind = format!("{SCALE_SETS}/virtualMachines");
                self.route_machine(call, &kind, &call.path.key(10), rest)
            }
            ("GET", ["virtualmachines"]) => self.list_machines(call, &call.path.key(7)),
            ("GET", ["virtualmachinescalesets"]) => {
                self.page(call, self.store.list(&call.path.key(7)).cloned())
            }
            ("GET", ["virtualmachinescalesets", _]) => {
                Ok(Reply::ok(self.get_resource(call, &id, SCALE_SETS)?.clone()))
            }
            ("PATCH" | "PUT", ["virtualmachinescalesets", _]) => self.patch_vmss(call, &id),
            ("GET", ["virtualmachinescalesets", _, "instanceview"]) => {
                self.vmss_instance_view(call, &id)
            }
            ("GET", ["virtualmachinescalesets", _, "networkinterfaces"]) => {
                self.get_resource(call, &id, SCALE_SETS)?;
                self.list_nics(call, &id)
            }
            ("GET", ["virtualmachinescalesets", _, "virtualmachines"]) => {
                self.get_resource(call, &id, SCALE_SETS)?;
                self.list_machines(call, &call.path.key(9))
            }
            _ => Err(refused(call)),
        }
    }

    /// Routes calls of a single VM, or of an instance of a scale set.
    fn route_machine(&mut self, call: &ArmCall, kind: &str, id: &str, rest: &[&str]) -> ArmResult {
        let is_instance = kind.starts_with(SCALE_SETS);
        match (call.method.as_str(), rest) {
            ("GET", []) => {
                let body = self.get_resource(call, id, kind)?;
                Ok(Reply::ok(self.shown_machine(body, call.expands("instanceView"))))
            }
            ("DELETE", []) => Ok(self.delete_machine(call, id)),
            ("GET", ["instanceview"]) => {
                Ok(Reply::ok(self.instance_view(self.get_resource(call, id, kind)?)))
            }
            ("GET", ["networkinterfaces"]) if is_instance => {
                self.get_resource(call, id, kind)?;
                self.list_nics(call, id)
            }
            ("GET", ["extensions"]) => {
                self.get_resource(call, id, kind)?;
                Ok(self.list_extensions(call, id))
            }
            ("GET", ["extensions", name]) => self.get_extension(
                call,
                &format!("{id}/extensions/{name}"),
                &format!("{kind}/extensions"),
            ),
            ("POST", ["runcommand"]) => self.run_command(call, id),
            ("POST", ["retrievebootdiagnosticsdata"]) => self.boot_diagnostics(call, id, kind),
            _ => Err(refused(call)),
        }
    }

    fn route_other(&mut self, call: &ArmCall) -> ArmResult {
        let key = call.path.key(call.path.lower.len());
        match (call.method.as_str(), self.store.get(&key)) {
            ("GET", Some(body)) => Ok(Reply::ok(self.with_addresses_in_use(body))),
            ("GET", None) if call.path.lower.len() % 2 == 1 => {
                self.page(call, self.store.list(&key).cloned())
            }
            ("GET", None) => Err(unknown(call)),
            _ => Err(refused(call)),
        }
    }

    fn subscription(&self) -> Value {
        let id = &self.options.subscription;
        json!({
            "id": format!("/subscriptions/{id}"),
            "subscriptionId": id,
            "tenantId": self.options.tenant,
            "displayName": "Simulated",
            "state": "Enabled",
            "subscriptionPolicies": {"locationPlacementId": "Public_2014-09-01", "quotaId": "Simulated_2014-09-01", "spendingLimit": "Off"},
            "authorizationSource": "RoleBased",
            "managedByTenants": [],
        })
    }

    fn tenant(&self) -> Value {
        let id = &self.options.tenant;
        json!({"id": format!("/tenants/{id}"), "tenantId": id, "tenantCategory": "Home", "displayName": "Simulated", "defaultDomain": "simulated.example"})
    }

    fn group(&self, name: &str) -> Value {
        let known =
            self.options.groups().into_iter().find(|group| group.eq_ignore_ascii_case(name));
        let name = known.unwrap_or_else(|| name.to_owned());
        let mut body = json!({
            "id": format!("/subscriptions/{}/resourceGroups/{name}", self.options.subscription),
            "name": name,
            "type": "Microsoft.Resources/resourceGroups",
            "location": self.options.location,
            "properties": {"provisioningState": "Succeeded"},
        });
        if name == self.options.node_resource_group {
            body["managedBy"] = json!(self.options.cluster_id());
        }
        body
    }
}

fn unknown(call: &ArmCall) -> ArmError {
    let kind = call.path.resource_type().unwrap_or_default();
    if call.path.lower.first().is_some_and(|first| first == "subscriptions") && !kind.is_empty() {
        let name = call.path.segments.last().map_or("", String::as_str);
        return ArmError::no_resource(&kind, name, call.name(3));
    }
    ArmError::new(404, "NotFound", "The requested path does not exist.")
}

fn refused(call: &ArmCall) -> ArmError {
    if call.method == Method::GET {
        unknown(call)
    } else {
        ArmError::bad_method(call.method.as_str())
    }
}
