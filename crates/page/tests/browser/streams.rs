//! More pages than streams.

use mooring_page::MAX_STREAMS;

use crate::fixture::morning;
use crate::server::{Server, wait_for_warning};

#[test]
fn page_without_a_stream_polls_every_ten_seconds() {
    let server = Server::start(morning());
    let mut streams: Vec<_> = (0..MAX_STREAMS).map(|_| server.stream()).collect();
    let Some(mut tab) = server.open_polling("/") else { return };
    tab.wait_for("test.sources.length === 1 && test.sources[0].readyState === 2").unwrap();
    tab.wait_for("test.pending === 0").unwrap();
    server.warn(morning(), "seen by polling");
    tab.eval("test.advance(12)").unwrap();
    wait_for_warning(&mut tab, "seen by polling");
    let live = "document.getElementById('live').textContent";
    assert_eq!(tab.eval(live).unwrap(), "Live");
    tab.eval("test.reads.length = 0").unwrap();
    tab.eval("test.advance(60)").unwrap();
    let reads = tab.eval("test.reads.filter((one) => one.startsWith('GET '))").unwrap();
    assert!((4..=7).contains(&reads.as_array().unwrap().len()), "reads of a minute: {reads}");
    // The stream is tried again after a while, so that a page does not poll forever.
    streams.clear();
    tab.eval("test.advance(70)").unwrap();
    tab.wait_for("test.sources.at(-1).readyState === 1").unwrap();
    server.warn(morning(), "seen by an event");
    wait_for_warning(&mut tab, "seen by an event");
    let errors = tab.errors();
    assert!(errors.iter().all(|error| error.contains("503")), "{errors:?}");
}
