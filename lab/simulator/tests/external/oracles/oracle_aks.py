"""azure-mgmt-containerservice against the simulator: pools, clusters, operations, errors."""

import base64
import json

from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.mgmt.containerservice.models import AgentPool, TagsObject

from clients import CLUSTER, GROUP, admin, aks, begin, ends_badly, refused

begin("healthy")
client = aks()
pools = client.agent_pools

# Read.
assert [pool.name for pool in pools.list(GROUP, CLUSTER)] == ["system", "user"]
system = pools.get(GROUP, CLUSTER, "system")
assert (system.mode, system.count, system.min_count) == ("System", 3, 3), system
cluster = client.managed_clusters.get(GROUP, CLUSTER)
assert cluster.provisioning_state == "Succeeded" and len(cluster.agent_pool_profiles) == 2
assert [c.name for c in client.managed_clusters.list()] == [CLUSTER]
assert len(list(client.machines.list(GROUP, CLUSTER, "user"))) == 2

# Create, and follow to the end.
new = AgentPool(count=2, vm_size="Standard_D4s_v5", mode="User", node_labels={"a": "b"})
made = pools.begin_create_or_update(GROUP, CLUSTER, "extra", new).result(60)
assert (made.provisioning_state, made.count, made.node_labels) == ("Succeeded", 2, {"a": "b"}), made
machines = list(client.machines.list(GROUP, CLUSTER, "extra"))
assert len(machines) == 2 and machines[0].properties.network.ip_addresses[0].ip.startswith("10.")

# Update: scale; and what may not change.
made.count = 3
assert pools.begin_create_or_update(GROUP, CLUSTER, "extra", made).result(60).count == 3
made.vm_size = "Standard_D8s_v5"
refused(lambda: pools.begin_create_or_update(GROUP, CLUSTER, "extra", made), 400, "PropertyChangeNotAllowed")

# Another operation runs, and not only for a moment, since its nodes take a day: 409. Abort ends it.
begin({"description": "nodes that take a day", "poolBootstrap": {"seconds": 86400}})
running = pools.begin_create_or_update(GROUP, CLUSTER, "extra", new)
error = refused(
    lambda: pools.begin_create_or_update(GROUP, CLUSTER, "other", new), 409, "OperationNotAllowed", ResourceExistsError
)
assert "(extra - Creating) is in progress" in error.message, error.message
pools.begin_abort_latest_operation(GROUP, CLUSTER, "extra").result(60)
assert pools.get(GROUP, CLUSTER, "extra").provisioning_state == "Canceled"
ends_badly(running, "OperationCanceled")

# Conditional writes.
begin("healthy")
made = pools.begin_create_or_update(GROUP, CLUSTER, "extra", new).result(60)
made.count = 3
stale = pools.get(GROUP, CLUSTER, "extra").e_tag
pools.begin_create_or_update(GROUP, CLUSTER, "extra", made).result(60)
refused(
    lambda: pools.begin_delete(
        GROUP, CLUSTER, "extra", etag=stale, match_condition=MatchConditions.IfNotModified
    ),
    412,
    "PreconditionFailed",
    ResourceModifiedError,
)

# Rules.
bad = AgentPool(count=0, vm_size="Standard_D4s_v5", mode="System")
refused(lambda: pools.begin_create_or_update(GROUP, CLUSTER, "zero", bad), 400, "InvalidParameter")
refused(lambda: pools.begin_delete(GROUP, CLUSTER, "system"), 400, "OperationNotAllowed")

# Delete, twice.
pools.begin_delete(GROUP, CLUSTER, "extra").result(60)
error = refused(lambda: pools.get(GROUP, CLUSTER, "extra"), 404, kind=ResourceNotFoundError)
assert "Could not find the agentpool: extra" in error.message, error.message
pools.begin_delete(GROUP, CLUSTER, "extra").result(60)
refused(lambda: client.managed_clusters.get(GROUP, "nosuch"), 404, "ResourceNotFound", ResourceNotFoundError)

# A cluster update, and the credential.
tagged = client.managed_clusters.begin_update_tags(GROUP, CLUSTER, TagsObject(tags={"x": "y"})).result(60)
assert tagged.tags == {"x": "y"}, tagged.tags
kubeconfig = client.managed_clusters.list_cluster_user_credentials(GROUP, CLUSTER).kubeconfigs[0]
config = json.loads(bytes(kubeconfig.value))
assert config["clusters"][0]["cluster"]["server"].startswith("https://"), config

# A stuck update is aborted.
begin("wedged-system-pool")
assert client.managed_clusters.get(GROUP, CLUSTER).provisioning_state == "Updating"
refused(lambda: pools.begin_create_or_update(GROUP, CLUSTER, "systmp", new), 409, "OperationNotAllowed")
client.managed_clusters.begin_abort_latest_operation(GROUP, CLUSTER).result(60)
assert client.managed_clusters.get(GROUP, CLUSTER).provisioning_state == "Canceled"

# The wedge: an update fails, a new pool does not, and the old one can be deleted then.
wedged = pools.get(GROUP, CLUSTER, "system")
assert wedged.provisioning_state == "Failed"
wedged.count = 4
failed = ends_badly(pools.begin_create_or_update(GROUP, CLUSTER, "system", wedged), "ReconcileVMSSAgentPoolFailed")
assert "NetworkingInternalOperationError" in failed.message, failed.message
temporary = AgentPool(count=1, vm_size="Standard_D4s_v5", mode="System")
pools.begin_create_or_update(GROUP, CLUSTER, "systmp", temporary).result(60)
pools.begin_delete(GROUP, CLUSTER, "system").result(60)
fresh = AgentPool(count=3, vm_size="Standard_D4s_v5", mode="System")
assert pools.begin_create_or_update(GROUP, CLUSTER, "system", fresh).result(60).provisioning_state == "Succeeded"

# Faults come out as the client's own errors; retries of 503 are the client's business.
begin("healthy")
admin("POST", "/admin/faults", {"when": {"method": "GET"}, "then": {"status": {"status": 503, "retryAfter": 0}}, "times": 2})
assert len(list(pools.list(GROUP, CLUSTER))) == 2
admin("POST", "/admin/faults", {"when": {"method": "GET"}, "then": {"status": {"status": 429, "retryAfter": 1}}, "times": 2})
refused(lambda: pools.get(GROUP, CLUSTER, "user", retry_total=0), 429, "SubscriptionRequestsThrottled")
assert pools.get(GROUP, CLUSTER, "user").name == "user"
admin("DELETE", "/admin/faults")
admin("POST", "/admin/faults", {"when": {"method": "DELETE"}, "then": {"operation": "failed"}})
ends_badly(pools.begin_delete(GROUP, CLUSTER, "user"), "InternalOperationError")
assert pools.get(GROUP, CLUSTER, "user").provisioning_state == "Failed"
admin("DELETE", "/admin/faults")
admin("POST", "/admin/denials", {"action": "Microsoft.ContainerService/managedClusters/agentPools/*"})
refused(lambda: list(pools.list(GROUP, CLUSTER)), 403, "AuthorizationFailed")
admin("DELETE", "/admin/denials")
print("ok")
