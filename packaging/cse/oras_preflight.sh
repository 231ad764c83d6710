# shellcheck shell=bash
# Reports an image without a usable oras as that, before the first use of oras, and not as a network timeout (211).
#
# Source this file after the image's helpers (cse_helpers.sh, /opt/azure/containers/provision_source.sh). It wraps
# `oras_login_with_kubelet_identity`: where oras is usable, the function of the image runs as before; otherwise the wrapper says
# why, first in one line, and returns 232. With MOORING_REGISTRY_LOGIN=1, `aks-node-controller registry-login` (of Mooring's agent)
# runs in place of the function of the image.
#
# Needs bash 4.4 and coreutils; rpm and dpkg-query are queried where they exist. Works with any of `set -e`, `-u` and `-x`.
# AKS_NODE_ROOT is the root of the node in tests.

# Prints the state of a candidate, and returns 0 if it is usable, 1 if a shell passes over it, 2 if a shell would run it and
# fail.
oras_preflight_state() {
    local path=$1 length found
    if [ -L "$path" ] && ! [ -e "$path" ]; then
        echo "a broken link (to $(readlink "$path"))"
        return 1
    elif ! [ -e "$path" ]; then
        echo "missing"
        return 1
    elif ! [ -f "$path" ]; then
        echo "present, but not a file"
        return 1
    elif ! [ -x "$path" ]; then
        echo "present, but not executable (mode $(stat -Lc %04a "$path"))"
        return 1
    fi
    length=$(stat -Lc %s "$path")
    # shellcheck disable=SC2207 # numbers
    local -a head=($(od -An -v -tu1 -N64 "$path"))
    if [ "$length" = 0 ]; then
        echo "present, but empty"
    elif [ "${#head[@]}" = 0 ]; then
        # Not read, so not judged: the start decides.
        echo "present, but cannot be read"
        return 0
    elif [ "${#head[@]}" -gt 1 ] && [ "${head[*]:0:2}" = "35 33" ]; then
        echo "present"
        return 0
    elif [ "${head[*]:0:4}" != "127 69 76 70" ]; then
        echo "present, but neither a program nor a script ($length bytes)"
    elif [ "${#head[@]}" -lt 64 ]; then
        echo "present, but cut short ($length of at least 64 bytes)"
    elif found=$(oras_preflight_machine "${head[4]}" $((head[18] | head[19] << 8))) && [ -n "$found" ]; then
        echo "present, but made for $found; this machine is $(uname -m)"
    else
        local needed=64
        oras_preflight_table 32 54 1 4
        oras_preflight_table 40 58 3 4
        if [ "$needed" -le "$length" ]; then
            echo "present"
            return 0
        fi
        echo "present, but cut short ($length of at least $needed bytes)"
    fi
    return 2
}

# Prints the architecture of an ELF file (class and machine) if it is not that of this machine.
oras_preflight_machine() {
    local found
    case $1-$2 in
    2-62) found=x86_64 ;;
    2-183) found=aarch64 ;;
    *) found="another architecture (ELF machine $2)" ;;
    esac
    case $(uname -m) in
    "$found") ;;
    x86_64 | aarch64) echo "$found" ;;
    esac
}

# Raises `needed` to the end of a table of an ELF file and of all that it lists. The arguments are places in the header: of the
# table's offset, and of size and number of its entries; then the index of offset and size in an entry, in words of 8 bytes.
oras_preflight_table() {
    local byte table=0 entry count words index=0 start=0 end
    for byte in 5 4 3 2 1 0; do
        table=$((table << 8 | head[$1 + byte]))
    done
    entry=$((head[$2] | head[$2 + 1] << 8)) count=$((head[$2 + 2] | head[$2 + 3] << 8))
    if [ "$table" = 0 ] || [ "$entry" -lt 56 ]; then
        return
    fi
    end=$((table + entry * count))
    needed=$((end > needed ? end : needed))
    words=$(od -An -v -tu8 -j"$table" -N$((entry * count)) "$path" 2>/dev/null)
    local is_content=yes
    for byte in $words; do
        case $((index++ % (entry / 8))) in
        # A section without content in the file (SHT_NOBITS).
        0) [ "$3" = 3 ] && [ $((byte >> 32)) = 8 ] && is_content='' || is_content=yes ;;
        "$3") start=$byte ;;
        "$4")
            end=$((start + byte))
            [ -z "$is_content" ] || needed=$((end > needed ? end : needed))
            ;;
        esac
    done
}

# Runs a command for at most $1 seconds, without the rest of the environment, which has the node's secrets.
oras_preflight_run() {
    local limit=$1
    shift
    timeout -k1 "$limit" env -i "PATH=$PATH" "HOME=${HOME-/root}" LANG=C "$@" </dev/null 2>&1
}

# Prints what a package manager knows about oras. A package manager that the image does not have knows nothing.
oras_preflight_package() {
    local printed code
    if ! type -P "$1" >/dev/null; then
        echo "package ($1): not available"
        return
    fi
    printed=$(oras_preflight_run 5 "$@")
    code=$?
    printed=${printed//[[:cntrl:]]/ }
    case $code-$printed in
    0-?*) echo "package ($1): $printed" ;;
    "1-package oras is not installed" | "1-dpkg-query: no packages found matching oras")
        echo "package ($1): oras is not installed"
        ;;
    *) echo "package ($1): unknown ($printed; exit status $code)" ;;
    esac
}

# Checks oras for the bootstrap registry $1. Prints nothing if it is usable; otherwise prints the reason and returns 232.
oras_preflight() {
    local -
    set +euxE
    local LC_ALL=C IFS=$' \t\n'
    local registry=${1-} rest=${PATH-}: folder path state code oras='' best='' usual line
    local -a places=() states=()
    while [ -n "$rest" ] && [ -z "$oras" ]; do
        folder=${rest%%:*} rest=${rest#*:}
        path=${folder:-.}/oras
        state=$(oras_preflight_state "$path")
        code=$?
        [ "$state" != missing ] || continue
        [ "$code" = 1 ] || oras=$path
        places+=("$path") states+=("$state")
        best=${best:-oras at $path is $state}
    done
    if [ -n "$oras" ] && [ "$code" = 0 ]; then
        # A file can be complete and still not start.
        oras_preflight_run 10 "$oras" version >/dev/null
        code=$?
        case $code in
        0) return 0 ;;
        124 | 137)
            echo "warning: \`$oras version\` did not end within 10 s; if the bootstrap fails, suspect the image or its disk first"
            return 0
            ;;
        esac
        state="present, but \`oras version\` fails (exit status $code)"
        states[${#states[@]} - 1]=$state
        best="oras at $oras is $state"
    fi
    for usual in /usr/local/bin/oras /usr/bin/oras /opt/bin/oras; do
        for path in "${places[@]}"; do
            [ "$path" != "${AKS_NODE_ROOT-}$usual" ] || continue 2
        done
        state=$(oras_preflight_state "${AKS_NODE_ROOT-}$usual")
        places+=("$usual") states+=("$state")
        case $state in
        missing) ;;
        present) best=${best:-oras is at $usual, which is not in PATH} ;;
        *) best=${best:-oras at $usual is $state} ;;
        esac
    done
    line="ERR_ORAS_BINARY_NOT_FOUND: ${best:-oras is missing on this image}, and this node needs it"
    echo "$line${registry:+ to pull from ${registry//[^[:graph:]]/}}"
    echo "  PATH is ${PATH-}"
    for code in "${!places[@]}"; do
        echo "  ${places[code]}: ${states[code]}"
    done
    path=${AKS_NODE_ROOT-}/etc/os-release
    if [ -r "$path" ] && [ -f "$path" ]; then
        echo "  /etc/os-release:"
        while read -r line || [ -n "$line" ]; do
            echo "    ${line//[[:cntrl:]]/}"
        done <"$path"
    else
        echo "  /etc/os-release: cannot be read"
    fi
    echo "  $(oras_preflight_package rpm -q oras)"
    # shellcheck disable=SC2016 # a format of dpkg-query
    echo "  $(oras_preflight_package dpkg-query -W -f '${Package} ${Version}' oras)"
    # The name again: of a long log, only the end is reported.
    echo "  ERR_ORAS_BINARY_NOT_FOUND is a defect of the image, not of the network: give new nodes an image version that has oras"
    return 232
}

# Runs the login of Mooring's agent with the arguments of `oras_login_with_kubelet_identity`.
oras_preflight_registry_login() {
    local agent=${AKS_NODE_ROOT-}/opt/azure/containers/aks-node-controller
    "$agent" registry-login --registry "${1-}" --client-id="${2-}" --tenant-id="${3-}"
}

# Puts the check in front of the login of the image, once.
oras_preflight_wrap() {
    local -
    set +euxE
    local login
    login=$(declare -f oras_login_with_kubelet_identity)
    case $login in
    '')
        echo "oras_preflight.sh: oras is not checked: source this file after the image's helpers, which define" \
            "oras_login_with_kubelet_identity" >&3
        return
        ;;
    *oras_preflight*) return ;;
    esac
    eval "oras_login_of_image ${login#oras_login_with_kubelet_identity}"
    # The braces hide the check, but not the login, in a trace of the caller.
    oras_login_with_kubelet_identity() {
        {
            oras_preflight "$@" || return
            if [ "${MOORING_REGISTRY_LOGIN-}" = 1 ]; then
                set -- oras_preflight_registry_login "$@"
            else
                set -- oras_login_of_image "$@"
            fi
        } 2>/dev/null
        "$@"
    }
}
{ oras_preflight_wrap; } 3>&2 2>/dev/null
