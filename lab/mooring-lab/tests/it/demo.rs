//! Tests of `mooring-lab demo` with the built binary, in a pipe and an empty directory.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use mooring_testbed::browser::{Scheme, open, pixel_stats};
use mooring_testbed::command::{text, wait};
use mooring_testbed::devtools::Tab;
use mooring_testbed::{find_kubectl, require};
use tempfile::TempDir;

const TIMEOUT: Duration = Duration::from_mins(4);

/// Working directory of a demo, and its directory for temporary files.
struct Workspace {
    directory: TempDir,
    temporary: TempDir,
}

impl Workspace {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), temporary: tempfile::tempdir().unwrap() }
    }

    fn start(&self, args: &[&str]) -> Child {
        self.start_with_path(args, std::env::var_os("PATH").unwrap_or_default().as_os_str())
    }

    fn start_with_path(&self, args: &[&str], path: &std::ffi::OsStr) -> Child {
        crate::lab()
            .env("PATH", path)
            .arg("demo")
            .args(args)
            .current_dir(self.directory.path())
            .env("TMPDIR", self.temporary.path())
            // The demo must ignore the user's cloud and cluster.
            .env("AZURE_TENANT_ID", "11111111-1111-1111-1111-111111111111")
            .env("AZURE_RESOURCE_MANAGER_ENDPOINT", "https://unreachable.invalid")
            .env("KUBECONFIG", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        wait(self.start(args), TIMEOUT)
    }

    /// Fails if temporary files or processes remain.
    fn assert_clean(&self) {
        let remaining: Vec<_> =
            std::fs::read_dir(self.temporary.path()).unwrap().flatten().collect();
        assert!(remaining.is_empty(), "{remaining:?}");
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let remaining = find_processes(self.temporary.path());
            if remaining.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "{remaining:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Returns the command lines of processes whose environment or arguments contain this directory.
fn find_processes(directory: &Path) -> Vec<String> {
    let mark = directory.to_str().unwrap().as_bytes();
    let matches = |process: &Path| {
        ["environ", "cmdline"].iter().any(|file| {
            let bytes = std::fs::read(process.join(file)).unwrap_or_default();
            bytes.windows(mark.len()).any(|window| window == mark)
        })
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let processes = processes.filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.bytes().all(|byte| byte.is_ascii_digit()) && matches(path)
    });
    processes
        .map(|path| std::fs::read_to_string(path.join("cmdline")).unwrap_or_default())
        .collect()
}

fn assert_passed(output: &Output) -> String {
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "output is on stdout only");
    assert!(
        !shown.contains('\x1b') && !shown.contains('\r'),
        "no escape sequences in a pipe: {shown}"
    );
    shown
}

#[test]
fn default_scenario_passes_and_leaves_only_a_report() {
    let workspace = Workspace::new();
    let shown = assert_passed(&workspace.run(&[]));
    for expected in [
        "image 202601.27.0: 5 failed",
        "ERR_ORAS_BINARY_NOT_FOUND",
        "ImageFailsBootstrap",
        "16/16 reconcile-cluster cluster is Succeeded",
        "pool system is repaired",
        "mooring-demo.html",
    ] {
        assert!(shown.contains(expected), "{expected} in\n{shown}");
    }
    workspace.assert_clean();
    let files: Vec<_> = std::fs::read_dir(workspace.directory.path()).unwrap().flatten().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let page = std::fs::read_to_string(files[0].path()).unwrap();
    for expected in
        ["202601.27.0", "OrasBinaryMissing", "create-temporary", "ensureKubelet", "<svg"]
    {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("http:") && !page.contains("https:"), "nothing to load");
    let opened = open(&files[0].path(), Scheme::Light).unwrap();
    let Some(view) = require(opened, "Chromium") else { return };
    assert!(view.requests.is_empty(), "{:?}", view.requests);
    assert!(view.dom.contains("Scenario passed"));
    let stats = pixel_stats(&view.screenshot).unwrap();
    assert!(stats.colors > 50 && stats.ground < 0.95, "not blank: {stats:?}");
}

/// Scenarios except the first and what each shows at the end.
const SCENARIOS: [(&str, &str); 8] = [
    ("healthy-boot", "has joined demo and is ready"),
    ("oras-missing", "image 202601.27.0: 4 failed"),
    ("blocked-outbound", "50 ERR_OUTBOUND_CONN_FAIL"),
    ("slow-network", "image 202601.13.0: 3 joined"),
    ("never-registers", "No Node registered"),
    ("budget-blocks", "pool system is repaired"),
    ("young-operation", "too recent to abort"),
    ("api-server-restarts", "pool system is repaired after 2 kills"),
];

fn assert_scenarios_pass(scenarios: &[(&str, &str)]) {
    for (name, expected) in scenarios {
        let workspace = Workspace::new();
        let shown = assert_passed(&workspace.run(&["--scenario", name]));
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert!(words.join(" ").contains(expected), "{name}: {shown}");
        workspace.assert_clean();
    }
}

#[test]
fn node_scenarios_pass() {
    assert_scenarios_pass(&SCENARIOS[..5]);
}

#[test]
fn repair_scenarios_pass() {
    assert_scenarios_pass(&SCENARIOS[5..]);
}

#[test]
fn only_the_real_kubectl_is_shown_as_kubectl() {
    let args = ["--scenario", "blocked-outbound"];
    let note = "CSE exited with code 50 on node";
    let workspace = Workspace::new();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().as_os_str();
    let shown = assert_passed(&wait(workspace.start_with_path(&args, path), TIMEOUT));
    assert!(!shown.contains("$ kubectl"), "{shown}");
    assert!(shown.contains("kubectl is not installed; NodeClaim default-"), "{shown}");
    assert!(shown.contains("event CSEFailed from mooring: ") && shown.contains(note), "{shown}");

    let Some(kubectl) = require(find_kubectl(), "kubectl") else { return };
    std::os::unix::fs::symlink(kubectl, directory.path().join("kubectl")).unwrap();
    let shown = assert_passed(&wait(workspace.start_with_path(&args, path), TIMEOUT));
    let (_, shown) = shown.split_once("   $ kubectl describe nodeclaim default-").unwrap();
    let quoted = shown.lines().skip(1).take_while(|line| line.starts_with("   │ "));
    let quoted: Vec<&str> = quoted.collect();
    assert!(quoted[0].starts_with("   │ Name:         default-"), "{quoted:?}");
    assert!(quoted.iter().any(|line| line.contains("mooring") && line.contains(note)), "{shown}");
}

#[test]
fn failed_scenario_exits_with_1_and_names_stage_and_logs() {
    let workspace = Workspace::new();
    let shown = workspace.run(&["--show", "healthy-boot"]);
    let changed = text(&shown.stdout).replace("has joined", "has vanished");
    std::fs::write(workspace.directory.path().join("changed.yaml"), changed).unwrap();
    let output = workspace.run(&["--scenario", "./changed.yaml"]);
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("has vanished") && shown.contains("stage 2"), "{shown}");
    let logs = shown.split("logs: ").nth(1).unwrap().trim();
    assert!(Path::new(logs).join("controller.log").is_file(), "{logs}");
}

#[test]
fn ctrl_c_stops_all_processes() {
    let workspace = Workspace::new();
    let mut child = workspace.start(&["--speed", "0.5"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // VMs are booting, and the controller is running.
    let stage = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("Pods pending")));
    assert!(stage.is_some());
    let deadline = Instant::now() + TIMEOUT;
    while !find_processes(workspace.temporary.path()).iter().any(|line| line.contains("provision"))
    {
        assert!(Instant::now() < deadline, "no VM booted");
        std::thread::sleep(Duration::from_millis(20));
    }
    let shown = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(shown.success());
    let rest = std::thread::spawn(move || lines.count());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    rest.join().unwrap();
    workspace.assert_clean();
    assert_eq!(std::fs::read_dir(workspace.directory.path()).unwrap().count(), 0);
}

#[test]
fn suggested_repair_status_finds_the_run() {
    let workspace = Workspace::new();
    let mut child = workspace.start(&["--scenario", "budget-blocks", "--keep"]);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| line.unwrap().trim().to_owned());
    let mut stderr = child.stderr.take().unwrap();
    let mut line_with = |start: &str| {
        let found = lines.find(|line| line.starts_with(start));
        found.unwrap_or_else(|| {
            let mut errors = String::new();
            stderr.read_to_string(&mut errors).unwrap();
            panic!("no line begins with {start:?}: {errors}")
        })
    };
    let (path, source) = (line_with("PATH="), line_with(". "));
    let command = line_with("mooring repair status");
    let mut bash = Command::new("bash");
    let status = bash.args(["-c", &format!("{path}; {source} && {command}")]).output().unwrap();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    child.wait().unwrap();
    let shown = text(&status.stdout);
    assert_eq!(status.status.code(), Some(0), "{shown}{}", text(&status.stderr));
    assert!(shown.contains("repaired"), "{shown}");
    workspace.assert_clean();
}

#[test]
fn scenarios_are_listed_and_invalid_ones_rejected() {
    let workspace = Workspace::new();
    let list = text(&workspace.run(&["--list"]).stdout);
    let names: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    let tested = SCENARIOS.iter().map(|(name, _)| *name);
    assert_eq!(names, ["first-five-minutes"].into_iter().chain(tested).collect::<Vec<_>>());
    std::fs::write(workspace.directory.path().join("bad.yaml"), "description: x\nchapterz: []\n")
        .unwrap();
    let output = workspace.run(&["--scenario", "./bad.yaml"]);
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    for expected in ["bad.yaml", "chapterz", "line 2", "hint:"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

#[test]
fn page_of_the_controller_is_live_while_the_demo_runs() {
    let Some(mut tab) = require(Tab::start().unwrap(), "Chromium") else { return };
    let workspace = Workspace::new();
    let mut child = workspace.start(&["--keep"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let address = lines
        .find_map(|line| Some(line.split_once("live page, until Ctrl-C: ")?.1.trim().to_owned()));
    let rest = std::thread::spawn(move || lines.count());
    tab.open(&address.unwrap()).unwrap();
    tab.wait_for("document.getElementById('live').textContent === 'Live'").unwrap();
    tab.eval("window.marker = 1").unwrap();
    let verdict = "document.querySelector('[data-part=verdict]').innerText";
    tab.wait_for(&format!("{verdict}.includes('Image 202601.27.0 fails')")).unwrap();
    let failures = "document.querySelectorAll('[data-part=failures] tbody tr').length === 5";
    tab.wait_for(failures).unwrap();
    // Nodes are read again a while after they joined.
    tab.wait_for("document.querySelector('.tiles dd').innerText.startsWith('10')").unwrap();
    assert_eq!(tab.eval("window.marker").unwrap(), 1, "it was not reloaded");
    assert_eq!(tab.errors(), Vec::<String>::new());
    if let Some(pictures) = std::env::var_os("MOORING_WRITE_PICTURES") {
        tab.resize(1300, 1130, Scheme::Light).unwrap();
        tab.save(&Path::new(&pictures).join("page.png")).unwrap();
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    child.wait().unwrap();
    rest.join().unwrap();
    workspace.assert_clean();
}
