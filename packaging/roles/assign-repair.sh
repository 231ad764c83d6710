#!/bin/sh
# Creates the four Azure roles of `mooring repair`, and assigns them to one identity. It can be repeated: a new role takes
# minutes until it can be assigned.
#
#   assign-repair.sh OBJECT-ID SUBSCRIPTION-ID CLUSTER-SCOPE NODES-SCOPE [LINKED-SCOPE…]
#
# CLUSTER-SCOPE is the cluster, NODES-SCOPE its node resource group, LINKED-SCOPE the virtual network of its nodes and every
# other resource that mooring-repair-linked.json names. For a cluster that does not exist yet, they are its resource group,
# the subscription, and the resource groups of those resources.
set -eu
if [ $# -lt 4 ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
object=$1 subscription=$2 cluster=$3 nodes=$4
shift 4
roles=$(dirname "$0")

assign() {
    definition=$(sed "s/00000000-0000-0000-0000-000000000000/$subscription/" "$roles/$1.json")
    name=$(printf '%s\n' "$definition" | sed -n 's/^  "Name": "\(.*\)",$/\1/p')
    az role definition create --subscription "$subscription" --role-definition "$definition" ||
        az role definition update --subscription "$subscription" --role-definition "$definition"
    az role assignment create --role "$name" --assignee-object-id "$object" \
        --assignee-principal-type ServicePrincipal --scope "$2"
}

assign mooring-repair "$cluster"
assign mooring-repair-nodes "$nodes"
assign mooring-repair-subscription "/subscriptions/$subscription"
for scope; do
    assign mooring-repair-linked "$scope"
done
