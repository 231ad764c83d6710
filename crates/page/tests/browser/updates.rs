//! Updates of an open page: what they keep, how often they come, and that they leave nothing.

use std::time::Duration;

use mooring_testbed::browser::Scheme;
use mooring_testbed::devtools::Tab;
use serde_json::{Value, json};

use crate::fixture::{BAD, failed, morning};
use crate::server::{Server, wait_for_warning};

#[test]
fn update_keeps_focus_selection_scroll_and_details() {
    let server = Server::start(morning());
    let Some(mut tab) = server.open("/") else { return };
    tab.resize(390, 800, Scheme::Light).unwrap();
    tab.eval("document.querySelector('[data-part=timeline] details').open = true").unwrap();
    // A link of the section that changes, and a text of another section that changes.
    tab.eval("document.querySelector('[data-part=failures] tbody a[href=\"/nodes/default-b01\"]').focus()")
        .unwrap();
    tab.eval("getSelection().selectAllChildren(document.querySelector('[data-part=figures] dt'))")
        .unwrap();
    tab.eval("scrollBy(0, 37)").unwrap();
    let state = "JSON.stringify({top: Math.round(scrollY), focus: document.activeElement.href, chosen: getSelection().toString(), open: document.querySelector('[data-part=timeline] details').open})";
    let before = tab.eval(state).unwrap();
    let parsed: Value = serde_json::from_str(before.as_str().unwrap()).unwrap();
    assert!(parsed["top"].as_i64().unwrap() > 0 && parsed["open"] == true, "{parsed}");
    assert!(!parsed["chosen"].as_str().unwrap().is_empty(), "{parsed}");
    tab.eval("window.old = ['timeline', 'failures', 'figures'].map((part) => document.querySelector('[data-part=' + part + ']'))")
        .unwrap();

    let mut changed = morning();
    // After the rows that are shown above it, so that the page does not grow above the focus.
    changed.facts.inventory.nodes.push(failed("default-new", "default", BAD, 420, true));
    server.live.publish(changed);
    tab.wait_for("!window.old[0].isConnected && !window.old[1].isConnected").unwrap();
    assert_eq!(tab.eval(state).unwrap(), before);
    assert_eq!(tab.eval("window.old[2].isConnected").unwrap(), true, "a selected text stays");

    tab.eval("getSelection().removeAllRanges()").unwrap();
    tab.wait_for("!window.old[2].isConnected").unwrap();
    assert_eq!(tab.errors(), Vec::<String>::new());
}

#[test]
fn ten_changes_per_second_redraw_twice_per_second_at_most() {
    let server = Server::start(morning());
    let Some(mut tab) = server.open("/") else { return };
    server.warn(morning(), "first");
    wait_for_warning(&mut tab, "first");
    // A redraw begins with a read of the page. Here it exchanges one section.
    let count = "[performance.now(), test.reads.filter((one) => one.startsWith('GET ')).length, test.exchanged]";
    let before = tab.eval(count).unwrap();
    for number in 0..30 {
        server.warn(morning(), &format!("change {number}"));
        std::thread::sleep(Duration::from_millis(100));
    }
    wait_for_warning(&mut tab, "change 29");
    let after = tab.eval(count).unwrap();
    let part = |index: usize| after[index].as_f64().unwrap() - before[index].as_f64().unwrap();
    let (seconds, redraws) = (part(0) / 1000.0, part(1));
    println!("{redraws} redraws in {seconds:.1} s");
    assert!(redraws >= 2.0 && redraws <= seconds * 2.0 + 1.0, "{redraws} in {seconds} s");
    assert!(part(2) <= redraws, "{} sections in {redraws} redraws", part(2));
}

/// Returns nodes of the document, listeners, and bytes of the heap, after a garbage collection.
fn memory(tab: &mut Tab) -> (i64, i64, f64) {
    tab.send("HeapProfiler.collectGarbage", &json!({})).unwrap();
    let counters = tab.send("Memory.getDOMCounters", &json!({})).unwrap();
    let heap = tab.send("Runtime.getHeapUsage", &json!({})).unwrap();
    let number = |name: &str| counters[name].as_i64().unwrap();
    (number("nodes"), number("jsEventListeners"), heap["usedSize"].as_f64().unwrap())
}

#[test]
fn tab_that_is_open_for_a_day_does_not_grow() {
    const HOURS: usize = 24;
    /// Hours that fill the caches of the browser.
    const FIRST_HOURS: usize = 3;
    let server = Server::start(morning());
    let Some(mut tab) = server.open("/") else { return };
    let hour = |tab: &mut Tab, number: usize| {
        let warning = format!("hour {number}.");
        server.warn(morning(), &warning);
        wait_for_warning(tab, &warning);
        tab.eval("test.advance(3600, 30)").unwrap();
        tab.eval("test.reads.length = 0").unwrap();
    };
    for number in 0..FIRST_HOURS {
        hour(&mut tab, number);
    }
    let (nodes, listeners, heap) = memory(&mut tab);
    for number in FIRST_HOURS..FIRST_HOURS + HOURS {
        hour(&mut tab, number);
    }
    let after = memory(&mut tab);
    println!("nodes {nodes}, then {}; heap {heap:.0}, then {:.0} bytes", after.0, after.2);
    assert!(after.0 <= nodes + nodes / 10, "{nodes} nodes, then {}", after.0);
    assert!(after.1 <= listeners + 2, "{listeners} listeners, then {}", after.1);
    assert!(after.2 <= heap * 1.2, "{heap} bytes, then {}", after.2);
    assert_eq!(tab.eval("test.sources.length").unwrap(), 1, "the same stream");
}
