//! The real world.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use crate::world::{
    ChildEnd, ChildSpec, Dial, Duplex, HttpFailure, HttpRequest, HttpResponse, OutputFilter, Probe,
    Signal, Stream, Tool, ToolEnd, Watch, WatchFailure, World, child, http, process, tool, watch,
};

#[derive(Debug, Default)]
pub struct Host {
    /// True if the process runs only the agent.
    is_own_process: bool,
    signals: Option<child::Signals>,
    pub(super) locks: Vec<File>,
    /// Set on first use.
    beginning: Option<Instant>,
}

impl Host {
    /// Opens a connection with TLS to another address than the dialed host's.
    #[doc(hidden)] // For tests, whose servers have no name and another port.
    pub fn dial_at(dial: &Dial<'_>, address: (&str, u16)) -> Result<Box<dyn Duplex>, HttpFailure> {
        http::dial(dial, address)
    }

    /// Returns the host for a process that runs only the agent: it adopts orphans of its scripts, so that a stop reaches
    /// them. A process with other children uses [`Host::default`].
    pub fn of_own_process() -> Self {
        Self { is_own_process: true, ..Self::default() }
    }
}

impl World for Host {
    #[expect(clippy::disallowed_methods, reason = "this is the seam through which others see time")]
    fn now(&mut self) -> SystemTime {
        SystemTime::now()
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        std::env::vars_os().collect()
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn print(&mut self, stream: Stream, bytes: &[u8]) {
        print(stream, bytes);
    }

    fn random(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        File::open("/dev/urandom")?.read_exact(bytes)
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn process_start(&mut self, pid: u32) -> Option<u64> {
        process::start(pid)
    }

    fn boot_id(&mut self) -> Option<String> {
        process::boot_id()
    }

    fn probe(&mut self, program: &str, arguments: &[&OsStr]) -> io::Result<Probe> {
        tool::probe(program, arguments, tool::PROBE_TIMEOUT)
    }

    #[expect(clippy::disallowed_methods, reason = "a panic has no way back to `main`")]
    fn on_panic(&mut self, exit_code: Option<u8>, last_words: Box<dyn Fn(&str) + Send + Sync>) {
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map_or_else(String::new, ToString::to_string);
            last_words(&place);
            if let Some(exit_code) = exit_code {
                std::process::exit(exit_code.into());
            }
        }));
    }

    fn catch_signals(&mut self) -> io::Result<()> {
        if self.signals.is_none() {
            self.signals = Some(child::Signals::catch()?);
        }
        Ok(())
    }

    fn caught_signal(&mut self) -> Option<Signal> {
        self.signals.as_mut().and_then(child::Signals::take)
    }

    fn run(&mut self, spec: &ChildSpec, filter: &mut dyn OutputFilter) -> io::Result<ChildEnd> {
        let signals = match &mut self.signals {
            Some(signals) => signals,
            none => none.insert(child::Signals::catch()?),
        };
        child::run(spec, signals, self.is_own_process, filter, &mut print)
    }

    fn watch(&mut self, folders: &[&Path]) -> Result<Box<dyn Watch>, WatchFailure> {
        watch::watch(folders)
    }

    fn monotonic(&mut self) -> Duration {
        let now = process::now();
        now.saturating_duration_since(*self.beginning.get_or_insert(now))
    }

    fn sleep(&mut self, pause: Duration) {
        process::sleep(pause);
    }

    fn connect(&mut self, host: &str, port: u16, limit: Duration) -> Result<(), HttpFailure> {
        http::connect(host, port, limit)
    }

    fn apart(&self) -> Box<dyn World + Send> {
        Box::new(Self::default())
    }

    fn fetch(&mut self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure> {
        http::fetch(request)
    }

    fn dial(&mut self, dial: &Dial<'_>) -> Result<Box<dyn Duplex>, HttpFailure> {
        http::dial(dial, (dial.host, dial.port))
    }

    fn run_tool(&mut self, tool: &Tool<'_>) -> io::Result<ToolEnd> {
        tool::run(tool)
    }
}

/// Ignores a closed reader: the log and the report are complete without it.
fn print(stream: Stream, bytes: &[u8]) {
    let _ = match stream {
        Stream::Out => {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        }
        Stream::Err => io::stderr().lock().write_all(bytes),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Files as _;

    #[test]
    fn random_bytes_are_not_the_ones_given() {
        let mut bytes = [0; 32];
        Host::default().random(&mut bytes).unwrap();
        assert_ne!(bytes, [0; 32]);
    }

    #[test]
    fn missing_file_cannot_be_synced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Host::default().sync(folder.path()).is_ok());
        assert!(Host::default().sync(&folder.path().join("none")).is_err());
    }
}
