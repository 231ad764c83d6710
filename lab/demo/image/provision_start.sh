#!/bin/bash
# The start script of a simulated image: runs the work under a time limit, then leaves the report, the last event and
# the sentinel, whatever came of it. The shapes are those that the scripts of real images leave.
node=${AKS_NODE_ROOT:?}
logs=$node/var/log/azure
events=$logs/Microsoft.Azure.Extensions.CustomScript/events
mkdir -p "$logs/aks" "$events"
# When kernel, network and cloud-init started: the machine's own record.
. "$node/run/boot-times"

stamp() { date '+%F %T.%3N'; }

# One JSON string without its quotes.
escaped() { sed -e 's/[\\"]/\\&/g' -e 's/\t/\\t/g' | tr -d '\000-\010\013-\037' | sed ':a;N;$!ba;s/\n/\\n/g'; }

began=$(date +%s)
began_at=$(stamp)
cse_start=$(date)
timeout -k5s "${CSE_TIMEOUT:-15m}" bash "$node/opt/azure/containers/provision.sh" >>"$logs/cluster-provision.log" 2>&1
code=$?
seconds=$(($(date +%s) - began))
kubelet=n/a
[ -f "$node/run/kubelet-start" ] && kubelet=$(cat "$node/run/kubelet-start")

output=$(tail -c 3000 "$logs/cluster-provision.log" | escaped)
printf '{"ExitCode": "%s", "Output": "%s", "Error": "", "ExecDuration": "%s", "KernelStartTime": "%s", "CloudInitLocalStartTime": "%s", "CloudInitStartTime": "%s", "CloudFinalStartTime": "%s", "NetworkdStartTime": "%s", "CSEStartTime": "%s", "GuestAgentStartTime": "%s", "SystemdSummary": "%s", "BootDatapoints": {"KernelStartTime": "%s", "CSEStartTime": "%s", "GuestAgentStartTime": "%s", "KubeletStartTime": "%s"}}\n' \
    "$code" "$output" "$seconds" "$KERNEL" "$CLOUD_INIT_LOCAL" "$CLOUD_INIT" "$CLOUD_FINAL" "$NETWORKD" "$cse_start" \
    "$GUEST_AGENT" "" "$KERNEL" "$cse_start" "$GUEST_AGENT" "$kubelet" |
    tee "$logs/aks/provision.json"

message=$(printf '{"ExitCode":"%s","E2E":"%s","KernelStartTime":"%s","KubeletStartTime":"%s","ScriptlessMode":"cse_cmd"}' \
    "$code" "$seconds" "$KERNEL" "$kubelet" | escaped)
printf '{"Timestamp":"%s","OperationId":"%s","Version":"1.23","TaskName":"AKS.CSE.cse_start","EventLevel":"","Message":"%s","EventPid":"0","EventTid":"0"}' \
    "$began_at" "$(stamp)" "$message" >"$events/$(date +%s%3N).json"

touch "$node/opt/azure/containers/provision.complete"
exit "$code"
