//! Tests of `mooring repair` with an interrupted run: what `resume`, `abort`, `status` and the pipeline do with it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::common::{Lab, Terminal, end, mooring, result, without_progress};

struct Fixture(Lab);

impl Fixture {
    fn start(scenario: &str) -> Self {
        Self(Lab::fast(scenario))
    }

    fn command(&self, words: &[&str]) -> Command {
        self.0.command(&[&["repair"], words].concat())
    }

    /// Returns stdout and stderr of a command with this exit code.
    fn run(&self, code: i32, words: &[&str]) -> (String, String) {
        let (ended, out, err) = end(&mut self.command(words));
        assert_eq!(ended, code, "{words:?}\n{out}{err}");
        (out, err)
    }

    fn json(&self, code: i32, words: &[&str]) -> Value {
        let (out, err) = self.run(code, &[words, &["-o", "json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{words:?}: {out}{err}"))
    }

    fn hash(&self) -> String {
        self.json(0, &["plan"])["hash"].as_str().unwrap().to_owned()
    }

    /// Interrupts a command when a line of its stderr has this text. Returns the rest of stderr.
    fn interrupt(&self, words: &[&str], at: &str) -> String {
        let mut child = self.command(words).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut seen = String::new();
        while !seen.lines().any(|line| line.contains(at)) {
            assert!(lines.read_line(&mut seen).unwrap() > 0, "{words:?}: no {at} in {seen}");
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(5), "{seen}{rest}");
        assert!(!seen.contains('\u{1b}') && !rest.contains('\u{1b}'), "{seen}{rest}");
        rest
    }

    /// Shows the runs on a terminal until `q`. Returns the exit code.
    fn watch(&self, words: &[&str]) -> i32 {
        let words = [&["status", "--watch"], words].concat();
        let mut terminal = Terminal::start(&mut self.command(&words), 120);
        terminal.wait_for("stopped");
        terminal.type_keys("q");
        terminal.end().0
    }
}

/// Returns the lines of a command that does not end, which is killed with the last line.
fn piped(fixture: &Fixture, words: &[&str]) -> impl Iterator<Item = String> {
    struct Lines(Child, std::io::Lines<BufReader<ChildStdout>>);
    impl Drop for Lines {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    impl Iterator for Lines {
        type Item = String;

        fn next(&mut self) -> Option<String> {
            self.1.next().map(Result::unwrap)
        }
    }
    let mut child = fixture.command(words).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    Lines(child, lines)
}

#[test]
fn pipeline_shows_the_plan_of_a_wedged_pool_in_a_dry_run() {
    let fixture = Fixture::start("wedged-system-pool");
    let (out, err) = fixture.run(0, &["--pipeline", "--dry-run"]);
    assert!(err.starts_with("Dry run: nothing will be changed\n"), "{err}");
    assert!(!err.contains("unfinished") && !err.contains("nothing to do"), "{err}");
    assert!(out.contains("mooring repair apply --pool system   prompts for demo/system"), "{out}");
    // A check of the verdict fails: signatures of another defect.
    let file = fixture.0.home.path().join("other.yaml");
    let list =
        "schema: mooring.signatures/v1\nsignatures:\n- {name: other, errors: [{code: Other}]}\n";
    std::fs::write(&file, list).unwrap();
    let mut command = fixture.command(&["--pipeline", "--dry-run"]);
    let (code, _, err) = end(command.env("MOORING_SIGNATURES", &file));
    let (_, warning) = err.split_once("\nwarning: ").unwrap();
    assert!(code == 0 && warning.starts_with("failing-writes did not pass: 0 writes to "), "{err}");
    assert!(warning.contains(" failed with Other in the last 360m, "), "{err}");
    assert!(warning.ends_with(" (threshold 5); nothing was changed\n"), "{err}");
}

#[test]
fn missing_settings_are_usage_errors_with_the_flag() {
    let variables = ["SUBSCRIPTION_ID", "RESOURCE_GROUP", "CLUSTER_NAME"];
    for (missing, flag) in
        variables.into_iter().zip(["--subscription ID", "--resource-group NAME", "--cluster NAME"])
    {
        let mut command = mooring();
        command.env_clear().args(["repair", "detect"]).stdin(Stdio::null());
        command.envs(variables.iter().filter(|name| **name != missing).map(|name| (name, "x")));
        let (code, out, err) = result(&command.output().unwrap());
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert_eq!(err, format!("error: {missing} is not set\nhint: or pass {flag}\n"));
    }
}

#[test]
fn status_of_an_unknown_pool_is_a_usage_error() {
    let fixture = Fixture::start("wedged-system-pool");
    let (out, err) = fixture.run(2, &["status", "--pool", "sytem"]);
    assert_eq!(out, "");
    let expected = "error: cluster demo has no pool `sytem`\nhint: did you mean `system`?   mooring repair status --pool system\n";
    assert_eq!(err, expected);
    fixture.run(0, &["status", "--pool", "user"]);
}

#[test]
fn node_pool_of_karpenter_is_named_as_one() {
    let fixture = Fixture::start("oras-missing");
    for command in ["plan", "detect", "status"] {
        let (out, err) = fixture.run(2, &[command, "--pool", "default"]);
        assert_eq!(out, "", "{command}");
        let expected = "error: `default` is a NodePool of Karpenter, which replaces nodes itself; ";
        assert!(without_progress(&err).starts_with(expected), "{command}: {err}");
        assert!(err.contains("`mooring why default`"), "{command}: {err}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn plan_hash_is_whole_and_the_same_on_every_screen() {
        let fixture = Fixture::start("wedged-system-pool");
        let (plan, _) = fixture.run(0, &["plan"]);
        // A line of its own, so that it can be copied.
        let token = plan.lines().skip_while(|line| !line.starts_with("Plan ")).nth(1).unwrap();
        let approved = ["--yes", "--plan-hash", token];
        // A rehearsal ends as the run would.
        let rehearsal =
            |code, token| fixture.run(code, &["apply", "--dry-run", "--plan-hash", token]);
        assert!(rehearsal(0, token).0.contains(&format!("\n{token}\n")));
        let changed = token.replace('.', ".0");
        let (_, err) = rehearsal(4, &changed[..token.len()]);
        assert!(err.contains("plan changed: approved 0"), "{err}");
        fixture.interrupt(&[&["apply"], &approved[..]].concat(), "put pool systmp");
        assert_eq!(fixture.json(1, &["status"])["runs"][0]["planHash"], token);
        let mut screens = vec![fixture.run(1, &["status"]).0];
        screens.push(fixture.run(0, &[&["resume"], &approved[..]].concat()).0);
        screens.push(fixture.run(0, &["status", "--pool", "system"]).0);
        for screen in screens {
            assert!(screen.contains(&format!("\n{token}\n")), "{screen}");
        }
    }

    #[test]
    fn interrupted_run_is_previewed_and_rolled_back() {
        let fixture = Fixture::start("wedged-system-pool");
        let hash = fixture.hash();
        let approved = ["--yes", "--plan-hash", &hash];
        let end = fixture
            .interrupt(&[&["apply"], &approved[..]].concat(), "abort the operation of the cluster");
        let hint = "hint: `mooring repair resume --pool system` continues, `mooring repair abort --pool system` rolls back\n";
        assert!(end.contains("stopping: interrupted") && end.ends_with(hint), "{end}");

        // Nothing in Azure has the approval, so a new plan can be approved.
        let (_, err) = fixture.run(0, &["resume", "--dry-run"]);
        assert!(err.contains("is unfinished: `resume` would start at step "), "{err}");
        assert!(err.contains("! This continues the repair of pool system in\n"), "{err}");
        assert!(err.contains("16 steps rebuild pool system of demo"), "{err}");
        let (_, err) = fixture.run(0, &["abort", "--dry-run"]);
        assert!(err.contains("is unfinished: `abort` would start at step "), "{err}");
        assert!(!err.contains("This "), "{err}");
        for words in [&["--yes"][..], &approved] {
            let (_, err) = fixture.run(0, &[&["resume", "--dry-run"], words].concat());
            assert!(err.contains("NOT VERIFIED") && err.contains("\n 9  delete-pool "), "{err}");
            assert!(!err.contains("\n 1  snapshot "), "{err}");
            assert!(err.ends_with(&format!("hash of the plan: {hash}\n")), "{err}");
        }
        let (_, err) = fixture.run(4, &["resume", "--yes"]);
        assert!(
            err.contains("is not approved") && err.contains("hint: pass `--plan-hash`"),
            "{err}"
        );
        let (_, err) = fixture.run(4, &["resume"]);
        assert!(err.contains("is not verified; this new plan replaces it:\n16 steps "), "{err}");
        let (out, err) = fixture.run(0, &["--pipeline", "--dry-run"]);
        assert!(err.contains("is unfinished and would be continued with this plan\n"), "{err}");
        assert!(out.starts_with("16 steps rebuild pool system of demo"), "{out}");
        let (_, err) = fixture.run(4, &[&["apply"], &approved[..]].concat());
        assert!(
            err.contains("hint: `mooring repair resume --pool system` continues it\n"),
            "{err}"
        );

        // The temporary pool has the approval.
        fixture.interrupt(&[&["resume"], &approved[..]].concat(), "put pool systmp");
        let (_, err) = fixture.run(0, &["resume", "--dry-run"]);
        assert!(
            err.contains("approved plan, verified by the tag of the temporary pool\n"),
            "{err}"
        );
        let (_, err) = fixture.run(4, &["resume"]);
        assert!(err.contains("verified by the tag") && err.contains("only a terminal"), "{err}");
        let (out, err) = fixture.run(0, &["--pipeline", "--dry-run"]);
        assert!(err.ends_with("is unfinished and would be continued\n"), "{err}");
        assert_eq!(out, "");

        let (code, out, err) = fixture.0.run(&["status", "--azure", "never"]);
        assert_eq!(code, 1, "{out}{err}");
        assert!(out.contains("✗ The repair of pool system was stopped: step 4 of 16, "), "{out}");
        assert!(out.contains("mooring repair status --pool system "), "{out}");
        let status = fixture.json(1, &["status"]);
        let run = &status["runs"][0];
        assert_eq!(
            (&run["pool"], &run["state"]),
            (&"system".into(), &"stopped".into()),
            "{status}"
        );
        assert!(run["poolBody"]["properties"]["count"].is_number(), "{status}");
        assert_eq!(status["earlier"], Value::Array(Vec::new()));
        let (out, _) = fixture.run(0, &["status", "--exit-zero"]);
        assert!(!out.contains("The repair of pool system"), "{out}");
        for words in [&["--pool", "system"][..], &["-o", "wide"]] {
            let (out, _) = fixture.run(1, &[&["status"], words].concat());
            assert!(out.contains("✗ The repair of pool system of demo is unfinished"), "{out}");
        }
        assert_eq!((fixture.watch(&[]), fixture.watch(&["--exit-zero"])), (1, 0));
        let mut piped = self::piped(&fixture, &["status", "--watch"]);
        assert!(piped.next().unwrap().starts_with("POOL "));
        assert!(piped.next().unwrap().starts_with("system  "));
        let (_, err) = fixture.run(2, &["status", "--watch", "-o", "yaml"]);
        assert!(err.contains("--watch has no "), "{err}");

        let (out, err) = fixture.run(0, &["abort", "--yes"]);
        assert!(err.contains("       rollback           …"), "{err}");
        assert!(out.starts_with("! The repair of pool system of demo was rolled back."), "{out}");
        let (_, err) = fixture.run(0, &["resume", "--dry-run"]);
        assert!(err.ends_with("nothing to do\n"), "{err}");

        let hash = fixture.hash();
        fixture.interrupt(&["apply", "--yes", "--plan-hash", &hash], "snapshot saved");
        let status = fixture.json(1, &["status", "--all"]);
        let earlier = &status["earlier"];
        assert_eq!(earlier.as_array().unwrap().len(), 1, "{earlier}");
        assert_eq!(
            (&earlier[0]["runId"], &earlier[0]["state"]),
            (&run["runId"], &"aborted".into())
        );
        let (out, _) = fixture.run(1, &["status", "--all"]);
        let row = out.lines().last().unwrap();
        assert!(row.starts_with("system  ") && row.contains("  aborted  "), "{out}");
    }
}
