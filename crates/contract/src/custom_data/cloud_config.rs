//! The older form: a cloud-config that only writes the config's file.
//!
//! The image's unit waits for that file, so nothing is started here. The permissions are those of
//! that form, although the file holds secrets.

use super::frame::Frame;
use super::paths::CONFIG_PATH;

/// The document around the encoded config; it ends with the config, without a newline.
pub(super) fn document() -> Frame {
    let before = format!(
        "\
#cloud-config
write_files:
- path: {CONFIG_PATH}
  permissions: \"0755\"
  owner: root
  content: !!binary |
   "
    );
    Frame { before, after: String::new() }
}
