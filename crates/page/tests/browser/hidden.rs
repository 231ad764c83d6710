//! A hidden tab.

use crate::fixture::{healthy, morning};
use crate::server::{Server, wait_for_warning};

#[test]
fn hidden_tab_updates_its_title_only_and_then_disconnects() {
    let server = Server::start(healthy());
    let Some(mut tab) = server.open("/") else { return };
    tab.wait_for("document.title.startsWith('✓ ')").unwrap();
    tab.eval("test.hide(true)").unwrap();
    tab.eval("window.before = test.exchanged").unwrap();
    server.warn(morning(), "changed while hidden");
    tab.wait_for("document.title.startsWith('✗ ')").unwrap();
    assert_eq!(tab.eval("test.exchanged === window.before").unwrap(), true, "nobody sees it");
    tab.eval("test.hide(false)").unwrap();
    wait_for_warning(&mut tab, "changed while hidden");

    tab.eval("test.hide(true)").unwrap();
    tab.eval("test.advance(290)").unwrap();
    assert_eq!(tab.eval("test.sources[0].readyState").unwrap(), 1, "the stream is open");
    tab.eval("test.advance(20)").unwrap();
    assert_eq!(tab.eval("test.sources[0].readyState").unwrap(), 2, "the stream is closed");
    tab.eval("test.reads.length = 0").unwrap();
    server.warn(morning(), "changed later");
    tab.eval("test.advance(600)").unwrap();
    assert_eq!(tab.eval("test.reads.length").unwrap(), 0, "nothing is read");

    tab.eval("test.hide(false)").unwrap();
    wait_for_warning(&mut tab, "changed later");
    assert_eq!(tab.eval("test.sources.map((one) => one.readyState).join()").unwrap(), "2,1");
}

#[test]
fn hidden_tab_stops_trying_a_lost_server() {
    let server = Server::start(morning());
    let Some(mut tab) = server.open("/") else { return };
    drop(server);
    tab.wait_for("document.body.innerText.includes('Not live since')").unwrap();
    tab.eval("test.hide(true)").unwrap();
    tab.eval("test.advance(310)").unwrap();
    tab.eval("test.reads.length = 0").unwrap();
    tab.eval("test.advance(600)").unwrap();
    assert_eq!(tab.eval("test.reads.length").unwrap(), 0);
    tab.eval("test.hide(false)").unwrap();
    tab.wait_for("test.reads.length > 0").unwrap();
}
