//! The older form: a cloud-config that only writes the config's file.
//!
//! It starts nothing: the image must have enabled its unit, which reads that file. The upstream Go agent makes the
//! file readable for all users (0755); it contains secrets, so only root may read it here.

use super::frame::Frame;
use super::paths::CONFIG_PATH;

/// Returns the document around the encoded config; it ends with the config, without a newline.
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
