//! `mooring demo` as a stranger runs it: the built binary, in a pipe, with nothing but a folder of its own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{ended, text};
use mooring_testbed::browser::{Scheme, look, open};
use mooring_testbed::{find_kubectl, require};
use tempfile::TempDir;

/// No story takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_mins(4);

/// A folder in which the demo is started, and one for its temporary files.
struct Stranger {
    here: TempDir,
    temporary: TempDir,
}

impl Stranger {
    fn new() -> Self {
        Self { here: tempfile::tempdir().unwrap(), temporary: tempfile::tempdir().unwrap() }
    }

    fn start(&self, words: &[&str]) -> Child {
        self.start_with_path(words, std::env::var_os("PATH").unwrap_or_default().as_os_str())
    }

    fn start_with_path(&self, words: &[&str], path: &std::ffi::OsStr) -> Child {
        crate::common::mooring()
            .env("PATH", path)
            .arg("demo")
            .args(words)
            .current_dir(self.here.path())
            .env("TMPDIR", self.temporary.path())
            // Whatever cloud a person is signed in to is none of the demo's business.
            .env("AZURE_TENANT_ID", "11111111-1111-1111-1111-111111111111")
            .env("AZURE_RESOURCE_MANAGER_ENDPOINT", "https://unreachable.invalid")
            .env("KUBECONFIG", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn run(&self, words: &[&str]) -> Output {
        ended(self.start(words), PATIENCE)
    }

    /// Nothing is left: no temporary folder, and no process that was started in one.
    fn assert_clean(&self) {
        let left: Vec<_> = std::fs::read_dir(self.temporary.path()).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let left = processes_of(self.temporary.path());
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < until, "{left:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Processes that know of this folder.
fn processes_of(folder: &Path) -> Vec<String> {
    let mark = folder.to_str().unwrap().as_bytes();
    let knows = |process: &Path| {
        ["environ", "cmdline"].iter().any(|file| {
            let bytes = std::fs::read(process.join(file)).unwrap_or_default();
            bytes.windows(mark.len()).any(|window| window == mark)
        })
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let processes = processes.filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.bytes().all(|byte| byte.is_ascii_digit()) && knows(path)
    });
    processes
        .map(|path| std::fs::read_to_string(path.join("cmdline")).unwrap_or_default())
        .collect()
}

fn assert_came_true(output: &Output) -> String {
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "the story is told on standard output alone");
    assert!(!told.contains('\x1b') && !told.contains('\r'), "a pipe gets plain lines: {told}");
    told
}

#[test]
fn the_whole_story_comes_true_and_leaves_a_report_and_nothing_else() {
    let stranger = Stranger::new();
    let told = assert_came_true(&stranger.run(&[]));
    for words in [
        "image 202601.27.0: 5 failed",
        "ERR_ORAS_BINARY_NOT_FOUND",
        "ImageFailsBootstrap",
        "kill -9 in the middle of create-temporary",
        "pool system is repaired after one kill -9",
        "mooring-demo.html",
    ] {
        assert!(told.contains(words), "{words} in\n{told}");
    }
    stranger.assert_clean();
    let here: Vec<_> = std::fs::read_dir(stranger.here.path()).unwrap().flatten().collect();
    assert_eq!(here.len(), 1, "{here:?}");
    let page = std::fs::read_to_string(here[0].path()).unwrap();
    for words in ["202601.27.0", "OrasBinaryMissing", "create-temporary", "ensureKubelet", "<svg"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("http:") && !page.contains("https:"), "nothing to load");
    let opened = open(&here[0].path(), Scheme::Light).unwrap();
    let Some(seen) = require(opened, "Chromium") else { return };
    assert!(seen.requests.is_empty(), "{:?}", seen.requests);
    assert!(seen.dom.contains("Scenario passed"));
    let look = look(&seen.screenshot).unwrap();
    assert!(look.colours > 50 && look.ground < 0.95, "not blank: {look:?}");
}

#[test]
fn stories_about_nodes_come_true() {
    for (name, words) in [
        ("healthy-boot", "The node has joined"),
        ("old-agent", "211 ERR_ORAS_PULL_NETWORK_TIMEOUT"),
        ("blocked-outbound", "50 ERR_OUTBOUND_CONN_FAIL"),
        ("never-registers", "But no Node has joined"),
    ] {
        let stranger = Stranger::new();
        let told = assert_came_true(&stranger.run(&["--scenario", name]));
        assert!(told.contains(words), "{name}: {told}");
        stranger.assert_clean();
    }
}

#[test]
fn only_the_real_kubectl_is_shown_as_kubectl() {
    let words = ["--scenario", "blocked-outbound"];
    let note = "CSE exited with code 50 on node";
    let stranger = Stranger::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().as_os_str();
    let told = assert_came_true(&ended(stranger.start_with_path(&words, path), PATIENCE));
    assert!(!told.contains("$ kubectl"), "{told}");
    assert!(told.contains("kubectl is not installed; NodeClaim default-"), "{told}");
    assert!(told.contains("event CSEFailed from mooring: ") && told.contains(note), "{told}");

    let Some(kubectl) = require(find_kubectl(), "kubectl") else { return };
    std::os::unix::fs::symlink(kubectl, folder.path().join("kubectl")).unwrap();
    let told = assert_came_true(&ended(stranger.start_with_path(&words, path), PATIENCE));
    let (_, shown) = told.split_once("   $ kubectl describe nodeclaim default-").unwrap();
    let quoted = shown.lines().skip(1).take_while(|line| line.starts_with("   │ "));
    let quoted: Vec<&str> = quoted.collect();
    assert!(quoted[0].starts_with("   │ Name:         default-"), "{quoted:?}");
    assert!(quoted.iter().any(|line| line.contains("mooring") && line.contains(note)), "{told}");
}

#[test]
fn a_young_operation_is_left_alone_and_that_is_the_story() {
    let stranger = Stranger::new();
    let told = assert_came_true(&stranger.run(&["--scenario", "young-operation"]));
    let words: Vec<&str> = told.split_whitespace().collect();
    assert!(words.join(" ").contains("it is left alone"), "{told}");
}

#[test]
fn what_does_not_come_true_is_exit_1_with_the_chapter_and_its_logs() {
    let stranger = Stranger::new();
    let shown = stranger.run(&["--show", "healthy-boot"]);
    let mine = text(&shown.stdout).replace("The node has joined", "The moon has risen");
    std::fs::write(stranger.here.path().join("mine.yaml"), mine).unwrap();
    let output = stranger.run(&["--scenario", "./mine.yaml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("The moon has risen") && told.contains("stage 2"), "{told}");
    let logs = told.split("logs: ").nth(1).unwrap().trim();
    assert!(Path::new(logs).join("controller.log").is_file(), "{logs}");
}

#[test]
fn ctrl_c_ends_everything_that_was_started() {
    let stranger = Stranger::new();
    let mut child = stranger.start(&["--speed", "0.5"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Machines are on their way, the controller runs.
    let chapter = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("Pods pending")));
    assert!(chapter.is_some());
    let until = Instant::now() + PATIENCE;
    while !processes_of(stranger.temporary.path()).iter().any(|line| line.contains("provision")) {
        assert!(Instant::now() < until, "no machine booted");
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    let rest = std::thread::spawn(move || lines.count());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{said}");
    assert!(said.contains("interrupted"), "{said}");
    rest.join().unwrap();
    stranger.assert_clean();
    assert_eq!(std::fs::read_dir(stranger.here.path()).unwrap().count(), 0);
}

#[test]
fn the_stories_are_named_and_a_bad_one_is_refused_with_its_place() {
    let stranger = Stranger::new();
    let list = text(&stranger.run(&["--list"]).stdout);
    assert!(list.lines().count() >= 6, "{list}");
    assert!(list.starts_with("first-five-minutes"), "{list}");
    std::fs::write(stranger.here.path().join("bad.yaml"), "description: x\nchapterz: []\n")
        .unwrap();
    let output = stranger.run(&["--scenario", "./bad.yaml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    for words in ["bad.yaml", "chapterz", "line 2", "hint:"] {
        assert!(told.contains(words), "{words}: {told}");
    }
}
