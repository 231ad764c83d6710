#!/bin/bash
# Starts the node agent: by a boothook early in the boot, or by its unit. Every path can be set from outside, for tests.
set -uo pipefail

BIN_PATH=${BIN_PATH:-/opt/azure/containers/aks-node-controller}
HOTFIX_JSON=${HOTFIX_JSON:-/opt/azure/containers/aks-node-controller-hotfix.json}
CONFIG_PATH=${CONFIG_PATH:-/opt/azure/containers/aks-node-controller-config.json}
NBC_CMD_PATH=${NBC_CMD_PATH:-/opt/azure/containers/aks-node-controller-nbc-cmd.sh}
FEATURES_PATH=${FEATURES_PATH:-/opt/azure/containers/enabled_features.sh}
HOSTNAME_PATH=${HOSTNAME_PATH:-/etc/hostname}
EVENTS_DIR=${EVENTS_DIR:-/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events}

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

# Names that steer shells, loaders, interpreters and the tools of the scripts, or where they connect to.
steers_programs() {
    case $1 in
    PATH | HOME | SHELL | USER | LOGNAME | PWD | OLDPWD | TMPDIR | TZ | TZDIR | LANG | LANGUAGE | LC_* | TERM | TERMINFO* | XDG_*) ;;
    IFS | ENV | BASH* | SHELLOPTS | PS[0-9] | PROMPT_COMMAND | CDPATH | GLOBIGNORE | EXECIGNORE | FUNCNEST | POSIXLY_CORRECT) ;;
    OPTIND | OPTARG | OPTERR | TMOUT | TIMEFORMAT | HISTFILE | INPUTRC | MAIL | MAILPATH | EDITOR | VISUAL | *PAGER | LESS*) ;;
    LD_* | GLIBC_* | GCONV_PATH | GETCONF_DIR | LOCPATH | NLSPATH | MALLOC_* | HOSTALIASES | LOCALDOMAIN | RES_OPTIONS) ;;
    PYTHON* | PERL* | RUBY* | GEM_* | NODE_OPTIONS | NODE_PATH | JAVA_* | JDK_* | LUA_* | AWK* | GODEBUG | GOGC | RUST_*) ;;
    *_PROXY | SSL_* | SSLKEYLOGFILE | OPENSSL_* | CURL_* | WGET* | GIT_* | SSH_* | GNUPG* | GPG_* | KRB5* | KUBECONFIG) ;;
    XTABLES_* | IPTABLES_* | IP_LIB_DIR | TC_LIB_DIR | LIBMOUNT_* | CRI_CONFIG_FILE | CONTAINER_RUNTIME_ENDPOINT) ;;
    NODE_EXTRA_CA_CERTS | REQUESTS_CA_BUNDLE | NETRC | IMAGE_SERVICE_ENDPOINT | CONTAINERD_ADDRESS | CONTAINERD_NAMESPACE) ;;
    GREP_* | TAR_OPTIONS | GZIP | BZIP* | XZ_* | ZSTD_* | APT_* | DPKG_* | DEBIAN_* | DEBCONF_* | RPM_* | DNF_* | MODPROBE_*) ;;
    DOCKER_* | ORAS_* | SYSTEMD_* | DBUS_* | LISTEN_* | NOTIFY_SOCKET | SUDO_* | AKS_NODE_ROOT) ;;
    *) return 1 ;;
    esac
}

# The guest agent reports events. Names are identifiers, so the text needs no escapes.
report_refused() {
    local now
    now=$(date '+%F %T.%3N')
    log "Refused feature flags ($1):$2"
    mkdir -p "$EVENTS_DIR" && printf '{"Timestamp":"%s","OperationId":"%s","Version":"1.23","TaskName":"%s","EventLevel":"%s","Message":"%s","EventPid":"0","EventTid":"0"}' \
        "$now" "$now" AKS.AKSNodeController.Features Informational \
        "refused feature flags ($1):$2 | startTime=$now endTime=$now durationMs=0" >"$EVENTS_DIR/$(date +%s%N).json"
}

# KEY=VALUE lines. Read, never sourced: a value is data, not code. Any name in capitals is exported, so that new features
# need no new launcher, except names that are set already, here or in the environment, and names that steer programs.
read_features() {
    [ -f "$FEATURES_PATH" ] || return
    log "Reading feature flags from $FEATURES_PATH"
    local line name value refused=0 refused_names="" exported=" " LC_ALL=C
    while IFS= read -r line || [ -n "$line" ]; do
        [[ $line =~ ^([a-zA-Z_][a-zA-Z0-9_]*)=(.*)$ ]] || continue
        name=${BASH_REMATCH[1]}
        value=${BASH_REMATCH[2]}
        if [[ $name =~ ^[A-Z][A-Z0-9_]*$ ]] && ! steers_programs "$name" &&
            { [[ $exported == *" $name "* ]] || [ -z "${!name+set}" ]; }; then
            export "$name=$value"
            exported+="$name "
        else
            refused=$((refused + 1))
            [ "$refused" -gt 10 ] || refused_names+=" ${name:0:64}"
        fi
    done <"$FEATURES_PATH"
    [ "$refused" -eq 0 ] || report_refused "$refused" "$refused_names"
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
