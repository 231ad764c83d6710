"""azure-mgmt-monitor against the simulator: the activity log, its filter, its pages."""

from datetime import datetime, timedelta, timezone
import json

from azure.core.exceptions import ClientAuthenticationError

from clients import GROUP, NODE_GROUP, begin, credential, monitor, refused

begin("wedged-system-pool")
client = monitor()


def entries(group, minutes):
    now = datetime.now(timezone.utc)
    start = (now - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    end = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return list(
        client.activity_logs.list(
            filter=f"eventTimestamp ge '{start}' and eventTimestamp le '{end}' and resourceGroupName eq '{group}'"
        )
    )


found = entries(NODE_GROUP, 120)
failed = {e.operation_id for e in found if e.status.value == "Failed"}
assert len(failed) >= 12, len(failed)
for entry in found:
    assert entry.operation_name.value == "Microsoft.Compute/virtualMachineScaleSets/write"
    if entry.status.value == "Failed":
        message = json.loads(entry.properties["statusMessage"])
        assert message["error"]["details"][0]["code"] == "NetworkingInternalOperationError"
assert not [e for e in found if e.status.value == "Succeeded"]
writes = [e for e in entries(GROUP, 180) if e.operation_name.value.endswith("managedClusters/write")]
[begun] = [e for e in writes if e.status.value == "Started"]
assert all(e.operation_id == begun.operation_id for e in writes), writes
age = datetime.now(timezone.utc) - begun.event_timestamp
assert timedelta(minutes=119) < age < timedelta(minutes=122), age
refused(lambda: list(client.activity_logs.list(filter="status eq 'Failed'")), 400)

# A wrong secret is refused at the door.
try:
    credential("wrong").get_token("https://127.0.0.1/.default")
    raise AssertionError("a wrong secret must not sign in")
except ClientAuthenticationError as error:
    assert "AADSTS7000215" in str(error), error

# More events than a page holds: every one once, over several pages.
begin({"ingestionDelaySeconds": 60, "wedge": {"pool": "system", "failedWrites": 150}})
now = datetime.now(timezone.utc)
start, end = ((now - timedelta(minutes=m)).strftime("%Y-%m-%dT%H:%M:%SZ") for m in (600, 0))
wanted = f"eventTimestamp ge '{start}' and eventTimestamp le '{end}' and resourceGroupName eq '{NODE_GROUP}'"
pages = [list(page) for page in client.activity_logs.list(filter=wanted).by_page()]
assert len(pages) > 1 and all(pages), [len(page) for page in pages]
ids = [entry.event_data_id for page in pages for entry in page]
assert len(ids) == len(set(ids)) >= 150, (len(ids), len(set(ids)))
print("ok")
