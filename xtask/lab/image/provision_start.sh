#!/bin/bash
# Replaces the image's start script: runs the work under a time limit, writes the report, then the sentinel, whatever
# came of it, and exits with the work's code.
export CSE_STARTTIME_SECONDS=$(date +%s)
log=/var/log/azure/cluster-provision.log
timeout -k5s "${CSE_TIMEOUT:-15m}" /bin/bash /opt/azure/containers/provision.sh >> "$log" 2>&1
code=$?
output=$(tail -c 3000 "$log" | python3 -c 'import json, sys; print(json.dumps(sys.stdin.buffer.read().decode(errors="replace")))')
mkdir -p /var/log/azure/aks
printf '{"ExitCode": "%s", "Output": %s, "Error": "", "ExecDuration": "%s"}\n' \
    "$code" "$output" "$(($(date +%s) - CSE_STARTTIME_SECONDS))" > /var/log/azure/aks/provision.json
cat /var/log/azure/aks/provision.json
touch /opt/azure/containers/provision.complete
exit "$code"
