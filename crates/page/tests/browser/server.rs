//! The page on a port of the loopback interface, and a tab with a clock that tests advance.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use mooring_page::{Live, PageAccess, Snapshot, serve};
use mooring_testbed::devtools::Tab;
use mooring_testbed::require;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A clock of the page that runs as usual and can be advanced, and records of what the page opens and reads.
const CLOCK: &str = include_str!("clock.js");

pub(crate) struct Server {
    pub(crate) live: Arc<Live>,
    pub(crate) address: String,
    _runtime: Runtime,
}

impl Server {
    pub(crate) fn start(snapshot: Snapshot) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let live = Arc::new(Live::default());
        live.publish(snapshot);
        runtime.spawn(serve(listener, Arc::clone(&live), PageAccess::Port));
        Self { live, address, _runtime: runtime }
    }

    /// Opens a path in a new browser, and waits until its stream is open. Returns none without Chromium.
    pub(crate) fn open(&self, path: &str) -> Option<Tab> {
        let mut tab = self.open_polling(path)?;
        tab.wait_for("test.sources.length === 1 && test.sources[0].readyState === 1").unwrap();
        Some(tab)
    }

    /// Opens a path in a new browser.
    pub(crate) fn open_polling(&self, path: &str) -> Option<Tab> {
        let mut tab = require(Tab::start().unwrap(), "Chromium")?;
        tab.run_before_pages(CLOCK).unwrap();
        tab.open(&self.url(path)).unwrap();
        Some(tab)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Opens a stream of events, which ends when it is dropped.
    pub(crate) fn stream(&self) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(stream, "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 200 OK\r\n");
        stream
    }

    /// Publishes a snapshot with a warning, which the page shows at its top.
    pub(crate) fn warn(&self, mut snapshot: Snapshot, warning: &str) {
        snapshot.facts.warnings = vec![warning.to_owned()];
        self.live.publish(snapshot);
    }
}

/// Waits until the page shows a warning.
pub(crate) fn wait_for_warning(tab: &mut Tab, warning: &str) {
    tab.wait_for(&format!(
        "document.querySelector('[data-part=strips]').textContent.includes('{warning}')"
    ))
    .unwrap();
}
