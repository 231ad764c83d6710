# shellcheck shell=bash
# The helpers of a simulated image: the login at the bootstrap registry. As on real images, nothing looks for oras, and ten failures
# in a row are a timeout of the network.
oras_login_with_kubelet_identity() {
    local registry=$1 output
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if output=$(timeout 60 oras repo ls "$registry" 2>&1); then
            echo "acr is anonymously reachable"
            return 0
        fi
    done
    echo "unexpected response from acr: $output"
    return 211
}
