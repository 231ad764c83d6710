//! A node in a temporary directory, and the built agent on it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The image's component list, as the recorded cases had it.
pub(crate) const COMPONENTS: &str = r#"{"GPUContainerImages": [
    {"downloadURL": "mcr.microsoft.com/aks/aks-gpu-cuda-lts:*", "gpuVersion": {"latestVersion": "580.1.2-20260101000000"}},
    {"downloadURL": "mcr.microsoft.com/aks/aks-gpu-grid:*", "gpuVersion": {"latestVersion": "550.1.2-20260102000000"}}]}"#;

pub(crate) const SENTINEL: &str = "/opt/azure/containers/provision.complete";
pub(crate) const REPORT: &str = "/var/log/azure/aks/provision.json";
pub(crate) const LOG: &str = "/var/log/azure/aks-node-controller.log";
pub(crate) const EVENTS: &str = "/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events";
pub(crate) const START_SCRIPT: &str = "/opt/azure/containers/provision_start.sh";

/// A node: a root for fixed paths, and a directory for paths of the command line.
pub(crate) struct Node {
    folder: TempDir,
}

impl Node {
    pub(crate) fn new() -> Self {
        let node = Self { folder: tempfile::tempdir().unwrap() };
        for part in ["root", "typed"] {
            fs::create_dir(node.folder.path().join(part)).unwrap();
        }
        node
    }

    /// A node with a component list and a bootstrap script.
    pub(crate) fn with_script(script: &str) -> Self {
        let node = Self::new();
        node.write("/opt/azure/components.json", COMPONENTS);
        node.write(START_SCRIPT, script);
        // The command writes here and does not create the directory.
        fs::create_dir_all(node.at("/var/log/azure")).unwrap();
        node
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// Returns a fixed path below the root.
    pub(crate) fn at(&self, fixed: &str) -> PathBuf {
        self.root().join(fixed.trim_start_matches('/'))
    }

    /// A path to type on the command line.
    pub(crate) fn typed(&self, name: &str) -> PathBuf {
        self.folder.path().join("typed").join(name)
    }

    pub(crate) fn write(&self, fixed: &str, content: impl AsRef<[u8]>) {
        write(&self.at(fixed), content.as_ref());
    }

    /// Writes a typed file and returns its path.
    pub(crate) fn write_typed(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.typed(name);
        write(&path, content.as_ref());
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn read(&self, fixed: &str) -> Option<String> {
        fs::read(self.at(fixed)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(crate) fn exists(&self, fixed: &str) -> bool {
        self.at(fixed).symlink_metadata().is_ok()
    }

    pub(crate) fn mode(&self, fixed: &str) -> u32 {
        fs::metadata(self.at(fixed)).unwrap().permissions().mode() & 0o777
    }

    /// Every file below the root, by fixed path.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let fixed = format!("/{}", path.strip_prefix(self.root()).unwrap().display());
                    files.insert(fixed, fs::read(&path).unwrap_or_default());
                }
            }
        }
        files
    }

    /// The agent, ready to be started with nothing inherited but a search path.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aks-node-controller"));
        command
            .args(words)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("AKS_NODE_ROOT", self.root())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the agent to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        end_of(self.start(words))
    }

    pub(crate) fn start(&self, words: &[&str]) -> Child {
        self.command(words).spawn().unwrap()
    }
}

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits for a process and takes what it printed. A process that does not end, or that leaves its
/// output open, fails the test instead of holding it up.
pub(crate) fn end_of(mut child: Child) -> Output {
    let (sender, ends) = mpsc::channel();
    let collect = |stream: Option<Box<dyn Read + Send>>, is_out: bool| {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
            let _ = sender.send((is_out, bytes));
        });
    };
    collect(child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>), true);
    collect(child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>), false);
    let mut status = None;
    eventually("the end of the process", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let end = ends.recv_timeout(WAIT_TIMEOUT).expect("the output is left open");
        if end.0 { stdout = end.1 } else { stderr = end.1 }
    }
    Output { status: status.unwrap(), stdout, stderr }
}

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Creates an executable. Another process copies it there: a file that this process has open for writing would be
/// inherited by a child of another test, and could not be executed.
pub(crate) fn write_program(path: &Path, content: impl AsRef<[u8]>, mode: u32) {
    let draft = path.with_extension("draft");
    write(&draft, content.as_ref());
    assert!(Command::new("cp").arg(&draft).arg(path).status().unwrap().success());
    fs::remove_file(&draft).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Timeout for a busy host.
const WAIT_TIMEOUT: Duration = Duration::from_mins(5);

/// Waits for another process, with a timeout.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + WAIT_TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < until, "{what} did not happen within {WAIT_TIMEOUT:?}");
        thread::sleep(Duration::from_millis(5));
    }
}
