#!/bin/bash
# Replaces the image's bootstrap script: the sentinel check, instance metadata, the bootstrap registry, then the work
# of the case. Tries and limits are smaller than on a real image.
set -x
sentinel=/opt/azure/containers/provision.complete
if [ -f "$sentinel" ]; then
    echo "Already ran to success exiting..."
    exit 0
fi
echo run >> /var/lib/lab/runs
middle() { touch /var/lib/lab/middle; }

imds='http://169.254.169.254/metadata/instance?api-version=2021-02-01'
curl --noproxy '*' -fsS --connect-timeout 2 --retry 1 --retry-all-errors -H Metadata:true "$imds" > /run/lab/imds.json || exit 234

registry=$BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER
config=/etc/oras/config.yaml
if [ -n "$registry" ]; then
    access=
    for _ in 1 2 3; do
        response=$(timeout 8 oras repo ls "$registry" --registry-config "$config" 2>&1) && access=anonymous && break
        if [[ $response == *"unauthorized: authentication required"* ]]; then
            access=identity
            break
        fi
        echo "unexpected response from acr: $response"
    done
    [ -n "$access" ] || exit 211
    if [ "$access" = identity ]; then
        /opt/azure/containers/aks-node-controller registry-login --registry "$registry" \
            --client-id "$USER_ASSIGNED_IDENTITY_ID" --tenant-id "$TENANT_ID" --budget 20s || exit $?
        oras repo ls "$registry" --registry-config "$config" || exit 212
    fi
fi

if [ -f /opt/lab/work.sh ]; then
    . /opt/lab/work.sh
fi
