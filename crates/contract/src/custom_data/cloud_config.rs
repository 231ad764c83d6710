//! The older form: a cloud-config that only writes the config's file.
//!
//! Nothing is started here: the image must have enabled its unit, which reads that file. The Go program's form makes the
//! file readable by everyone (0755); it holds secrets, so only root may read it here.

use super::frame::Frame;
use super::paths::CONFIG_PATH;

/// The document around the encoded config; it ends with the config, without a newline.
pub(super) fn document() -> Frame {
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
