# Replaces the image's helpers: the login at the bootstrap registry. As on a real image, nothing looks for oras.
oras_login_with_kubelet_identity() {
    local registry=$1 client_id=$2 tenant_id=$3 response
    for _ in 1 2 3; do
        response=$(timeout 8 oras repo ls "$registry" --registry-config "$config" 2>&1) && return
        if [[ $response == *"unauthorized: authentication required"* ]]; then
            /opt/azure/containers/aks-node-controller registry-login --registry "$registry" \
                --client-id "$client_id" --tenant-id "$tenant_id" --budget 20s || return
            oras repo ls "$registry" --registry-config "$config" || return 212
            return
        fi
        echo "unexpected response from acr: $response"
    done
    return 211
}
