//! The three documents, each as the text around the encoded config, and the paths that they contain.

use std::fmt;

pub const CONFIG_PATH: &str = "/opt/azure/containers/aks-node-controller-config.json";

/// Feature toggles for the launcher, one `KEY=VALUE` per line.
pub const FEATURES_PATH: &str = "/opt/azure/containers/enabled_features.sh";

/// Command of the Custom Script Extension; waits for the agent that the custom data started.
pub const CSE_COMMAND: &str = "/opt/azure/containers/aks-node-controller provision-wait";

/// 30 bytes, two digits each.
const DIGITS: usize = 60;

/// A MIME boundary: 60 lower-case hexadecimal digits.
///
/// The caller supplies the randomness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary(String);

impl Boundary {
    /// Returns `random` in hexadecimal digits.
    pub fn from_random(random: [u8; DIGITS / 2]) -> Self {
        let digit = |nibble| char::from_digit(u32::from(nibble), 16);
        let nibbles = random.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
        Self(nibbles.filter_map(digit).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The text before and after the encoded config.
///
/// A frame's length is known before the config is encoded, so that a config that is too large is
/// rejected without being copied, and no format can contain the config twice.
pub(super) struct Frame {
    /// Everything before the config.
    pub(super) before: String,
    pub(super) after: String,
}

impl Frame {
    /// Returns the length of the frame in bytes.
    pub(super) fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }
}

/// The boothook: a script that cloud-init runs early at every boot. It writes the config and the toggles before it starts
/// anything that reads them; it prefers the launcher script, and starts the unit on images that have none.
/// `write_features` is whole lines, or empty.
pub(super) fn boothook(write_features: &str) -> Frame {
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

/// The second part; its line in cloud-init's log marks the end of cloud-init.
const FINAL_PART: &str = "\
#cloud-config
runcmd:
- echo \"AKS Node Controller cloud-init completed at $(date)\"
";

/// The MIME document that carries the boothook to cloud-init, as the first of two parts. Its lines end in CRLF, lines
/// inside a part in LF.
pub(super) fn multipart(boothook: &Frame, boundary: &Boundary) -> Frame {
    let before = format!(
        "MIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=\"{boundary}\"\r\n\
         \r\n\
         --{boundary}\r\n\
         {headers}\
         {script}",
        headers = part_headers("text/cloud-boothook"),
        script = boothook.before,
    );
    let after = format!(
        "{script}\r\n\
         --{boundary}\r\n\
         {headers}\
         {FINAL_PART}\r\n\
         --{boundary}--\r\n",
        script = boothook.after,
        headers = part_headers("text/cloud-config"),
    );
    Frame { before, after }
}

/// Returns a part's headers, sorted by name, and the empty line after them.
fn part_headers(content_type: &str) -> String {
    format!(
        "Content-Transfer-Encoding: 7bit\r\n\
         Content-Type: {content_type}\r\n\
         Mime-Version: 1.0\r\n\
         \r\n"
    )
}

/// The older form: a cloud-config that only writes the config's file. It starts nothing: the image must have enabled its
/// unit, which reads that file. The upstream Go agent makes the file readable for all users (0755); it contains secrets,
/// so only root may read it here. It ends with the config, without a newline.
pub(super) fn cloud_config() -> Frame {
    let before = format!(
        "\
#cloud-config
write_files:
- path: {CONFIG_PATH}
  permissions: \"0600\"
  owner: root
  content: !!binary |
   "
    );
    Frame { before, after: String::new() }
}

/// Ignition takes modes in decimal digits: 384.
const OWNER_READS_AND_WRITES: u32 = 0o600;

/// The form for Flatcar: an Ignition document with the config's file alone, with the white space of the upstream
/// document, so that the two can be compared byte by byte. It ends without a newline.
pub(super) fn ignition() -> Frame {
    let before = format!(
        "{{
     \"ignition\": {{ \"version\": \"3.4.0\" }},
     \"storage\": {{
       \"files\": [{{
         \"path\": \"{CONFIG_PATH}\",
         \"mode\": {OWNER_READS_AND_WRITES},
         \"contents\": {{ \"source\": \"data:;base64,"
    );
    let after = "\" }
       }]
     }
    }"
    .to_owned();
    Frame { before, after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_random_bytes_become_sixty_lower_case_digits() {
        let mut random = [0; 30];
        random[0] = 0x0f;
        random[29] = 0xa9;
        let boundary = Boundary::from_random(random);
        assert_eq!(boundary.as_str(), format!("0f{}a9", "0".repeat(56)));
    }
}
