//! The browser reports the contents and the requests of a page.

use mooring_testbed::browser::{Scheme, open, pixel_stats};
use mooring_testbed::require;

const PAGE: &str = "<!DOCTYPE html><html><head><title>t</title><style>
body { background: #fff } p { color: #123 } @media (prefers-color-scheme: dark) { body { background: #000 } }</style></head>
<body><p>Hello</p><img src=\"http://nowhere.invalid/picture.png\"><script>document.title = 'ran'</script></body></html>";

#[test]
fn a_page_that_asks_the_network_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, PAGE).unwrap();
    let Some(light) = require(open(&path, Scheme::Light).unwrap(), "Chromium") else { return };
    assert!(
        light.dom.contains("<p>Hello</p>") && light.dom.contains("<title>ran</title>"),
        "{}",
        light.dom
    );
    assert!(light.requests.contains("http://nowhere.invalid/picture.png"), "{:?}", light.requests);
    let dark = open(&path, Scheme::Dark).unwrap().unwrap();
    assert!(pixel_stats(&light.screenshot).unwrap().brightness > 0.9);
    assert!(pixel_stats(&dark.screenshot).unwrap().brightness < 0.1, "the reader's colours count");
}
