//! Tests of `mooring controller`, `why` and `fleet` against `mooring sim`, with its env.sh sourced.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::controller::{
    Process, controller, delete_nodeclaim, get, run, simulate, sourced, wait_for,
};
use crate::common::schema::assert_valid;
use crate::common::{Terminal, text};

#[test]
fn fleet_and_status_work_without_a_controller() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    // The nodes name subscription and resource group.
    let mut unnamed = sourced(&sim);
    for name in ["SUBSCRIPTION_ID", "RESOURCE_GROUP", "CLUSTER_NAME", "AZURE_NODE_RESOURCE_GROUP"] {
        unnamed.env_remove(name);
    }
    let status = unnamed.args(["status", "-o", "json"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((status.status.code(), &shown["schema"]), (Some(1), &"mooring.status/v1".into()));
    assert_valid(&shown);
    assert_eq!(shown["findings"][0]["kind"], "image-fails", "{shown}");
    assert_eq!(shown["controller"]["state"], "not-running", "{shown}");
    let pool = &shown["pools"][0];
    assert_eq!(
        (&pool["name"], &pool["ready"], &pool["failed"], &pool["state"]),
        (&"default".into(), &5.into(), &5.into(), &"image-fails".into()),
        "{shown}"
    );
    let zero = run(&sim, &["status", "--exit-zero", "-o", "name"]);
    assert_eq!(
        (zero.status.code(), text(&zero.stdout).as_str()),
        (Some(0), "default\nsystem\nuser\n")
    );
    // Discovery: the cluster of the nodes, also if variables name another one.
    assert!(shown["cluster"]["id"].as_str().unwrap().ends_with("/managedClusters/demo"), "{shown}");
    let mut quiet = sourced(&sim);
    let quiet = quiet.env("CLUSTER_NAME", "other").args(["status", "-q"]).output().unwrap();
    assert_eq!(text(&quiet.stderr), "");
    let blind = run(&sim, &["fleet", "--azure", "never"]);
    let shown = text(&blind.stdout);
    assert!(shown.contains("no failure record") && !shown.contains("OrasBinaryMissing"), "{shown}");
}

#[test]
fn cluster_of_the_controller_is_found_from_its_nodes() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let unnamed = || {
        let mut command = controller(&sim, "off");
        for name in
            ["SUBSCRIPTION_ID", "RESOURCE_GROUP", "CLUSTER_NAME", "AZURE_NODE_RESOURCE_GROUP"]
        {
            command.env_remove(name);
        }
        command.args(["--context", "demo"]);
        command
    };
    // A pipe gets JSON, a terminal gets text.
    let mut child = unnamed().stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let _process = Process(child);
    let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(line["message"], "found the cluster from its nodes");
    assert_eq!(line["resourceGroupName"], "mc_rg-demo_demo_westeurope");
    assert!(line["cluster"].as_str().unwrap().ends_with("/managedClusters/demo"), "{line}");
    let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(line["message"], "starting controller");
    let mut terminal = Terminal::start(&mut unnamed(), 200);
    terminal.wait_for(" INFO found the cluster from its nodes subscription=");
    let mut json = Terminal::start(unnamed().args(["--log-format", "json"]), 200);
    json.wait_for("\"message\":\"starting controller\"");
}

#[test]
fn closed_stderr_ends_no_command() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let mut process = Process(controller(&sim, "off").stderr(Stdio::piped()).spawn().unwrap());
    let mut log = BufReader::new(process.0.stderr.take().unwrap());
    log.read_line(&mut String::new()).unwrap();
    drop(log);
    let ended = Command::new("kill").arg(process.0.id().to_string()).status().unwrap();
    assert!(ended.success());
    let status = wait_for("end", || process.0.try_wait().unwrap());
    assert_eq!(status.code(), Some(0), "it logs until its end");

    let mut child = sourced(&sim).args(["explain", "NoSuchCause"]).stderr(Stdio::piped()).spawn();
    let child = child.as_mut().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

mod slow {
    use super::*;

    #[test]
    fn controller_runs_with_env_sh_and_stops_on_sigterm() {
        let state = tempfile::tempdir().unwrap();
        let sim = simulate(state.path());
        let mut process = Process(controller(&sim, "off").stderr(Stdio::piped()).spawn().unwrap());
        let mut log = BufReader::new(process.0.stderr.take().unwrap());
        let mut line = String::new();
        let started: Value = loop {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "the controller exited");
            let line: Value = serde_json::from_str(&line).unwrap();
            if line["message"] == "starting controller" {
                break line;
            }
        };
        // Drains the pipe; a full pipe would block the controller.
        let reader = std::thread::spawn(move || {
            let mut rest = String::new();
            let _ = log.read_to_string(&mut rest);
            rest
        });
        let (metrics, health) =
            (started["metrics"].as_str().unwrap(), started["health"].as_str().unwrap());
        wait_for("ready page", || get(health, "/readyz").starts_with("HTTP/1.1 200").then_some(()));
        assert!(get(health, "/healthz").ends_with("ok\n"));
        let table = wait_for("table with five failures", || {
            let fleet = run(&sim, &["fleet", "-o", "json"]);
            let table: Value = serde_json::from_slice(&fleet.stdout).ok()?;
            (table["rows"][0]["here"]["failed"] == 5).then_some(table)
        });
        assert_eq!(
            (&table["rows"][0]["image"], &table["rows"][0]["cause"]),
            (&"AKSAzureLinux/V3gen2/202601.27.0".into(), &"OrasBinaryMissing".into())
        );
        assert_eq!(table["rows"][0]["here"]["nodes"], 5, "{table}");
        assert!(
            table["findings"][0]["message"]
                .as_str()
                .unwrap()
                .contains("fails with OrasBinaryMissing on 5 of 5 nodes, other images on 0 of 10.")
        );
        let failures = "mooring_cse_failures_total{code=\"211\",reason=\"OrasBinaryMissing\",nodepool=\"default\",image=\"AKSAzureLinux/V3gen2/202601.27.0\"} 5";
        wait_for("five failures in the leader's metrics", || {
            let shown = get(metrics, "/metrics");
            (shown.contains(failures) && shown.contains("mooring_leader 1")).then_some(())
        });
        delete_nodeclaim(&sim, "default-bad2");
        let gone = run(&sim, &["why", "default-bad2"]);
        let shown = text(&gone.stdout);
        assert_eq!(gone.status.code(), Some(1), "{shown} {}", text(&gone.stderr));
        assert!(shown.contains("✗ default-bad2 did not join demo: oras is missing"), "{shown}");
        assert!(
            shown.contains("NodePool default, node aks-default-bad2, image 202601.27.0"),
            "{shown}"
        );
        assert!(shown.contains("; Azure not asked"), "{shown}");
        let ended = Command::new("kill").arg(process.0.id().to_string()).status().unwrap();
        assert!(ended.success());
        let status = wait_for("end", || process.0.try_wait().unwrap());
        assert_eq!(status.code(), Some(0));
        let rest = reader.join().unwrap();
        assert!(rest.contains("released lease"), "{rest}");
        assert!(rest.contains("\"NodeClaim\":\"default-bad1\""), "{rest}");
    }

    /// Golden files have its screens.
    #[test]
    fn every_name_of_a_node_gives_the_same_answer() {
        let state = tempfile::tempdir().unwrap();
        let sim = simulate(state.path());
        let json = |words: &[&str]| -> (Option<i32>, Value) {
            let output = run(&sim, &[&["why"], words, &["-o", "json"]].concat());
            let document = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{words:?}: {}", text(&output.stderr)));
            assert_valid(&document);
            (output.status.code(), document)
        };
        let expected = json(&["default-bad1"]).1;
        let diagnosis = &expected["diagnoses"][0];
        assert_eq!(
            (&diagnosis["code"], &diagnosis["os"], &diagnosis["cause"], &diagnosis["owner"]),
            (&232.into(), &"linux".into(), &"OrasBinaryMissing".into(), &"image".into()),
        );
        for what in ["aks-default-bad1", "default/default-bad1"] {
            let (code, shown) = json(&[what]);
            assert_eq!((code, &shown["nodes"]), (Some(1), &expected["nodes"]), "{what}");
        }
        for what in ["default-good1", "aks-default-good1", "system/0"] {
            let (code, shown) = json(&[what]);
            assert_eq!(code, Some(0), "{what}: {shown}");
            assert_eq!(shown["nodes"][0]["hasJoined"], true, "{shown}");
            let (name, state) = (&shown["sources"][2]["name"], &shown["sources"][2]["state"]);
            assert_eq!((name, state), (&"azure".into(), &"not-asked".into()), "{shown}");
        }
        let (code, shown) = json(&["system"]);
        assert_eq!((code, &shown["joined"]), (Some(0), &3.into()), "{shown}");
        assert_eq!(shown["subject"]["kind"], "aks-pool");
        // Equal failures are one group, in a pool and in the cluster.
        for words in [&["default"][..], &[]] {
            let (code, shown) = json(words);
            let groups = shown["diagnoses"].as_array().unwrap();
            let failed = &groups[0]["failed"];
            assert_eq!((code, groups.len(), failed), (Some(1), 1, &5.into()), "{shown}");
            assert_eq!((&shown["failed"], &shown["joining"]), (&5.into(), &0.into()), "{shown}");
        }
        let listed = text(&run(&sim, &["why", "-o", "name"]).stdout);
        let is_failed = |line: &&str| line.starts_with("nodeclaim.karpenter.sh/default-bad");
        assert_eq!(listed.lines().filter(is_failed).count(), 5, "{listed}");
        let markdown = text(&run(&sim, &["why", "default", "-o", "markdown"]).stdout);
        assert!(markdown.contains("- **5 × OrasBinaryMissing**: oras is missing"), "{markdown}");
    }
}
