//! The real world, with faults injected by a rule.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use mooring_agent::world::{
    ChildEnd, ChildSpec, ChildStatus, Dial, Duplex, EntryKind, FileInfo, Files, Host, HttpFailure,
    HttpFailureKind, HttpRequest, HttpResponse, OutputFilter, Probe, ReadFailure, Replace, Signal,
    Space, Stream, Tool, ToolEnd, Watch, WatchFailure, World,
};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Decides, for an operation on a path, whether it fails, and with which error number.
pub(crate) type Rule = Box<dyn FnMut(&str, &Path) -> Option<i32>>;

pub(crate) const EIO: i32 = 5;
pub(crate) const EACCES: i32 = 13;
pub(crate) const ENOSPC: i32 = 28;
pub(crate) const EROFS: i32 = 30;
pub(crate) const ETIMEDOUT: i32 = 110;

/// The time of day at which a network without real time begins.
pub(crate) const START_TIME: Duration = Duration::from_hours(500_000);

/// Operations on the world, as they happened.
pub(crate) type Trace = Rc<RefCell<Vec<String>>>;

pub(crate) struct Faulty {
    host: Host,
    rule: Rule,
    root: OsString,
    pub(crate) trace: Trace,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    /// Variables in addition to the root.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// A network in which no real time passes.
    pub(crate) network: Option<Network>,
    /// The port on which the live-patching service of a test listens.
    pub(crate) live_patching: Option<u16>,
    /// A shorter time limit for such a connection.
    pub(crate) dial_limit: Option<Duration>,
    /// The hosts that were dialed.
    pub(crate) dialed: Vec<String>,
    /// The replacement for small programs.
    pub(crate) tools: Option<Tools>,
    /// The free space of every file system.
    pub(crate) space: Option<Space>,
    /// The time of day, which never advances.
    pub(crate) clock: Option<SystemTime>,
    /// The end of the scripts that is reported, however they ended.
    pub(crate) end: Option<ChildEnd>,
    /// Called before a process is looked up; false if it seems to have ended.
    pub(crate) is_alive: Option<Box<dyn FnMut() -> bool>>,
}

/// Returns the result of a small program, and the time that it takes.
pub(crate) type Tools = Box<dyn FnMut(&Tool<'_>) -> (Duration, ToolEnd)>;

/// Response to a request, and its delay.
pub(crate) type Answers =
    Box<dyn FnMut(&HttpRequest<'_>) -> (Duration, Result<HttpResponse, HttpFailure>)>;

/// A network, a virtual clock, and seeded randomness.
pub(crate) struct Network {
    answers: Answers,
    chance: TestRng,
    pub(crate) now: Duration,
    /// Extra time of every pause.
    pub(crate) oversleep: Duration,
    pub(crate) pauses: Vec<Duration>,
    /// Times and timeouts of requests.
    pub(crate) requests: Vec<(Duration, Duration)>,
}

impl Network {
    pub(crate) fn new(
        seed: u8,
        answers: impl FnMut(&HttpRequest<'_>) -> (Duration, Result<HttpResponse, HttpFailure>) + 'static,
    ) -> Self {
        Self {
            answers: Box::new(answers),
            chance: TestRng::from_seed(RngAlgorithm::XorShift, &[seed; 16]),
            now: Duration::ZERO,
            oversleep: Duration::ZERO,
            pauses: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Returns the response, or a timeout if it takes too long.
    fn fetch(&mut self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure> {
        self.requests.push((self.now, request.limit));
        let (took, answer) = (self.answers)(request);
        self.now += took.min(request.limit);
        if took < request.limit {
            return answer;
        }
        Err(HttpFailure { kind: HttpFailureKind::TimedOut, text: "timed out".to_owned() })
    }
}

impl Faulty {
    pub(crate) fn new(root: &Path, rule: impl FnMut(&str, &Path) -> Option<i32> + 'static) -> Self {
        Self {
            host: Host::default(),
            rule: Box::new(rule),
            root: root.into(),
            trace: Trace::default(),
            out: Vec::new(),
            err: Vec::new(),
            variables: Vec::new(),
            network: None,
            live_patching: None,
            dial_limit: None,
            dialed: Vec::new(),
            tools: None,
            space: None,
            clock: None,
            end: None,
            is_alive: None,
        }
    }

    /// Replaces the rule; panics stay the test's own.
    pub(crate) fn set_rule(&mut self, mut rule: impl FnMut(&str, &Path) -> Option<i32> + 'static) {
        self.rule = Box::new(move |operation, path| match operation {
            "on_panic" => Some(EIO),
            "caught_signal" => None,
            _ => rule(operation, path),
        });
    }

    /// Runs the agent in this world.
    pub(crate) fn run(&mut self, words: &[&str]) -> u8 {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        mooring_agent::run(&words, self)
    }

    /// Runs the agent of this version.
    pub(crate) fn run_as(&mut self, version: &'static str, words: &[&str]) -> u8 {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        mooring_agent::run_as(version, &words, self)
    }

    fn check(&mut self, operation: &str, path: &Path) -> io::Result<()> {
        self.trace.borrow_mut().push(format!("{operation} {}", path.display()));
        match (self.rule)(operation, path) {
            None => Ok(()),
            Some(number) => Err(io::Error::from_raw_os_error(number)),
        }
    }
}

impl Files for Faulty {
    fn read(&mut self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure> {
        self.check("open", path).map_err(ReadFailure::Open)?;
        self.check("read", path).map_err(ReadFailure::Read)?;
        self.host.read(path, limit)
    }

    fn read_at(&mut self, path: &Path, offset: u64, count: u64) -> io::Result<Vec<u8>> {
        self.check("read_at", path)?;
        self.host.read_at(path, offset, count)
    }

    fn kind(&mut self, path: &Path) -> io::Result<EntryKind> {
        self.check("stat", path)?;
        self.host.kind(path)
    }

    fn entry(&mut self, path: &Path) -> io::Result<FileInfo> {
        self.check("lstat", path)?;
        self.host.entry(path)
    }

    fn read_link(&mut self, path: &Path) -> io::Result<PathBuf> {
        self.check("readlink", path)?;
        self.host.read_link(path)
    }

    fn space(&mut self, path: &Path) -> io::Result<Space> {
        self.check("statvfs", path)?;
        self.space.map_or_else(|| self.host.space(path), Ok)
    }

    fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        self.check("mkdir", path)?;
        self.host.create_dir_all(path)
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.check("append", path)?;
        self.host.append(path, bytes)
    }

    fn write_new(&mut self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        if let Err(error) = self.check("write", path) {
            // A disk that fills up has taken a part.
            let _ = self.host.write_new(path, &bytes[..bytes.len() / 2], mode);
            return Err(error);
        }
        self.host.write_new(path, bytes, mode)
    }

    fn rename(&mut self, from: &Path, to: &Path, replace: Replace) -> io::Result<()> {
        self.check("rename", to)?;
        self.host.rename(from, to, replace)
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        self.check("sync", path)?;
        self.host.sync(path)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.check("remove", path)?;
        self.host.remove(path)
    }

    fn lock(&mut self, path: &Path) -> io::Result<bool> {
        self.check("lock", path)?;
        // A child that another test starts in this moment has the lock of an ended run open until its program starts.
        for _ in 0..1_000 {
            if self.host.lock(path)? {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(false)
    }
}

impl World for Faulty {
    fn now(&mut self) -> SystemTime {
        if let Some(clock) = self.clock {
            return clock;
        }
        match &self.network {
            None => self.host.now(),
            Some(network) => SystemTime::UNIX_EPOCH + START_TIME + network.now,
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let root = ("AKS_NODE_ROOT".into(), self.root.clone());
        [&[root], &self.variables[..]].concat()
    }

    fn print(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Out => self.out.extend_from_slice(bytes),
            Stream::Err => self.err.extend_from_slice(bytes),
        }
    }

    fn random(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        match &mut self.network {
            None => self.host.random(bytes),
            Some(network) => {
                network.chance.fill_bytes(bytes);
                Ok(())
            }
        }
    }

    fn pid(&self) -> u32 {
        self.host.pid()
    }

    fn process_start(&mut self, pid: u32) -> Option<u64> {
        if self.is_alive.as_mut().is_some_and(|is_alive| !is_alive()) {
            return None;
        }
        self.host.process_start(pid)
    }

    fn boot_id(&mut self) -> Option<String> {
        self.host.boot_id()
    }

    fn probe(&mut self, program: &str, arguments: &[&OsStr]) -> io::Result<Probe> {
        self.check("probe", Path::new(program))?;
        loop {
            match self.host.probe(program, arguments) {
                // A child that another test starts in this moment has the new program open for writing.
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
                started => return started,
            }
        }
    }

    fn on_panic(&mut self, exit_code: Option<u8>, last_words: Box<dyn Fn(&str) + Send + Sync>) {
        if self.check("on_panic", Path::new("")).is_ok() {
            self.host.on_panic(exit_code, last_words);
        }
    }

    fn catch_signals(&mut self) -> io::Result<()> {
        self.check("catch_signals", Path::new(""))?;
        self.host.catch_signals()
    }

    fn caught_signal(&mut self) -> Option<Signal> {
        match self.check("caught_signal", Path::new("")) {
            Ok(()) => self.host.caught_signal(),
            Err(_) => Some(Signal::Terminate),
        }
    }

    fn run(&mut self, child: &ChildSpec, filter: &mut dyn OutputFilter) -> io::Result<ChildEnd> {
        self.check("run", Path::new(child.program))?;
        let end = self.host.run(child, filter)?;
        Ok(self.end.clone().unwrap_or(end))
    }

    fn watch(&mut self, folders: &[&Path]) -> Result<Box<dyn Watch>, WatchFailure> {
        self.check("inotify", Path::new("")).map_err(WatchFailure::Create)?;
        self.check("watch", folders[0]).map_err(WatchFailure::Folder)?;
        self.host.watch(folders)
    }

    fn monotonic(&mut self) -> Duration {
        match &self.network {
            None => self.host.monotonic(),
            Some(network) => network.now,
        }
    }

    fn sleep(&mut self, pause: Duration) {
        match &mut self.network {
            None => self.host.sleep(pause),
            Some(network) => {
                network.now += pause + network.oversleep;
                network.pauses.push(pause);
            }
        }
    }

    fn connect(&mut self, host: &str, port: u16, limit: Duration) -> Result<(), HttpFailure> {
        self.host.connect(host, port, limit)
    }

    fn apart(&self) -> Box<dyn World + Send> {
        self.host.apart()
    }

    fn fetch(&mut self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure> {
        match &mut self.network {
            None => self.host.fetch(request),
            Some(network) => network.fetch(request),
        }
    }

    fn dial(&mut self, dial: &Dial<'_>) -> Result<Box<dyn Duplex>, HttpFailure> {
        let port = self.live_patching.ok_or_else(|| HttpFailure {
            kind: HttpFailureKind::Connect,
            text: "no live-patching service".to_owned(),
        })?;
        self.dialed.push(format!("{}:{} {:?}", dial.host, dial.port, dial.limit));
        let limit = self.dial_limit.unwrap_or(dial.limit);
        Host::dial_at(&Dial { limit, ..dial.clone() }, ("127.0.0.1", port))
    }

    fn run_tool(&mut self, tool: &Tool<'_>) -> io::Result<ToolEnd> {
        self.check("run", tool.program)?;
        if let (Some(run), Some(network)) = (&mut self.tools, &mut self.network) {
            let (duration, end) = run(tool);
            network.now += duration.min(tool.limit);
            let status = end.status.filter(|_| duration < tool.limit);
            return Ok(ToolEnd { status, ..end });
        }
        match &self.network {
            None => self.host.run_tool(tool),
            Some(_) => Ok(ToolEnd { status: Some(ChildStatus::Exited(0)), output: Vec::new() }),
        }
    }
}
