"""Microsoft's clients, pointed at the simulator that the environment names."""

import json
import os
import ssl
import urllib.request

from azure.core.exceptions import HttpResponseError
from azure.identity import ClientSecretCredential
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.containerservice import ContainerServiceClient
from azure.mgmt.monitor import MonitorManagementClient

ENDPOINT = os.environ["AZURE_RESOURCE_MANAGER_ENDPOINT"]
CA = os.environ["AZURE_CA_CERTIFICATE"]
SUBSCRIPTION = os.environ["SUBSCRIPTION_ID"]
GROUP = os.environ["RESOURCE_GROUP"]
CLUSTER = os.environ["CLUSTER_NAME"]
NODE_GROUP = "MC_rg-demo_demo_westeurope"


def credential(secret=None):
    return ClientSecretCredential(
        os.environ["AZURE_TENANT_ID"],
        os.environ["AZURE_CLIENT_ID"],
        secret or os.environ["AZURE_CLIENT_SECRET"],
        authority=os.environ["AZURE_AUTHORITY_HOST"],
        disable_instance_discovery=True,
        connection_verify=CA,
    )


def _client(kind, **more):
    return kind(
        more.pop("credential", None) or credential(),
        SUBSCRIPTION,
        base_url=ENDPOINT,
        credential_scopes=[ENDPOINT + "/.default"],
        connection_verify=CA,
        polling_interval=0,
        **more,
    )


def aks(**more):
    return _client(ContainerServiceClient, **more)


def compute(**more):
    return _client(ComputeManagementClient, **more)


def monitor(**more):
    return _client(MonitorManagementClient, **more)


def admin(method, path, body=None):
    """One call of the simulator's own API."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": "Bearer " + os.environ["MOORING_SIM_TOKEN"]}
    request = urllib.request.Request(ENDPOINT + path, data=data, method=method, headers=headers)
    context = ssl.create_default_context(cafile=CA)
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        return json.loads(answer.read())


def begin(scenario):
    """Begins anew: with a built-in scenario by its name, or with one as data (JSON is YAML)."""
    if isinstance(scenario, str):
        admin("POST", "/admin/scenario?name=" + scenario)
    else:
        admin("POST", "/admin/scenario", scenario)


def refused(act, status, code=None, kind=HttpResponseError):
    """The error that Microsoft's client maps this refusal to."""
    try:
        act()
    except HttpResponseError as error:
        assert error.status_code == status, (error.status_code, error.message)
        found = error.error.code if error.error else None
        assert code is None or found == code, (found, error.message)
        assert isinstance(error, kind), type(error)
        return error
    raise AssertionError(f"expected {status} {code}, but it went through")


def ends_badly(poller, code):
    """Follows an operation to an end that is not success, and says why it was not."""
    try:
        poller.result(60)
    except HttpResponseError as error:
        assert error.error and error.error.code == code, (error.error, error.message)
        return error
    raise AssertionError(f"expected {code}, but it succeeded")
