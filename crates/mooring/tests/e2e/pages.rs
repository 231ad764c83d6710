//! Pages open in a real browser, show what they should, and ask nobody for anything.

use std::path::Path;
use std::process::Command;

use mooring_testbed::browser::{Scheme, look, open};
use mooring_testbed::require;

#[test]
fn a_waterfall_opens_in_a_browser_in_both_schemes_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures");
    for (node, words) in [
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
        let page = folder.path().join(format!("{node}.html"));
        let made = Command::new(env!("CARGO_BIN_EXE_mooring"))
            .arg("trace")
            .arg(nodes.join(node))
            .args(["-o", "html", "--out"])
            .arg(&page)
            .output()
            .unwrap();
        assert!(
            made.status.success() && made.stdout.is_empty(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let html = std::fs::read_to_string(&page).unwrap();
        for load in ["http:", "https:", "src=", "<script", "<link", "@import"] {
            assert!(!html.contains(load), "{load}");
        }
        let Some(light) = require(open(&page, Scheme::Light).unwrap(), "Chromium") else { return };
        for word in words {
            assert!(light.dom.contains(word), "{word}");
        }
        let dark = open(&page, Scheme::Dark).unwrap().unwrap();
        for (page, is_bright) in [(&light, true), (&dark, false)] {
            assert!(page.requests.is_empty(), "{:?}", page.requests);
            let look = look(&page.screenshot).unwrap();
            assert!(look.colours > 50 && look.ground < 0.95, "not blank: {look:?}");
            assert_eq!(look.brightness > 0.5, is_bright, "{look:?}");
        }
    }
}
