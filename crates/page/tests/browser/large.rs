//! A cluster with 5,000 nodes and 1,000 failures. Sizes are asserted; times are printed.

use mooring_testbed::devtools::Tab;
use serde_json::{Value, json};

use crate::fixture::{BAD, failed, large};
use crate::server::{Server, wait_for_warning};

const MAX_BYTES: f64 = 300_000.0;
const UPDATES: u8 = 10;

#[test]
fn page_of_a_large_cluster_is_small() {
    let server = Server::start(large());
    let Some(mut tab) = server.open("/") else { return };
    let bytes = "performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource').filter((one) => /page|icon/.test(one.name))).reduce((sum, one) => sum + one.encodedBodySize, 0)";
    for path in ["/", "/?since=7d", "/failures?since=7d", "/pools/pool-001"] {
        tab.open(&server.url(path)).unwrap();
        tab.wait_for("performance.getEntriesByName('first-contentful-paint').length > 0").unwrap();
        let size = tab.eval(bytes).unwrap().as_f64().unwrap();
        let times = "performance.getEntriesByName('first-contentful-paint')[0].startTime + ' ms to the first paint, ' + performance.getEntriesByType('navigation')[0].responseEnd + ' ms to the response'";
        println!("{path}: {size} bytes, {}", tab.eval(times).unwrap());
        assert!(size > 10_000.0 && size <= MAX_BYTES, "{path}: {size} bytes");
    }

    tab.open(&server.url("/")).unwrap();
    tab.wait_for("test.sources.at(-1).readyState === 1 && test.pending === 0").unwrap();
    tab.eval("window.tasks = []; new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) => one.duration))).observe({type: 'longtask'})")
        .unwrap();
    let elements = tab.eval("document.querySelectorAll('*').length").unwrap().as_i64().unwrap();
    assert!(elements < 6000, "{elements} elements");
    // Time of the processor: other processes do not change it.
    tab.send("Performance.enable", &json!({"timeDomain": "threadTicks"})).unwrap();
    let before = seconds(&mut tab);
    for number in 0..UPDATES {
        let mut changed = large();
        let name = format!("new-{number}");
        changed.facts.inventory.nodes.push(failed(&name, "pool-001", BAD, 1, true));
        server.warn(changed, &format!("update {number}."));
        wait_for_warning(&mut tab, &format!("update {number}."));
    }
    let after = seconds(&mut tab);
    let tasks = tab.eval("window.tasks").unwrap();
    println!("{UPDATES} updates of {elements} elements; tasks longer than 50 ms: {tasks}");
    for ((name, before), (_, after)) in before.into_iter().zip(after) {
        println!("  {name}: {:.1} ms per update", (after - before) * 1000.0 / f64::from(UPDATES));
    }
}

/// Returns the time that the page spent, by kind.
fn seconds(tab: &mut Tab) -> Vec<(String, f64)> {
    let metrics = tab.send("Performance.getMetrics", &json!({})).unwrap();
    let metrics = metrics["metrics"].as_array().unwrap();
    let is_time = |name: &str| name.ends_with("Duration");
    let pair =
        |one: &Value| (one["name"].as_str().unwrap().to_owned(), one["value"].as_f64().unwrap());
    metrics.iter().map(pair).filter(|(name, _)| is_time(name)).collect()
}
