//! Tests of `mooring repair` with the built binary against the simulated Azure and Kubernetes APIs.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use mooring_simulator::random::Random;
use serde_json::Value;

use crate::common::schema::assert_valid;
use crate::common::{Lab, end, result};

const TIMEOUT: Duration = Duration::from_mins(4);

/// A simulator and `mooring repair` against its cluster.
struct Sim(Lab);

impl Sim {
    fn wedged() -> Self {
        Self(Lab::fast("wedged-system-pool"))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.0.command(&[&["repair"], words].concat());
        // May be that of another cluster: must be ignored.
        command.env("KUBECONFIG", "/nonexistent/kubeconfig");
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        end(&mut self.command(words))
    }

    fn json(&self, words: &[&str]) -> (i32, Value) {
        let (code, out, err) = self.run(&[words, &["-o", "json"]].concat());
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{words:?}: {out}{err}")))
    }

    /// Returns the requests with this method for a pool, with the responses.
    fn received(&self, method: &str, pool: &str) -> Vec<String> {
        let trace = self.0.sim.admin("GET /admin/trace", "");
        let request = format!("{method} ");
        let target = format!("/agentPools/{pool}?");
        let lines = trace.lines().filter(|line| line.contains(&request) && line.contains(&target));
        lines.map(str::to_owned).collect()
    }

    /// Returns what the journal shows of the run, without its lock.
    fn progress(&self) -> String {
        let (_, status) = self.json(&["status"]);
        let run = &status["runs"][0];
        format!("{}{}", run["effects"], run["steps"])
    }

    fn hash(&self) -> String {
        let (code, plan) = self.json(&["plan"]);
        assert_eq!(code, 0);
        plan["hash"].as_str().unwrap().to_owned()
    }

    /// Kills a command when a line of its stderr has these texts.
    fn kill_at(&self, words: &[&str], texts: [&str; 2]) {
        let mut child = self.command(words).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let found = lines.any(|line| texts.iter().all(|text| line.contains(text)));
        assert!(found, "{words:?}: no {texts:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Waits until a process has the lock of the run.
    fn wait_for_lock(&self, holder: &Child) {
        let began = Instant::now();
        while self.json(&["status"]).1["runs"][0]["lock"]["pid"] != holder.id() {
            assert!(began.elapsed() < TIMEOUT);
        }
    }

    /// Continues a run to its end.
    fn resume(&self, words: &[&str]) -> String {
        let (code, out, err) = self.run(&[&["resume", "--yes", "-o", "json"], words].concat());
        assert_eq!(code, 0, "{err}");
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_valid(&report);
        assert_eq!(report["runs"][0]["state"], "repaired");
        assert_eq!(report["runs"][0]["steps"].as_array().unwrap().len(), 16);
        assert!(report["runs"][0]["poolBody"]["properties"].is_object());
        err
    }
}

fn signal(child: &Child, which: &str) {
    let status = Command::new("kill").args([which, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits for a command; returns the exit code (-1 for a signal), stdout and stderr.
fn wait(child: Child) -> (i32, String, String) {
    result(&crate::common::wait(child, TIMEOUT))
}

/// Well-formed, expired approval.
const EXPIRED: &str =
    "20251115T113000Z.0000000000000000000000000000000000000000000000000000000000000000";

/// All commands, with the arguments that make them act.
const COMMANDS: [&[&str]; 8] = [
    &["detect"],
    &["plan"],
    &["apply"],
    &["apply", "--yes", "--plan-hash", EXPIRED],
    &["apply", "--dry-run"],
    &["status"],
    &["resume", "--yes"],
    &["abort", "--yes"],
];

#[test]
fn misspelled_cluster_or_resource_group_is_exit_3_with_its_name() {
    let sim = Sim::wedged();
    for wrong in [["--cluster", "nosuch"], ["--resource-group", "rg-nosuch"]] {
        for command in COMMANDS {
            let words = [command, &wrong[..]].concat();
            let (code, out, err) = sim.run(&words);
            assert_eq!(code, 3, "{words:?} {out}{err}");
            assert!(err.contains(wrong[1]) && err.contains("was not found"), "{words:?} {err}");
            assert!(err.contains("\nhint: "), "{words:?} {err}");
            assert_eq!(out, "", "{words:?}");
        }
    }
    for words in [&["detect"][..], &["plan"], &["status"], &["resume"], &["abort"], &["apply"]] {
        let words = [words, &["--cluster", "nosuch", "-o", "json"]].concat();
        let (code, out, err) = sim.run(&words);
        assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
    }
}

#[test]
fn pipeline_treats_a_missing_cluster_as_a_greenfield_rollout() {
    let sim = Sim::wedged();
    for (variable, name) in [("CLUSTER_NAME", "nosuch"), ("RESOURCE_GROUP", "rg-nosuch")] {
        let mut command = sim.command(&["--pipeline"]);
        let (code, out, err) = wait(command.env(variable, name).spawn().unwrap());
        assert_eq!(code, 0, "{out}{err}");
        let err = crate::common::without_progress(&err);
        let said: Vec<&str> = err.lines().collect();
        assert_eq!(said.len(), 1, "one line: {err}");
        assert!(said[0].contains(name) && said[0].contains("greenfield rollout"), "{err}");
        assert_eq!(out, "");
    }
    let mut command = sim.command(&["--pipeline"]);
    let other = "99999999-9999-4999-8999-999999999999";
    let (code, out, err) = wait(command.env("SUBSCRIPTION_ID", other).spawn().unwrap());
    assert_eq!(code, 1, "another subscription is a mistake: {out}{err}");
}

#[test]
fn invalid_dry_run_is_a_usage_error_before_anything_is_read() {
    // No endpoint exists.
    let commands = COMMANDS.map(|words| [&["repair"], words].concat());
    let more: [&[&str]; 6] = [
        &["repair", "--pipeline"],
        &["repair", "--pipeline", "--dry-run"],
        &["finalizers", "apply"],
        &["finalizers", "apply", "--yes", "--plan-hash", EXPIRED],
        &["finalizers", "apply", "--best-effort"],
        &["finalizers", "resume"],
    ];
    for words in commands.iter().map(Vec::as_slice).chain(more) {
        for value in ["2", "enabled", "tru", "ture", "$(x)", "yes please"] {
            let mut command = crate::common::mooring();
            command.args(words).env_clear().env("DRY_RUN", value);
            command.env("KUBECONFIG", "/nonexistent/kubeconfig");
            let (code, out, err) = result(&command.output().unwrap());
            assert_eq!(code, 2, "{words:?} {value} {out}{err}");
            assert!(err.contains(&format!("'{value}' for DRY_RUN")), "{words:?} {err}");
        }
    }
}

/// Dry runs of an interrupted run are in `it/repair.rs`.
#[test]
fn dry_run_prints_a_notice_first_and_writes_nothing() {
    let sim = Sim::wedged();
    let hash = sim.hash();
    for (words, expected) in [
        (&["apply", "--yes", "--plan-hash", &hash][..], "delete-pool"),
        (&["resume", "--yes"], "nothing to do"),
        (&["abort", "--yes"], "nothing to do"),
        (&["--pipeline"], "delete-pool"),
    ] {
        for (value, more) in [("on", &[][..]), ("false", &["--dry-run"])] {
            let mut command = sim.command(&[words, more].concat());
            let (code, out, err) = end(command.env("DRY_RUN", value));
            assert_eq!(code, 0, "{words:?} {value} {out}{err}");
            assert!(err.starts_with("Dry run: nothing will be changed\n"), "{words:?} {err}");
            assert!(format!("{out}{err}").contains(expected), "{words:?} {out}{err}");
        }
    }
    assert_eq!(sim.0.writes(), Vec::<String>::new());
    let (_, status) = sim.json(&["status"]);
    assert_eq!(status["runs"], Value::Array(Vec::new()), "no run was begun");
}

#[test]
fn invalid_kubeconfig_is_named_and_never_quoted() {
    let sim = Sim::wedged();
    let file = sim.0.home.path().join("broken");
    for broken in ["{token: \"CANARY\n", "{token: [CANARY]}\n", "\n    token: CANARY: b\n"] {
        std::fs::write(&file, format!("users:\n- name: u\n  user: {broken}")).unwrap();
        for words in [&["detect"][..], &["plan"], &["status"], &["resume", "--yes"], &["abort"]] {
            let named = [words, &["--kubeconfig", file.to_str().unwrap()]].concat();
            let (_, out, err) = sim.run(&named);
            let output = format!("{out}{err}");
            assert!(!output.contains("CANARY"), "{words:?} {output}");
            let place = format!("{}: invalid kubeconfig (line ", file.display());
            assert!(output.contains(&place), "{words:?} {output}");
        }
    }
}

#[test]
fn recent_operation_is_reported_without_a_prompt() {
    let sim = Sim(Lab::fast("young-operation"));
    let (_, report) = sim.json(&["detect", "--pool", "system"]);
    assert_eq!(report["pools"][0]["operation"]["isTooRecent"], true, "{report:#}");
    for words in [&["apply"][..], &["--pipeline"]] {
        let (code, out, err) = sim.run(words);
        assert_eq!(code, 0, "{words:?} {out}{err}");
        assert!(err.contains("too recent to abort; nothing "), "{words:?} {out}{err}");
        assert!(!err.contains("Type "), "{words:?} {out}{err}");
    }
    let (_, status) = sim.json(&["status"]);
    assert_eq!(status["runs"], Value::Array(Vec::new()), "no run was begun");
}

#[test]
fn blocked_run_is_reported_before_the_prompt() {
    let sim = Sim::wedged();
    // Signatures of another defect: failed writes and network interfaces do not count.
    let file = sim.0.home.path().join("other.yaml");
    let list =
        "schema: mooring.signatures/v1\nsignatures:\n- {name: other, errors: [{code: Other}]}\n";
    std::fs::write(&file, list).unwrap();
    let (code, _, err) = sim.run(&["apply", "--signatures", file.to_str().unwrap()]);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("blocked by failing-writes: 0 writes to "), "{err}");
    assert!(!err.contains("Type "), "{err}");
    for (words, expected) in [
        (&["detect", "--pool", "Bad/Name"][..], "start with a letter"),
        (&["detect", "--fail-window", "1000000000000"], "--fail-window"),
        (&["detect", "--signatures", "/nosuch/file.yaml"], "/nosuch/file.yaml"),
        (&["detect", "--signatures", "/dev/null"], "read signatures from /dev/null"),
        (&["apply", "-o", "mermaid"], "is for plans only"),
    ] {
        let (code, _, err) = sim.run(words);
        assert_eq!(code, 2, "{words:?} {err}");
        assert!(err.contains(expected), "{words:?} {err}");
    }
    let (code, _, err) = sim.run(&["status", "--journal", "/tmp/journal"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--journal /tmp/journal is not a ConfigMap\nhint: "), "{err}");
}

/// A host failed after it deleted the pool, with its journal in another namespace. The next pipeline step finds no pool and no
/// run in its own; reporting *nothing to do* would leave the cluster without its system pool.
#[test]
fn pipeline_reports_an_unfinished_run_of_another_journal() {
    let sim = Sim::wedged();
    let place = "configmap/default";
    let hash = sim.hash();
    let words = ["apply", "--poll", "1", "--yes", "--plan-hash", &hash, "--journal", place];
    sim.kill_at(&words, ["delete-pool ", "✓"]);

    let (code, _, err) = sim.run(&["--pipeline"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("systmp is the temporary pool of run"), "{err}");
    assert!(err.contains("configmap/default/repair-system"), "{err}");
    let (code, _, err) = sim.run(&["resume", "--yes"]);
    assert_eq!(code, 3, "{err}");
    let (code, _, err) = sim.run(&["status"]);
    assert!(code == 1 && err.contains("systmp"), "{code} {err}");
    let (code, _, err) = sim.run(&["resume", "--yes", "--journal", place]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = sim.run(&["--pipeline"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.contains("nothing to do"), "{err}");
}

#[test]
fn apply_killed_at_random_and_resumed_rebuilds_the_pool() {
    let sim = Sim::wedged();
    let (code, report) = sim.json(&["detect"]);
    assert_eq!((code, &report["verdict"]), (1, &Value::from("confirmed")), "{report:#}");
    let is_system = |pool: &&Value| pool["name"] == "system";
    let system = report["pools"].as_array().unwrap().iter().find(is_system).unwrap();
    assert_eq!(system["signs"].as_array().unwrap().len(), 5);

    let (code, _, err) = sim.run(&["apply", "--yes", "--plan-hash", EXPIRED]);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("the approval expired at 2025-11-15T11:30:00Z"), "{err}");
    let (code, _, err) = sim.run(&["apply", "--yes", "--plan-hash", "0000"]);
    assert_eq!(code, 2, "{err}");

    let hash = sim.hash();
    let (code, _, err) = sim.run(&["apply", "--fail-window", "20", "--yes", "--plan-hash", &hash]);
    assert_eq!(code, 4, "another setting is another plan: {err}");
    assert!(err.contains("plan changed: approved"), "{err}");
    let mut random = Random::new(9);
    let mut words = vec!["apply", "--poll", "1", "--yes", "--plan-hash", &hash];
    let (mut kills, mut ends) = (0, 0);
    let code = loop {
        let mut child = sim.command(&words).spawn().unwrap();
        if kills < 3 {
            // At least its first write, so that the next process finds the run.
            let mut progress = sim.progress();
            for _ in 0..=random.below(4) {
                let before = progress.clone();
                while progress == before && child.try_wait().unwrap().is_none() {
                    progress = sim.progress();
                }
            }
            child.kill().unwrap();
            kills += 1;
        }
        let (code, out, err) = wait(child);
        // 5: on a busy host a timeout stops the run, which can be resumed.
        assert!(matches!(code, -1 | 0 | 5), "{code}\n{out}{err}");
        ends += 1;
        assert!(ends < 40, "{out}{err}");
        if code == 0 {
            break code;
        }
        let (_, status) = sim.json(&["status"]);
        if status["runs"] != Value::Array(Vec::new()) {
            words = vec!["resume", "--yes", "--plan-hash", &hash];
        }
    };
    assert_eq!(code, 0);
    let (_, status) = sim.json(&["status", "--all"]);
    assert_eq!(status["runs"][0]["state"], "repaired", "{status:#}");
    assert_eq!(status["runs"].as_array().unwrap().len(), 1);
    assert_eq!(status["earlier"], Value::Array(Vec::new()), "one run, however often it died");
    let deletes = status["runs"][0]["effects"].as_array().unwrap().iter();
    assert!(deletes.filter(|effect| effect["what"] == "delete pool system").count() >= 1);
    // Azure deleted each pool once, regardless of the number of attempts.
    for pool in ["system", "systmp"] {
        let requests = sim.received("DELETE", pool);
        let accepted = requests.iter().filter(|line| line.contains("-> 202")).count();
        assert_eq!(accepted, 1, "{pool}: {requests:#?}");
    }
    let (code, report) = sim.json(&["detect"]);
    assert_eq!((code, &report["verdict"]), (0, &Value::from("healthy")), "{report:#}");
    let (code, _, _) = sim.run(&["resume", "--yes"]);
    assert_eq!(code, 0, "a run that is over has nothing to resume");
}

#[test]
fn run_is_blocked_by_the_lock_of_another_until_it_stops_or_expires() {
    let sim = Sim::wedged();
    let hash = sim.hash();
    let approved = ["--yes", "--plan-hash", &hash];
    let words = [&["apply", "--poll", "1"], &approved[..]].concat();
    let first = sim.command(&words).spawn().unwrap();
    sim.wait_for_lock(&first);
    // Stopped, so that it does not finish before the second run starts.
    signal(&first, "-STOP");
    let (code, _, err) = sim.run(&words);
    assert_eq!(code, 4, "{err}");
    let holder = format!("(pid {}), last heartbeat ", first.id());
    assert!(err.contains("locked by ") && err.contains(&holder), "{err}");
    signal(&first, "-TERM");
    signal(&first, "-CONT");
    let (code, _, err) = wait(first);
    assert_eq!(code, 5, "{err}");
    assert!(err.contains("mooring repair resume"), "{err}");
    // The Lease of a killed process expires.
    let second = sim.command(&[&["resume"], &approved[..]].concat()).spawn().unwrap();
    sim.wait_for_lock(&second);
    signal(&second, "-KILL");
    wait(second);
    // Every command points to what continues the run.
    for words in [&["detect", "--pool", "system"][..], &["detect"], &["plan"], &["status"]] {
        let (_, out, err) = sim.run(words);
        assert!(out.contains("mooring repair resume"), "{words:?} {out}{err}");
        assert!(!out.contains("mooring repair plan") && !out.contains("repair apply"), "{out}");
    }
    let (code, _, err) = sim.run(&words);
    assert!(code == 4 && err.contains("mooring repair resume"), "{err}");
    let err = sim.resume(&["--plan-hash", &hash]);
    assert!(err.contains("waiting for the lock to expire (30s)"), "{err}");
    assert_eq!(sim.json(&["status"]).1["runs"][0]["lock"], Value::Null);
}

/// Accepts the creation of the temporary pool and never responds.
const HANGING_CREATE: &str = "
faults:
- when: {method: PUT, path: '*/agentPools/systmp'}
  then: timeoutAfter
  times: 1
";

#[test]
fn second_signal_stops_during_a_call_and_loses_nothing() {
    let scenarios = tempfile::tempdir().unwrap();
    let scenario = scenarios.path().join("silent.yaml");
    let wedged = include_str!("../../../../lab/simulator/scenarios/wedged-system-pool.yaml");
    std::fs::write(&scenario, format!("{wedged}{HANGING_CREATE}")).unwrap();
    let sim = Sim(Lab::fast(scenario.to_str().unwrap()));
    let hash = sim.hash();
    let words = ["apply", "--poll", "1", "--yes", "--plan-hash", &hash];
    let mut child = sim.command(&words).spawn().unwrap();
    let began = Instant::now();
    while sim.received("PUT", "systmp").is_empty() {
        assert!(began.elapsed() < TIMEOUT);
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, "-HUP");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("Press Ctrl-C again to stop now")));
    assert!(child.try_wait().unwrap().is_none(), "the first signal lets the call end");
    signal(&child, "-INT");
    let err: String = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(5), "{err}");
    assert!(err.contains("mooring repair resume"), "{err}");
    let (_, status) = sim.json(&["status"]);
    let last = status["runs"][0]["effects"].as_array().unwrap().last().unwrap();
    assert!(last["what"].as_str().unwrap().contains("systmp"), "an intent without an outcome");
    sim.resume(&[]);
}
