//! The MIME document that carries the boothook to cloud-init.
//!
//! Lines of the document end in CRLF, lines inside a part in LF.

use super::boundary::Boundary;
use super::frame::Frame;

/// The second part; its line in cloud-init's log marks the end of cloud-init.
const FINAL_PART: &str = "\
#cloud-config
runcmd:
- echo \"AKS Node Controller cloud-init completed at $(date)\"
";

/// Returns `boothook` as the first of two parts.
pub(super) fn wrap(boothook: &Frame, boundary: &Boundary) -> Frame {
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
