"""What a program does with the official Python client, against any API server.

The first argument is the folder of the CRD fixtures; KUBECONFIG says which server. Ends at the first thing that is not
as it should be.
"""

import datetime
import pathlib
import sys
import threading
import time

import yaml
from kubernetes import client, config, utils, watch
from kubernetes.client.exceptions import ApiException

CLAIMS = {"group": "karpenter.sh", "version": "v1", "plural": "nodeclaims"}
NAMESPACE = "python"
JSON_PATCH = "application/json-patch+json"


def step(text):
    print(f"python client: {text}", flush=True)


def refused(status, call, *arguments, **named):
    """The call must fail with this status; what the server said."""
    try:
        call(*arguments, **named)
    except ApiException as refusal:
        assert refusal.status == status, f"expected {status}: {refusal}"
        return refusal
    raise AssertionError(f"expected {status} from {call}")


def until(what, condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, f"not within 30 s: {what}"
        time.sleep(0.05)


def claim(name):
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"team": "python"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["default"]}],
        },
    }


def condition(kind, status):
    return {"type": kind, "status": status, "lastTransitionTime": "2026-11-15T08:00:00Z"}


def define(folder):
    step("create the definition and wait until it is established")
    api = client.ApiextensionsV1Api()
    body = yaml.safe_load((folder / "nodeclaims.yaml").read_text())
    utils.create_from_dict(client.ApiClient(), body)

    def established():
        read = api.read_custom_resource_definition("nodeclaims.karpenter.sh")
        return any(c.type == "Established" and c.status == "True" for c in read.status.conditions or [])

    until("established", established)


def custom_objects():
    step("custom objects: create, list, patch, status, delete")
    api = client.CustomObjectsApi()
    made = api.create_cluster_custom_object(body=claim("py-1"), **CLAIMS)
    assert made["metadata"]["generation"] == 1
    refused(409, api.create_cluster_custom_object, body=claim("py-1"), **CLAIMS)
    for number in range(2, 6):
        api.create_cluster_custom_object(body=claim(f"py-{number}"), **CLAIMS)
    page = api.list_cluster_custom_object(label_selector="team=python", limit=2, **CLAIMS)
    seen = [item["metadata"]["name"] for item in page["items"]]
    while page["metadata"].get("continue"):
        page = api.list_cluster_custom_object(
            label_selector="team=python", limit=2, _continue=page["metadata"]["continue"], **CLAIMS
        )
        seen += [item["metadata"]["name"] for item in page["items"]]
    assert seen == [f"py-{number}" for number in range(1, 6)], seen
    conditions = {"status": {"conditions": [condition("Launched", "True")]}}
    api.patch_cluster_custom_object_status(name="py-1", body=conditions, **CLAIMS)
    patch = [
        {"op": "test", "path": "/metadata/uid", "value": made["metadata"]["uid"]},
        {"op": "add", "path": "/status/conditions/-", "value": condition("CSEProvisioned", "False")},
    ]
    written = api.patch_cluster_custom_object_status(name="py-1", body=patch, _content_type=JSON_PATCH, **CLAIMS)
    assert [c["type"] for c in written["status"]["conditions"]] == ["Launched", "CSEProvisioned"]
    wrong = [{"op": "test", "path": "/metadata/uid", "value": "other"}]
    refused(
        422, api.patch_cluster_custom_object_status, name="py-1", body=wrong, _content_type=JSON_PATCH, **CLAIMS
    )
    api.delete_cluster_custom_object(name="py-1", **CLAIMS)
    refused(404, api.get_cluster_custom_object, name="py-1", **CLAIMS)
    api.delete_collection_cluster_custom_object(label_selector="team=python", **CLAIMS)
    assert not api.list_cluster_custom_object(label_selector="team=python", **CLAIMS)["items"]


def watches():
    step("watch from a list, and be told of what comes after")
    core = client.CoreV1Api()
    core.create_namespace({"metadata": {"name": NAMESPACE}})
    since = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version

    def write():
        for name in ("a", "b"):
            core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": name}, "data": {"k": "1"}})
        core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"k": "2"}})
        core.delete_namespaced_config_map("b", NAMESPACE)

    writer = threading.Thread(target=write)
    writer.start()
    told = []
    watched = watch.Watch()
    for event in watched.stream(
        core.list_namespaced_config_map, NAMESPACE, resource_version=since, timeout_seconds=30
    ):
        told.append((event["type"], event["object"].metadata.name))
        if len(told) == 4:
            watched.stop()
    writer.join()
    assert told == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")], told
    stale = core.read_namespaced_config_map("a", NAMESPACE)
    core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"k": "3"}})
    stale.data = {"k": "4"}
    refused(409, core.replace_namespaced_config_map, "a", NAMESPACE, stale)


def lease():
    step("a lease is taken, renewed, and taken over")
    api = client.CoordinationV1Api()
    now = datetime.datetime.now(datetime.timezone.utc)
    spec = client.V1LeaseSpec(
        holder_identity="one", lease_duration_seconds=15, acquire_time=now, renew_time=now, lease_transitions=0
    )
    body = client.V1Lease(metadata=client.V1ObjectMeta(name="mooring"), spec=spec)
    held = api.create_namespaced_lease(NAMESPACE, body)
    refused(409, api.create_namespaced_lease, NAMESPACE, body)
    assert abs((held.spec.renew_time - now).total_seconds()) < 0.001
    held.spec.renew_time = now + datetime.timedelta(seconds=5)
    renewed = api.replace_namespaced_lease("mooring", NAMESPACE, held)
    refused(409, api.replace_namespaced_lease, "mooring", NAMESPACE, held)
    renewed.spec.holder_identity, renewed.spec.lease_transitions = "two", 1
    taken = api.replace_namespaced_lease("mooring", NAMESPACE, renewed)
    assert taken.spec.holder_identity == "two"


def nodes_and_pods():
    step("cordon a node, evict a pod")
    core = client.CoreV1Api()
    core.create_node({"metadata": {"name": "py-node"}})
    core.patch_node("py-node", {"spec": {"unschedulable": True}})
    assert core.read_node("py-node").spec.unschedulable is True
    pod = {
        "metadata": {"name": "p"},
        "spec": {"nodeName": "py-node", "containers": [{"name": "c", "image": "example.invalid/c"}]},
    }
    core.create_namespaced_pod(NAMESPACE, pod)
    assert [p.metadata.name for p in core.list_pod_for_all_namespaces(field_selector="spec.nodeName=py-node").items] == ["p"]
    eviction = {"metadata": {"name": "p", "namespace": NAMESPACE}, "deleteOptions": {"gracePeriodSeconds": 0}}
    # The answer is a Status, which the client would take for an Eviction.
    core.create_namespaced_pod_eviction("p", NAMESPACE, eviction, _preload_content=False)

    def gone():
        return not core.list_namespaced_pod(NAMESPACE).items

    until("the pod is gone", gone)
    core.delete_node("py-node")


def access():
    step("what the user may do is told")
    api = client.AuthorizationV1Api()
    attributes = client.V1ResourceAttributes(verb="patch", group="karpenter.sh", resource="nodeclaims", subresource="status")
    spec = client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    review = api.create_self_subject_access_review(client.V1SelfSubjectAccessReview(spec=spec))
    assert review.status.allowed
    spec = client.V1SubjectAccessReviewSpec(user="nobody", resource_attributes=attributes)
    review = api.create_subject_access_review(client.V1SubjectAccessReview(spec=spec))
    assert not review.status.allowed
    assert client.VersionApi().get_code().major == "1"


def events():
    step("an event in the newer API")
    api = client.EventsV1Api()
    reference = client.V1ObjectReference(
        api_version="karpenter.sh/v1", kind="NodeClaim", namespace="default", name="py-1"
    )
    body = client.EventsV1Event(
        metadata=client.V1ObjectMeta(name="py-1.event"),
        event_time=datetime.datetime.now(datetime.timezone.utc),
        type="Warning",
        reason="CSEFailed",
        action="Provision",
        note="CSE exited with code 211",
        reporting_controller="mooring",
        reporting_instance="mooring-0",
        regarding=reference,
    )
    api.create_namespaced_event("default", body)
    seen = client.CoreV1Api().list_namespaced_event("default", field_selector="involvedObject.name=py-1").items
    assert [event.message for event in seen] == ["CSE exited with code 211"], seen


def main():
    config.load_kube_config()
    define(pathlib.Path(sys.argv[1]))
    custom_objects()
    watches()
    lease()
    nodes_and_pods()
    access()
    events()
    definitions = client.ApiextensionsV1Api()
    definitions.delete_custom_resource_definition("nodeclaims.karpenter.sh")
    until("the definition is gone", lambda: not definitions.list_custom_resource_definition().items)
    step("all as it should be")


main()
