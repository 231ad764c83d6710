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
. /opt/azure/containers/provision_source.sh
middle() { touch /var/lib/lab/middle; }

imds='http://169.254.169.254/metadata/instance?api-version=2021-02-01'
curl --noproxy '*' -fsS --connect-timeout 2 --retry 1 --retry-all-errors -H Metadata:true "$imds" > /run/lab/imds.json || exit 234

registry=$BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER
config=/etc/oras/config.yaml
if [ -n "$registry" ]; then
    oras_login_with_kubelet_identity "$registry" "$USER_ASSIGNED_IDENTITY_ID" "$TENANT_ID" || exit $?
fi

if [ -f /opt/lab/work.sh ]; then
    . /opt/lab/work.sh
fi
