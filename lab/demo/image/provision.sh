#!/bin/bash
# The work of a simulated image: the steps that stand in the file `steps`, one a line (name, seconds, and for a step
# that fails its exit code and last words). A step that comes to its end leaves an event; one that exits leaves none.
node=${AKS_NODE_ROOT:?}
events=$node/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events

logs_to_events() {
    local task=$1 start code
    shift
    start=$(date '+%F %T.%3N')
    "$@"
    code=$?
    { set +x; } 2>/dev/null
    printf '{"Timestamp":"%s","OperationId":"%s","Version":"1.23","TaskName":"%s","EventLevel":"Informational","Message":"Completed: %s","EventPid":"0","EventTid":"0"}' \
        "$start" "$(date '+%F %T.%3N')" "$task" "$1" >"$events/$(date +%s%3N).json"
    set -x
    return $code
}

work() { sleep "$1"; }

fail() {
    sleep "$1"
    echo "$3" >&2
    exit "$2"
}

start_kubelet() {
    sleep "$1"
    date '+%a %F %T %Z' >"$node/run/kubelet-start"
}

oras_login() {
    sleep "$1"
    [ -z "$BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER" ] ||
        oras_login_with_kubelet_identity "$BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER" client tenant
}

set -x
. "$node/opt/azure/containers/provision_source.sh"
while read -r name seconds code words; do
    case "$name $code" in
    # As on real images, this one is never told in an event.
    "outboundProbe ") work "$seconds" ;;
    *" "?*) logs_to_events "AKS.CSE.$name" fail "$seconds" "$code" "$words" ;;
    "orasLogin.oras_login_with_kubelet_identity ")
        logs_to_events "AKS.CSE.$name" oras_login "$seconds" || exit $?
        ;;
    "ensureKubelet ") logs_to_events "AKS.CSE.$name" start_kubelet "$seconds" ;;
    *) logs_to_events "AKS.CSE.$name" work "$seconds" ;;
    esac
done <"$node/opt/azure/containers/steps"
