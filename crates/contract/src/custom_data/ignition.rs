//! The form for Flatcar: an Ignition document with the config's file alone.
//!
//! White space equals that of the upstream document, so that the two can be compared byte by byte.

use super::frame::Frame;
use super::paths::CONFIG_PATH;

/// Ignition takes modes in decimal digits: 384.
const OWNER_READS_AND_WRITES: u32 = 0o600;

/// Returns the document around the encoded config; it ends without a newline.
pub(super) fn document() -> Frame {
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
