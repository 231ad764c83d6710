#!/bin/bash
# Starts the node agent: by a boothook early in the boot, or by its unit. Every path can be set from outside, for tests.
set -uo pipefail

BIN_PATH=${BIN_PATH:-/opt/azure/containers/aks-node-controller}
HOTFIX_JSON=${HOTFIX_JSON:-/opt/azure/containers/aks-node-controller-hotfix.json}
CONFIG_PATH=${CONFIG_PATH:-/opt/azure/containers/aks-node-controller-config.json}
NBC_CMD_PATH=${NBC_CMD_PATH:-/opt/azure/containers/aks-node-controller-nbc-cmd.sh}
FEATURES_PATH=${FEATURES_PATH:-/opt/azure/containers/enabled_features.sh}
HOSTNAME_PATH=${HOSTNAME_PATH:-/etc/hostname}

log() {
    logger -t aks-node-controller-launcher "$1" 2>/dev/null
    echo "$1"
}

# The node registers under its host name, which cloud-init may still be about to set.
wait_for_hostname() {
    [ -f "$HOSTNAME_PATH" ] || return
    while [ "$(hostname)" != "$(cat "$HOSTNAME_PATH")" ]; do
        sleep 1
    done
}

# KEY=VALUE lines. Read, never sourced: a value is data, not code. Only the names in this list are
# exported; any other, such as PATH, BASH_ENV or BIN_PATH, could decide what runs as root.
read_features() {
    [ -f "$FEATURES_PATH" ] || return
    log "Reading feature flags from $FEATURES_PATH"
    local line name ignored=0 names=""
    while IFS= read -r line || [ -n "$line" ]; do
        [[ $line =~ ^([a-zA-Z_][a-zA-Z0-9_]*)=(.*)$ ]] || continue
        name=${BASH_REMATCH[1]}
        case $name in
        ENABLE_PROVISIONING_HOTFIX | MOORING_HOTFIX_POLICY)
            export "$name=${BASH_REMATCH[2]}"
            ;;
        *)
            ignored=$((ignored + 1))
            [ "$ignored" -gt 10 ] || names+=" ${name:0:64}"
            ;;
        esac
    done <"$FEATURES_PATH"
    [ "$ignored" -eq 0 ] || log "Ignoring unknown feature flags ($ignored):$names"
}

# The node is provisioned regardless of the result of a hotfix.
fetch_hotfix() {
    if [ "${ENABLE_PROVISIONING_HOTFIX:-}" = true ]; then
        log "running check-hotfix"
        if "$BIN_PATH" check-hotfix; then
            log "ANC check-hotfix completed"
        else
            log "ANC check-hotfix failed; continuing (fail-open)"
        fi
    fi
    if [ -f "$HOTFIX_JSON" ]; then
        log "Found ANC hotfix config at $HOTFIX_JSON; running download-hotfix"
        "$BIN_PATH" download-hotfix
        local code=$?
        # Killed by a signal: a second run completes what the first began, whichever agent provisions afterward.
        if [ "$code" -gt 128 ] && [ "$code" -lt 255 ]; then
            "$BIN_PATH" download-hotfix
            code=$?
        fi
        if [ "$code" -eq 0 ]; then
            log "ANC download-hotfix completed; binary selection follows"
        else
            log "ANC download-hotfix failed; binary selection follows"
        fi
    fi
}

wait_for_hostname

if [ ! -f "$CONFIG_PATH" ] && [ ! -f "$NBC_CMD_PATH" ]; then
    log "Gracefully exit aks-node-controller without provision config or nbc cmd"
    exit 0
fi

read_features
fetch_hotfix

if [ -x "$BIN_PATH-hotfix" ]; then
    BIN_PATH="$BIN_PATH-hotfix"
    log "Using hotfix binary: $BIN_PATH"
    # Patched agents may contain repaired scripts.
    if "$BIN_PATH" apply-embedded-hotfix; then
        log "ANC apply-embedded-hotfix completed"
    else
        log "ANC apply-embedded-hotfix failed"
    fi
else
    log "Using VHD-baked binary: $BIN_PATH"
fi

arguments=(provision)
if [ -f "$CONFIG_PATH" ]; then
    log "Launching aks-node-controller with config $CONFIG_PATH"
    arguments+=("--provision-config=$CONFIG_PATH")
fi
if [ -f "$NBC_CMD_PATH" ]; then
    log "Launching aks-node-controller with nbc cmd $NBC_CMD_PATH"
    arguments+=("--nbc-cmd=$NBC_CMD_PATH")
fi

# In the background, so that a stop reaches the agent at once and not when it has ended. The trap is set before the agent
# is started, and `$!` names it from its first instant: a stop is never lost in between.
stopped=false
trap 'stopped=true; [ -z "${!:-}" ] || kill -TERM "$!" 2>/dev/null' TERM INT
"$BIN_PATH" "${arguments[@]}" &
agent=$!
if [ "$stopped" = true ]; then
    kill -TERM "$agent" 2>/dev/null
fi
log "Spawned aks-node-controller (pid $agent)"
wait "$agent"
code=$?
# A signal ends the wait, not the agent: wait for its report.
while kill -0 "$agent" 2>/dev/null; do
    wait "$agent"
    code=$?
done
if [ "$code" -eq 0 ]; then
    log "aks-node-controller completed successfully"
else
    log "aks-node-controller exited with code $code"
fi
exit "$code"
