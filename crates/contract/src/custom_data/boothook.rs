//! The boothook: a script that cloud-init runs early at every boot.
//!
//! It writes the config and the toggles before it starts anything that reads them. It prefers the
//! launcher script, and starts the unit on images that have no launcher.

use super::frame::Frame;
use super::paths::CONFIG_PATH;

/// Returns the script around the encoded config. `write_features` is whole lines, or empty.
pub(super) fn script(write_features: &str) -> Frame {
    let before = format!(
        "\
#cloud-boothook
#!/bin/bash
set -euo pipefail

logger -t aks-boothook \"boothook start $(date -Ins)\"

mkdir -p /opt/azure/containers /var/log/azure

nohup /bin/bash /opt/azure/containers/provision_preload.sh >/dev/null 2>&1 &

cat <<'EOF' | base64 -d >{CONFIG_PATH}
"
    );
    let after = format!(
        "
EOF
chmod 0600 {CONFIG_PATH}
{write_features}
logger -t aks-boothook \"launching aks-node-controller $(date -Ins)\"
if [ -f /opt/azure/containers/aks-node-controller-launcher.sh ]; then
\tnohup /bin/bash /opt/azure/containers/aks-node-controller-launcher.sh > /var/log/azure/aks-node-controller.output 2>&1 &
else
\tsystemctl start --no-block aks-node-controller.service
fi
"
    );
    Frame { before, after }
}
