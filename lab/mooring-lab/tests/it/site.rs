//! The site of the documents, as `cargo xtask docs` builds it, in a real browser.

use std::path::PathBuf;

use mooring_testbed::browser::{Scheme, pixel_stats};
use mooring_testbed::devtools::Tab;
use mooring_testbed::require;

/// Set by `cargo xtask test`.
const VARIABLE: &str = "MOORING_SITE";

#[test]
fn site_is_readable_and_searched_without_network() {
    let site = std::env::var_os(VARIABLE).map(PathBuf::from);
    let Some(site) = require(site, "mdBook, for the site of the documents,") else { return };
    let Some(mut tab) = require(Tab::start().unwrap(), "Chromium") else { return };
    let address = |page: &str| format!("file://{}/{page}", site.display());
    for (width, scheme) in [(360, Scheme::Light), (1300, Scheme::Dark)] {
        tab.resize(width, 900, scheme).unwrap();
        for (page, expected) in [
            ("index.html", "Find out why an AKS node failed to join its cluster"),
            ("INSTALL.html", "helm install mooring"),
            ("codes/211.html", "ERR_ORAS_PULL_NETWORK_TIMEOUT"),
            ("causes/OrasBinaryMissing.html", "Next steps"),
        ] {
            tab.open(&address(page)).unwrap();
            let text = tab.eval("document.querySelector('main').innerText").unwrap();
            assert!(text.as_str().unwrap().contains(expected), "{page}: {text}");
            let overflow = "document.documentElement.scrollWidth - window.innerWidth";
            assert!(tab.eval(overflow).unwrap().as_f64().unwrap() <= 0.0, "{page} at {width}");
            let stats = pixel_stats(&tab.screenshot().unwrap()).unwrap();
            assert_eq!(
                stats.brightness > 0.5,
                matches!(scheme, Scheme::Light),
                "{page}: {stats:?}"
            );
        }
    }
    tab.open(&address("index.html?search=ERR_ORAS_BINARY_NOT_FOUND")).unwrap();
    tab.wait_for("document.querySelector('a[href*=\"codes/232.html?highlight\"]') !== null")
        .unwrap();
    let is_own = |url: &String| url.starts_with("file:") || url.starts_with("data:");
    let outside: Vec<String> = tab.requests().into_iter().filter(|url| !is_own(url)).collect();
    assert_eq!(outside, Vec::<String>::new());
}
