//! The boothook form as a MIME document.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::multipart_reader::read;
use super::samples::{TRICKY, boothook, boundary, features};

fn pairs(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn the_document_names_its_version_and_then_its_boundary() {
    let document = read(boothook(b"{}", &features(&[])).expose_raw());
    let boundary = format!("multipart/mixed; boundary=\"{}\"", boundary());
    assert_eq!(
        pairs(&document.headers),
        [("MIME-Version", "1.0"), ("Content-Type", boundary.as_str())]
    );
}

#[test]
fn boothook_precedes_cloud_config_with_sorted_headers() {
    let document = read(boothook(b"{}", &features(TRICKY)).expose_raw());
    let types = ["text/cloud-boothook", "text/cloud-config"];
    assert_eq!(document.parts.len(), types.len());
    for (part, content_type) in document.parts.iter().zip(types) {
        assert_eq!(
            pairs(&part.headers),
            [
                ("Content-Transfer-Encoding", "7bit"),
                ("Content-Type", content_type),
                ("Mime-Version", "1.0"),
            ]
        );
    }
}

#[test]
fn parts_are_unix_text_with_the_marker_of_cloud_init() {
    let document = read(boothook(b"{}", &features(TRICKY)).expose_raw());
    for (part, marker) in document.parts.iter().zip(["#cloud-boothook\n", "#cloud-config\n"]) {
        assert!(part.body.starts_with(marker));
        assert!(part.body.ends_with('\n'));
        assert!(!part.body.contains('\r'));
    }
}

#[test]
fn the_config_is_one_line_of_base64_inside_a_quoted_heredoc() {
    let config: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    let document = read(boothook(&config, &features(&[])).expose_raw());
    let mut lines = document.parts[0].body.lines();
    assert!(lines.any(|line| line
        == "cat <<'EOF' | base64 -d >/opt/azure/containers/aks-node-controller-config.json"));
    assert_eq!(STANDARD.decode(lines.next().unwrap()).unwrap(), config);
    assert_eq!(lines.next(), Some("EOF"));
}

#[test]
fn azure_gets_the_same_document_in_standard_base64() {
    let data = boothook(b"{}", &features(TRICKY));
    assert_eq!(STANDARD.decode(data.expose_base64()).unwrap(), data.expose_raw());
}
