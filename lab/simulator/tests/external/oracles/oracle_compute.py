"""azure-mgmt-compute against the simulator: scale sets, instances, machines, extensions, commands."""

from azure.mgmt.compute.models import RunCommandInput

from azure.core.rest import HttpRequest

from clients import ENDPOINT, NODE_GROUP, SUBSCRIPTION, begin, compute, ends_badly, refused

begin("oras-missing")
client = compute()

# Scale sets and their instances.
sets = {s.tags["aks-managed-poolName"]: s for s in client.virtual_machine_scale_sets.list(NODE_GROUP)}
assert set(sets) == {"system", "user"}
name = sets["system"].name
vms = client.virtual_machine_scale_set_vms
instances = list(vms.list(NODE_GROUP, name, expand="instanceView"))
assert len(instances) == 3 and [i.instance_id for i in instances] == ["0", "1", "2"]
for instance in instances:
    [extension] = instance.instance_view.extensions
    assert extension.name == "vmssCSE" and extension.statuses[0].code == "ProvisioningState/succeeded"
assert list(vms.list(NODE_GROUP, name))[0].instance_view is None
view = vms.get_instance_view(NODE_GROUP, name, "0")
assert any(status.code == "PowerState/running" for status in view.statuses)
refused(lambda: vms.get_instance_view(NODE_GROUP, name, "99"), 404, "ResourceNotFound")
refused(lambda: client.virtual_machine_scale_sets.get("nosuch", name), 404, "ResourceGroupNotFound")

# Karpenter's machines.
machines = {vm.name: vm for vm in client.virtual_machines.list(NODE_GROUP)}
assert len(machines) == 10, sorted(machines)
bad = client.virtual_machines.get(NODE_GROUP, "aks-default-bad1", expand="instanceView")
[status] = bad.instance_view.extensions[0].statuses
assert status.code.startswith("ProvisioningState/failed") and "exit status=211" in status.message
assert "'oras': No such file or directory" in status.message
assert bad.storage_profile.image_reference.id.endswith("/202601.27.0")
good = client.virtual_machine_extensions.get(
    NODE_GROUP, "aks-default-good1", "cse-agent-karpenter", expand="instanceView"
)
assert good.provisioning_state == "Succeeded" and good.publisher == "Microsoft.Azure.Extensions"
assert good.instance_view.statuses[0].message.startswith("Enable succeeded")
# The billing extension follows the bootstrap's, if that succeeds.
[listed] = client.virtual_machine_extensions.list(NODE_GROUP, "aks-default-bad1").value
assert listed.name == "cse-agent-karpenter" and listed.provisioning_state == "Failed"
both = {e.name for e in client.virtual_machine_extensions.list(NODE_GROUP, "aks-default-good1").value}
assert both == {"cse-agent-karpenter", "computeAksLinuxBilling"}, both

# A command, and its output.
command = RunCommandInput(command_id="RunShellScript", script=["cat /var/log/azure/aks/provision.json"])
output = client.virtual_machines.begin_run_command(NODE_GROUP, "aks-default-bad1", command).result(60)
assert "211" in output.value[0].message, output.value[0].message

# Delete.
client.virtual_machines.begin_delete(NODE_GROUP, "aks-default-bad1", force_deletion=True).result(60)
refused(lambda: client.virtual_machines.get(NODE_GROUP, "aks-default-bad1"), 404, "ResourceNotFound")

# The wedge, from here.
begin("wedged-system-pool")
sets = {s.tags["aks-managed-poolName"]: s for s in client.virtual_machine_scale_sets.list(NODE_GROUP)}
instances = list(vms.list(NODE_GROUP, sets["system"].name, expand="instanceView"))
codes = [s.code for i in instances for s in i.instance_view.statuses]
assert codes.count("ProvisioningState/failed/NetworkingInternalOperationError") == 1, codes
poller = client.virtual_machine_scale_sets.begin_update(NODE_GROUP, sets["system"].name, {"tags": {"a": "b"}})
ends_badly(poller, "NetworkingInternalOperationError")
written = client.virtual_machine_scale_sets.begin_update(NODE_GROUP, sets["user"].name, {"tags": {"a": "b"}}).result(60)
assert written.tags["a"] == "b" and written.tags["aks-managed-poolName"] == "user"

# Network interfaces, by the same client's pipeline: the network client itself is ten times as large.
path = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{NODE_GROUP}/providers/microsoft.Compute/virtualMachineScaleSets"
nics = f"{ENDPOINT}{path}/{sets['system'].name}/networkInterfaces?api-version=2018-10-01"
nics = client.send_request(HttpRequest("GET", nics)).json()["value"]
assert sorted(len(nic["properties"].get("ipConfigurations") or []) for nic in nics) == [0, 1, 1], nics

# More machines than a page holds.
begin({"vms": [{"names": [f"aks-default-x{n}" for n in range(130)], "imageVersion": "202601.13.0"}]})
pages = [list(page) for page in client.virtual_machines.list(NODE_GROUP).by_page()]
assert [len(page) for page in pages] == [100, 30], [len(page) for page in pages]
print("ok")
