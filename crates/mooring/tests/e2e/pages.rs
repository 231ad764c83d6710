//! HTML pages in a real browser: content, color schemes, no requests.

use std::path::Path;
use std::process::Command;

use mooring_testbed::browser::{Scheme, open, pixel_stats};
use mooring_testbed::require;

#[test]
fn waterfall_page_opens_in_a_browser_without_network() {
    let directory = tempfile::tempdir().unwrap();
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures");
    for (node, expected) in [
        (
            "healthy",
            [
                "aks-default-2jf98: bootstrap timeline",
                "configureKubeletAndKubectl",
                "slow: p95 is 26 s",
            ],
        ),
        (
            "failed",
            ["aks-default-7kq2c: bootstrap failed", "ERR_ORAS_BINARY_NOT_FOUND", "unfinished"],
        ),
    ] {
        let page = directory.path().join(format!("{node}.html"));
        let output = Command::new(env!("CARGO_BIN_EXE_mooring"))
            .arg("trace")
            .arg(nodes.join(node))
            .args(["-o", "html", "--out"])
            .arg(&page)
            .output()
            .unwrap();
        assert!(
            output.status.code() == Some(i32::from(node == "failed")) && output.stdout.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let html = std::fs::read_to_string(&page).unwrap();
        for load in ["http:", "https:", "src=", "<script", "<link", "@import"] {
            assert!(!html.contains(load), "{load}");
        }
        let Some(light) = require(open(&page, Scheme::Light).unwrap(), "Chromium") else { return };
        for text in expected {
            assert!(light.dom.contains(text), "{text}");
        }
        let dark = open(&page, Scheme::Dark).unwrap().unwrap();
        for (page, is_bright) in [(&light, true), (&dark, false)] {
            assert!(page.requests.is_empty(), "{:?}", page.requests);
            let stats = pixel_stats(&page.screenshot).unwrap();
            assert!(stats.colors > 50 && stats.ground < 0.95, "not blank: {stats:?}");
            assert_eq!(stats.brightness > 0.5, is_bright, "{stats:?}");
        }
    }
}
