//! Text of other systems is shown as text.

use crate::fixture::{HOSTILE, healthy, hostile};
use crate::server::Server;

#[test]
fn hostile_text_is_shown_and_does_nothing() {
    let server = Server::start(hostile());
    let Some(mut tab) = server.open("/") else { return };
    let node =
        hostile().facts.inventory.nodes.iter().find(|node| node.is_failed()).unwrap().uid.clone();
    let uid = encode(&node);
    let shown = serde_json::to_string(&HOSTILE.replace(['\u{202e}', '\u{1b}'], "")).unwrap();
    for path in ["/", "/failures", "/?pool=%3Cscript%3E&image=%22%3E", &format!("/nodes/{uid}")] {
        tab.open(&server.url(path)).unwrap();
        assert_eq!(tab.eval("window.evil === undefined").unwrap(), true, "{path}");
        assert_eq!(tab.eval("document.scripts.length").unwrap(), 1, "{path}");
        assert_eq!(tab.eval("document.images.length").unwrap(), 0, "{path}");
        let marks = "/[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.outerHTML)";
        assert_eq!(tab.eval(marks).unwrap(), false, "{path}");
        if !path.contains('?') {
            let text = format!("document.body.textContent.includes({shown})");
            assert_eq!(tab.eval(&text).unwrap(), true, "{path}");
        }
        // A copied command is what is shown.
        let copied = "[...document.querySelectorAll('[data-copy]')].every((one) => one.dataset.copy === one.previousElementSibling.textContent)";
        assert_eq!(tab.eval(copied).unwrap(), true, "{path}");
    }

    // An update inserts it as text as well.
    server.live.publish(healthy());
    tab.open(&server.url("/")).unwrap();
    tab.wait_for("test.sources.at(-1).readyState === 1").unwrap();
    server.live.publish(hostile());
    let failures = "document.querySelector('[data-part=failures]').textContent";
    tab.wait_for(&format!("{failures}.includes({shown})")).unwrap();
    assert_eq!(
        tab.eval("window.evil === undefined && document.images.length === 0").unwrap(),
        true
    );
    assert_eq!(tab.errors(), Vec::<String>::new(), "no violation of the policy");
    for url in tab.requests() {
        assert!(url.starts_with(&server.url("/")) || url.starts_with("about:"), "{url}");
    }
}

fn encode(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
