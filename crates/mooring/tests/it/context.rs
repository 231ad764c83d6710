//! Tests of `--context`: which cluster a command reads or changes.

use std::path::Path;
use std::process::Command;

use crate::common::{Lab, Terminal, alone, end, mooring};
use serde_json::Value;

const NAMES: [&str; 4] =
    ["SUBSCRIPTION_ID", "RESOURCE_GROUP", "CLUSTER_NAME", "AZURE_NODE_RESOURCE_GROUP"];

/// The form of a plan hash; no plan has it.
const HASH: &str =
    "20991115T113000Z.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn start() -> Lab {
    Lab::fast("wedged-system-pool")
}

/// Returns a command that no variable names a cluster for.
fn command(lab: &Lab, words: &[&str]) -> Command {
    let mut command = lab.command(words);
    for name in NAMES {
        command.env_remove(name);
    }
    command
}

fn run(lab: &Lab, words: &[&str]) -> (i32, String, String) {
    end(&mut command(lab, words))
}

/// Returns the same with a variable.
fn run_with(lab: &Lab, variable: (&str, &str), words: &[&str]) -> (i32, String, String) {
    end(command(lab, words).env(variable.0, variable.1))
}

fn json(lab: &Lab, words: &[&str]) -> Value {
    let (_, out, err) = run(lab, &[words, &["-o", "json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{words:?}: {out}{err}"))
}

/// Returns the words of `apply` with an approval.
fn apply<'a>(workflow: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[workflow, "apply", "--yes", "--plan-hash", HASH], more].concat()
}

/// Fails unless a command changed nothing, and said why.
fn assert_refused((code, out, err): (i32, String, String), parts: &[&str]) {
    assert_eq!((code, out.as_str()), (4, ""), "{err}");
    for part in parts {
        assert!(err.contains(part), "{part}: {err}");
    }
}

fn write_config(home: &Path, text: &str) {
    let directory = home.join(".config/mooring");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.yaml"), text).unwrap();
}

#[test]
fn two_clusters_are_a_warning_for_a_read_and_refused_for_a_change() {
    let lab = start();
    let group = ("AZURE_NODE_RESOURCE_GROUP", "mc_other");
    let cluster = ("CLUSTER_NAME", "other");
    let (by_group, by_name) = (
        "flags or variables name node resource group mc_other, and the nodes are in ",
        "flags or variables name cluster other in ",
    );
    let flag = &["why", "system", "--node-resource-group", "mc_other"];
    for (ended, warning) in [
        (run_with(&lab, group, &["status"]), by_group),
        (run(&lab, flag), by_group),
        (run_with(&lab, cluster, &["finalizers", "plan"]), by_name),
        (run_with(&lab, cluster, &["finalizers", "status"]), by_name),
        (run(&lab, &["repair", "detect", "--context", "demo", "--cluster", "other"]), by_name),
    ] {
        let messages = ended.2;
        assert_eq!(messages.matches(&format!("warning: {warning}")).count(), 1, "{messages}");
        assert!(messages.contains("; this is about the cluster of the nodes\n"), "{messages}");
    }
    let (_, out, err) = run_with(&lab, cluster, &["repair", "plan", "--context", "demo"]);
    assert!(out.contains("of demo"), "{out}{err}");
    for workflow in ["repair", "finalizers"] {
        let words = apply(workflow, &["--context", "demo"]);
        assert_refused(run_with(&lab, cluster, &words), &["two clusters: ", "cluster other"]);
        assert_refused(run_with(&lab, group, &words), &["two clusters: flags or variables name"]);
    }
}

#[test]
fn configuration_of_a_context_is_used_and_checked() {
    let lab = start();
    let home = lab.home.path();
    write_config(home, "contexts: {demo: {protected: true, namespace: ops}}\n");
    for workflow in ["repair", "finalizers"] {
        let words = apply(workflow, &["--context", "demo"]);
        assert_refused(run(&lab, &words), &["context demo is protected"]);
    }
    assert_eq!(json(&lab, &["status"])["controller"]["namespace"], "ops");
    let doctor = ["doctor", "config", "--azure", "never"];
    let shown = run(&lab, &doctor).1;
    assert!(shown.contains("config.yaml: cluster none, namespace ops, protected true"), "{shown}");
    write_config(home, "contexts: {demo: {protect: true}}\n");
    assert_eq!(run(&lab, &["status"]).0, 2);
    assert_eq!(run(&lab, &doctor).0, 1);
    let file = home.join(".config/mooring/config.yaml");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(run(&lab, &["status"]).0, 2, "it is not a file");
}

#[test]
fn cluster_flags_before_the_command_are_accepted() {
    let lab = start();
    let words = ["--context", "demo", "-n", "ops", "status", "--azure", "never"];
    let shown = json(&lab, &words);
    assert_eq!(shown["cluster"]["context"], "demo");
    assert_eq!(shown["controller"]["namespace"], "ops");
    let (code, _, err) = run(&lab, &["--context", "dmo", "repair", "detect"]);
    assert!(code == 2 && err.contains("did you mean `demo`?"), "{err}");
    // Files of a list may be missing.
    let list = format!("/nowhere/a:{}:/nowhere/b", lab.sim.variable("KUBECONFIG"));
    let (code, _, err) = run_with(&lab, ("KUBECONFIG", &list), &["status", "--azure", "never"]);
    assert!(matches!(code, 0 | 1), "{err}");
    assert_eq!(run(&lab, &["status", "--kubeconfig", "/nowhere/a"]).0, 3);
}

#[test]
fn hanging_credential_plugin_ends_with_the_timeout() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("exec.yaml");
    let config = "current-context: c\nclusters: [{name: p, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: p, user: u}}]\nusers: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, 'sleep 600; true']}}}]\n";
    std::fs::write(&file, config).unwrap();
    let mut status = alone(home.path(), &["status", "--timeout", "1s"]);
    // Its stderr ends only when the plugin ends.
    let (code, _, err) = end(status.env("KUBECONFIG", &file).env("PATH", "/usr/bin:/bin"));
    assert_eq!(code, 3, "{err}");
}

#[test]
fn found_cluster_is_kept_for_a_day() {
    let lab = start();
    let detect = ["repair", "detect", "--context", "demo"];
    assert_eq!(json(&lab, &detect)["cluster"]["name"], "demo");
    let directory = lab.home.path().join(".cache/mooring");
    let files: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|file| file.unwrap()).collect();
    assert_eq!(files.len(), 1);
    let file = files[0].path();
    let read = || serde_json::from_str::<Value>(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let mut entry = read();
    // A name that Azure does not have shows that the file is used.
    entry["id"] = entry["id"].as_str().unwrap().replace("Clusters/demo", "Clusters/kept").into();
    std::fs::write(&file, entry.to_string()).unwrap();
    let (code, _, err) = run(&lab, &detect);
    assert!(code == 3 && err.contains("kept"), "{err}");
    entry["foundAt"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&file, entry.to_string()).unwrap();
    assert_eq!(json(&lab, &detect)["cluster"]["name"], "demo", "it is too old");
    assert!(read()["id"].as_str().unwrap().ends_with("/demo"));
}

#[test]
fn completions_of_bash_have_names_of_the_cluster() {
    let lab = start();
    let listed = |words: &[&str]| run(&lab, &[&["complete"], words].concat()).1;
    assert_eq!(listed(&["pools"]), "default\nsystem\nuser\n");
    assert_eq!(listed(&["pools", "--", "--context", "none"]), "", "no such context");
    let nodes = listed(&["nodes"]);
    assert!(nodes.starts_with("aks-system-"), "{nodes}");
    assert!(nodes.ends_with("\ndefault\nsystem\nuser\n"), "{nodes}");
    let file = lab.path("mooring.bash");
    std::fs::write(&file, run(&lab, &["completions", "bash"]).1).unwrap();
    let binary = mooring();
    let binary = Path::new(binary.get_program()).parent().unwrap().to_str().unwrap().to_owned();
    for (words, expected) in [
        ("mooring status --context de", "demo"),
        ("mooring why syst", "system"),
        ("mooring explain OrasBin", "OrasBinaryMissing"),
        ("mooring stat", "status"),
        ("mooring why -o json syst", "system"),
        ("mooring why --context demo ''", "system"),
        ("mooring why --context = demo syst", "system"),
        ("mooring explain -o json OrasBin", "OrasBinaryMissing"),
        ("mooring fleet --pool = syst", "system"),
        ("mooring schema mooring.wh", "mooring.why/v1"),
        ("mooring fleet --image ''", "202601.13.0"),
        ("mooring why -o js", "json"),
    ] {
        let complete = format!(
            "source {file}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _mooring_names mooring \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        bash.env_clear().envs(lab.sim.environment()).env("PATH", format!("{binary}:/usr/bin:/bin"));
        let shown = bash.args(["-c", &complete]).output().unwrap();
        let (_, names, messages) = crate::common::result(&shown);
        let has_name = names.split_whitespace().any(|name| name == expected);
        assert!(has_name, "{words}: {names}{messages}");
    }
}

#[test]
fn kubeconfig_of_another_cluster_is_refused() {
    let lab = start();
    let other = Lab::start("healthy", &["--seed", "7"]);
    let file = other.sim.variable("KUBECONFIG");
    let named = ("CLUSTER_NAME", "demo");
    let reads = [vec!["repair", "detect"], vec!["repair", "plan"], vec!["repair", "status"]];
    for words in reads.into_iter().chain([apply("repair", &[])]) {
        let words = [&words[..], &["--kubeconfig", &file]].concat();
        let ended = run_with(&lab, named, &words);
        assert_refused(ended, &["are two clusters: the uids of kube-system differ"]);
    }
    let own = lab.sim.variable("KUBECONFIG");
    let plan = json(&lab, &["repair", "plan", "--kubeconfig", &own]);
    assert_eq!(plan["cluster"]["context"], "demo");
}

#[test]
fn current_context_is_enough_for_reads_only() {
    let lab = start();
    let shown = json(&lab, &["repair", "detect"]);
    let id = shown["cluster"]["id"].as_str().unwrap_or_default();
    assert!(id.ends_with("/managedClusters/demo"), "{shown}");
    for words in
        [apply("repair", &[]), vec!["repair", "resume", "--yes"], vec!["repair", "abort", "--yes"]]
    {
        assert_refused(run(&lab, &words), &["the current context is not enough"]);
    }
    // The default kubeconfig: `finalizers` takes the cluster that KUBECONFIG names.
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".kube")).unwrap();
    std::fs::copy(lab.sim.variable("KUBECONFIG"), home.path().join(".kube/config")).unwrap();
    let run = |words: &[&str]| end(&mut alone(home.path(), words));
    let (code, _, err) = run(&["finalizers", "plan"]);
    assert_eq!(code, 0, "reading goes by the context: {err}");
    assert_refused(run(&apply("finalizers", &[])), &["requires a named cluster"]);
}

mod slow {
    use super::*;

    #[test]
    fn protected_context_is_confirmed_even_with_a_hash() {
        let lab = start();
        write_config(lab.home.path(), "contexts: {demo: {protected: true}}\n");
        let plan = json(&lab, &["repair", "plan", "--context", "demo"]);
        let hash = plan["hash"].as_str().unwrap();
        let words = ["repair", "apply", "--context", "demo", "--yes", "--plan-hash", hash];
        for (name, is_confirmed) in [("system", false), ("demo/system", true)] {
            let mut terminal = Terminal::start(&mut command(&lab, &words), 120);
            terminal.wait_for("Type demo/system to continue: ");
            assert!(!terminal.shown().contains("1/16"), "{}", terminal.shown());
            terminal.type_keys(&format!("{name}\n"));
            if is_confirmed {
                terminal.wait_for("snapshot");
                continue;
            }
            let (code, shown) = terminal.end();
            assert_eq!(code, 4, "{shown}");
            assert!(shown.contains("name does not match; nothing was changed"), "{shown}");
            assert!(shown.contains("context demo is protected"), "{shown}");
        }
    }

    #[test]
    fn unreachable_server_and_rejected_credentials_have_hints() {
        let lab = start();
        let config = lab.kubeconfig();
        let shown = |config: &Value, words: &[&str]| {
            let file = lab.write_kubeconfig(config);
            let (code, out, err) = run_with(&lab, ("KUBECONFIG", &file), words);
            (code, out + &err)
        };
        let server = |url: &str| {
            let mut config = config.clone();
            config["clusters"][0]["cluster"]["server"] = url.into();
            config
        };
        for url in ["https://127.0.0.1:1", "https://nowhere.invalid:443"] {
            for words in
                [&["status"][..], &["why", "x"], &["doctor", "cluster", "--azure", "never"]]
            {
                let (_, shown) = shown(&server(url), words);
                assert!(shown.contains(&format!("cannot reach {url} (context demo): ")), "{shown}");
                assert!(shown.contains("`kubectl --context demo get --raw /readyz`"), "{shown}");
                assert!(!shown.contains("can-i"), "{shown}");
            }
        }
        let mut untrusted = config.clone();
        let cluster = untrusted["clusters"][0]["cluster"].as_object_mut().unwrap();
        cluster.retain(|name, _| !name.starts_with("certificate-authority"));
        let (code, text) = shown(&untrusted, &["status"]);
        assert_eq!(code, 3, "{text}");
        assert!(text.contains("UnknownIssuer") && !text.contains("VPN"), "{text}");
        assert!(text.contains("hint: the server's certificate is not of the CA"), "{text}");
        let mut rejected = config.clone();
        rejected["users"][0]["user"] = serde_json::json!({"token": "wrong"});
        for words in [&["status"][..], &["finalizers", "plan"], &["ui", "--no-browser"]] {
            let (code, text) = shown(&rejected, words);
            assert!(code == 3 && !text.contains('✓'), "{text}");
            assert!(text.contains("az login") && !text.contains("can-i"), "{text}");
        }
        // Checks that need the cluster are listed.
        let (_, text) = shown(&server("https://127.0.0.1:1"), &["doctor", "--azure", "never"]);
        for label in ["Which AKS   ", "Karpenter   ", "Controller  ", "Clock       "] {
            let line = format!("{label}– not checked: the cluster cannot be read");
            assert!(text.contains(&line), "{text}");
        }
    }
}
