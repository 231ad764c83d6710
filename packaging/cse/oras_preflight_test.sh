#!/bin/bash
# Tests of oras_preflight.sh, with a function of the image that prints how it was called. `BASH_UNDER_TEST` names another bash.
set -u
preflight=$(cd "$(dirname "$0")" && pwd)/oras_preflight.sh
shell=${BASH_UNDER_TEST:-/bin/bash}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 tests=0

# A node: coreutils in $root/tools, nothing else in PATH but $root/programs.
new_node() {
    root=$work/$((++tests))
    mkdir -p "$root"/{tools,programs,etc,usr/bin,usr/local/bin,opt/bin,opt/azure/containers}
    local tool
    for tool in env od readlink stat timeout uname; do
        ln -s "$(type -P $tool)" "$root/tools/$tool"
    done
    printf 'NAME="Azure Linux"\nVERSION_ID="3.0"\nHOME_URL="https://aka.ms/azurelinux"' >"$root/etc/os-release"
    path=$root/programs:$root/tools
    options='' before='' after='' arguments='mine.azurecr.io client tenant'
}

# Runs the login on the node as the image does. Sets code, and printed with both streams.
login() {
    printed=$(
        exec 2>&1
        # shellcheck disable=SC2086,SC2016 # options are words; the text is for the other shell
        env -i PATH="$path" AKS_NODE_ROOT="$root" TLS_BOOTSTRAP_TOKEN=canary "$shell" $options -c '
            oras_login_with_kubelet_identity() {
                local acr_url=$1
                echo "image: $# $* $acr_url $-"
                return "${CODE:-0}"
            }
            '"$before"'
            . "$0"
            '"$after"'
            oras_login_with_kubelet_identity '"$arguments"' || exit $?
            ' "$preflight"
    )
    code=$?
}

# Fails unless $3 is $2.
expect() {
    if [ "$2" != "$3" ]; then
        printf 'FAILED %s:\n  expected %s\n  was      %s\n' "$1" "$2" "$3" >&2
        failures=$((failures + 1))
    fi
}

# Fails unless $2 was printed.
expect_text() {
    case $printed in
    *"$2"*) ;;
    *) expect "$1" "text with: $2" "$printed" ;;
    esac
}

# The image's fault, in the first line.
expect_fault() {
    expect "$1: result" 232 "$code"
    expect "$1: first line" \
        "ERR_ORAS_BINARY_NOT_FOUND: $2, and this node needs it to pull from mine.azurecr.io" "${printed%%$'\n'*}"
}

program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod 755 "$1"
}

true=$(type -P true)
length=$(stat -Lc %s "$true")

# A healthy node: the function of the image runs with its arguments and result, and nothing else is printed.
for options in '' -e -u -eu; do
    for result in 0 212; do
        new_node
        cp "$true" "$root/programs/oras"
        options_of_image=$("$shell" ${options:+"$options"} -c 'echo $-')
        before="CODE=$result"
        login
        expect "healthy $options: result" $result "$code"
        expect "healthy $options" "image: 3 mine.azurecr.io client tenant mine.azurecr.io $options_of_image" "$printed"
    done
done
new_node
options=-x arguments='mine.azurecr.io "" ""'
cp "$true" "$root/programs/oras"
login
expect "trace of a healthy node" "+ . $preflight
+ oras_login_with_kubelet_identity mine.azurecr.io '' ''
+ oras_login_of_image mine.azurecr.io '' ''
+ local acr_url=mine.azurecr.io
+ echo 'image: 3 mine.azurecr.io   mine.azurecr.io hxBc'
image: 3 mine.azurecr.io   mine.azurecr.io hxBc
+ return 0" "$printed"

# Options that the function of the image changes stay changed; those of the caller are not changed by the check.
new_node
cp "$true" "$root/programs/oras"
before='oras_login_with_kubelet_identity() { set -f; }' arguments='a b c; echo "$-"; exit'
login
expect "options after a login" fhBc "$printed"

# Each location in PATH is usable; outside of PATH it is named.
for place in usr/local/bin usr/bin opt/bin; do
    new_node
    cp "$true" "$root/$place/oras"
    login
    expect_fault "$place" "oras is at /$place/oras, which is not in PATH"
    path=$path:$root/$place
    login
    expect "$place in PATH" 0 "$code"
done

# No oras, under all options.
for options in '' -e -u -eu; do
    new_node
    login
    expect "no oras $options" "ERR_ORAS_BINARY_NOT_FOUND: oras is missing on this image, and this node needs it to pull from mine.azurecr.io
  PATH is $path
  /usr/local/bin/oras: missing
  /usr/bin/oras: missing
  /opt/bin/oras: missing
  /etc/os-release:
    NAME=\"Azure Linux\"
    VERSION_ID=\"3.0\"
    HOME_URL=\"https://aka.ms/azurelinux\"
  package (rpm): not available
  package (dpkg-query): not available
  ERR_ORAS_BINARY_NOT_FOUND is a defect of the image, not of the network: give new nodes an image version that has oras" "$printed"
    expect "no oras $options: result" 232 "$code"
done
new_node
options=-e arguments='mine.azurecr.io; echo not reached'
login
expect_fault "no oras, -e without ||" "oras is missing on this image"
new_node
options=-eu arguments=
rm "$root/etc/os-release"
login
expect "no arguments: result" 232 "$code"
expect_text "no os-release" "  /etc/os-release: cannot be read"

# Files that are not a usable oras.
new_node
: >"$root/programs/oras"
chmod 755 "$root/programs/oras"
login
expect_fault "empty" "oras at $root/programs/oras is present, but empty"
for bytes in 30 $((length / 2)) $((length * 9 / 10)); do
    new_node
    head -c $bytes "$true" >"$root/programs/oras"
    chmod 755 "$root/programs/oras"
    login
    expect "$bytes of $length bytes: result" 232 "$code"
    expect_text "$bytes of $length bytes" "present, but cut short ($bytes of at least "
done
new_node
install -m 644 "$true" "$root/programs/oras"
login
expect_fault "not executable" "oras at $root/programs/oras is present, but not executable (mode 0644)"
mkdir -p "$root/second"
cp "$true" "$root/second/oras"
path=$path:$root/second
login
expect "usable after one that is not executable" 0 "$code"
new_node
mkdir "$root/programs/oras"
login
expect_fault "directory" "oras at $root/programs/oras is present, but not a file"
new_node
ln -s /nowhere/oras "$root/programs/oras"
login
expect_fault "broken link" "oras at $root/programs/oras is a broken link (to /nowhere/oras)"
new_node
printf '<html>\n' >"$root/programs/oras"
chmod 755 "$root/programs/oras"
login
expect_fault "not a program" "oras at $root/programs/oras is present, but neither a program nor a script (7 bytes)"
new_node
machine=$(uname -m)
case $machine in x86_64) other=aarch64 byte='\267' ;; *) other=x86_64 byte='\076' ;; esac
cp "$true" "$root/programs/oras"
# shellcheck disable=SC2059 # an octal escape
printf "$byte" | dd of="$root/programs/oras" bs=1 seek=18 conv=notrunc status=none
login
expect_fault "other architecture" "oras at $root/programs/oras is present, but made for $other; this machine is $machine"
new_node
program "$root/programs/oras" 'exit 3'
login
expect_fault "does not start" "oras at $root/programs/oras is present, but \`oras version\` fails (exit status 3)"

# It is started without the secrets of the node, and a start that takes too long proves nothing.
new_node
program "$root/programs/oras" "case \$(env) in *canary*) exit 1 ;; esac"
login
expect "secrets" 0 "$code"
new_node
cp "$true" "$root/programs/oras"
rm "$root/tools/timeout"
program "$root/tools/timeout" 'exit 124'
login
expect "slow start: result" 0 "$code"
expect_text "slow start" "warning: \`$root/programs/oras version\` did not end within 10 s"

# Package managers that the image has.
new_node
program "$root/programs/rpm" 'echo "package oras is not installed"; exit 1'
login
expect_text "rpm without oras" "  package (rpm): oras is not installed
  package (dpkg-query): not available"
new_node
program "$root/programs/rpm" 'echo "error: cannot open Packages database" >&2; echo "package oras is not installed"; exit 1'
program "$root/programs/dpkg-query" 'printf "oras 1.2.0"'
login
expect_text "broken rpm" "  package (rpm): unknown (error: cannot open Packages database package oras is not installed; exit status 1)
  package (dpkg-query): oras 1.2.0"

# The login of the agent runs on request only, and only with oras.
for request in 1 0 ''; do
    new_node
    # shellcheck disable=SC2016 # for the other shell
    program "$root/opt/azure/containers/aks-node-controller" 'echo "agent: $*"; exit 7'
    before=MOORING_REGISTRY_LOGIN=$request options=-eu
    login
    expect_fault "registry-login $request without oras" "oras is missing on this image"
    cp "$true" "$root/programs/oras"
    login
    case $request in
    1) expect "registry-login" "7 agent: registry-login --registry mine.azurecr.io --client-id=client --tenant-id=tenant" "$code $printed" ;;
    *) expect "no registry-login" "0 image: 3 mine.azurecr.io client tenant mine.azurecr.io ehuBc" "$code $printed" ;;
    esac
done

# Sourced twice, and again after the helpers: the check runs once. Sourced before the helpers, it says that nothing is checked.
new_node
cp "$true" "$root/programs/oras"
# shellcheck disable=SC2016 # for the other shell
after='. "$0"; oras_login_with_kubelet_identity() { echo again; }; . "$0"; . "$0"'
login
expect "sourced again" again "$printed"
rm "$root/programs/oras"
login
expect_fault "sourced again, no oras" "oras is missing on this image"
for options in '' -e -u -eu; do
    new_node
    before='unset -f oras_login_with_kubelet_identity' after='exit 0'
    login
    expect "sourced too early $options" "0 oras_preflight.sh: oras is not checked: source this file after the image's helpers, which define oras_login_with_kubelet_identity" "$code $printed"
done

echo "$tests nodes, $failures failures ($("$shell" --version | head -1))"
[ "$failures" = 0 ]
