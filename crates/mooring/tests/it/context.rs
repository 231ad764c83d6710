//! Tests of `--context`: which cluster a command reads or changes.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{Sim, Terminal, text, wait};
use serde_json::Value;

const NAMES: [&str; 4] =
    ["SUBSCRIPTION_ID", "RESOURCE_GROUP", "CLUSTER_NAME", "AZURE_NODE_RESOURCE_GROUP"];

/// Returns a command that no variable names a cluster for, except `cluster`.
fn command(sim: &Sim, home: &Path, cluster: Option<&str>, args: &[&str]) -> Command {
    let mut command = crate::common::mooring();
    command.env_clear().envs(sim.environment()).env("HOME", home).args(args);
    for name in NAMES {
        command.env_remove(name);
    }
    command.envs(cluster.map(|cluster| ("CLUSTER_NAME", cluster)));
    command
}

fn run(sim: &Sim, home: &Path, cluster: Option<&str>, args: &[&str]) -> Output {
    command(sim, home, cluster, args).output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

fn write_config(home: &Path, text: &str) {
    let directory = home.join(".config/mooring");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.yaml"), text).unwrap();
}

const WEDGED: [&str; 6] =
    ["--scenario", "wedged-system-pool", "--kube-port", "0", "--speed", "600"];

#[test]
fn change_is_refused_if_two_clusters_are_named() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &WEDGED);
    let home = state.path();
    let hash = format!("20991115T113000Z.{}", "a".repeat(64));
    let apply = ["repair", "apply", "--context", "demo", "--yes", "--plan-hash", &hash];
    let finalizers = ["finalizers", "apply", "--context", "demo", "--yes", "--plan-hash", &hash];
    for words in [&apply[..], &finalizers] {
        let refused = run(&sim, home, Some("other"), words);
        let shown = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{words:?} {shown}");
        assert!(shown.contains("two clusters: ") && shown.contains("cluster other"), "{shown}");
    }
    let unknown = run(&sim, home, None, &["repair", "detect", "--context", "dmo"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("did you mean `demo`?"), "{}", text(&unknown.stderr));

    write_config(home, "contexts: {demo: {protected: true, namespace: ops}}\n");
    for words in [&apply[..], &finalizers] {
        let refused = run(&sim, home, None, words);
        let shown = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{words:?} {shown}");
        assert!(shown.contains("context demo is protected"), "{shown}");
    }
    let status = run(&sim, home, None, &["status", "-o", "json"]);
    let shown: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(shown["controller"]["namespace"], "ops");
    let doctor = run(&sim, home, None, &["doctor", "config", "--azure", "never"]);
    let shown = text(&doctor.stdout);
    assert!(shown.contains("config.yaml: cluster none, namespace ops, protected true"), "{shown}");
    write_config(home, "contexts: {demo: {protect: true}}\n");
    assert_eq!(run(&sim, home, None, &["status"]).status.code(), Some(2));
    let doctor = run(&sim, home, None, &["doctor", "config", "--azure", "never"]);
    assert_eq!(doctor.status.code(), Some(1), "{}", text(&doctor.stdout));
    let file = home.join(".config/mooring/config.yaml");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(run(&sim, home, None, &["status"]).status.code(), Some(2), "it is not a file");
}

#[test]
fn read_warns_about_another_node_resource_group_or_name() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &WEDGED);
    let group =
        "warning: flags or variables name node resource group mc_other, and the nodes are in ";
    let cluster = "warning: flags or variables name cluster other in ";
    let by_variable = command(&sim, state.path(), None, &["status"])
        .env("AZURE_NODE_RESOURCE_GROUP", "mc_other")
        .output()
        .unwrap();
    let words = ["why", "system", "--node-resource-group", "mc_other"];
    let by_flag = run(&sim, state.path(), None, &words);
    let plan = run(&sim, state.path(), Some("other"), &["finalizers", "plan"]);
    let status = run(&sim, state.path(), Some("other"), &["finalizers", "status"]);
    for (output, warning) in
        [(by_variable, group), (by_flag, group), (plan, cluster), (status, cluster)]
    {
        let messages = text(&output.stderr);
        assert_eq!(messages.matches(warning).count(), 1, "{messages}");
        assert!(messages.contains("; this is about the cluster of the nodes\n"), "{messages}");
    }
    let hash = format!("20991115T113000Z.{}", "a".repeat(64));
    for workflow in ["repair", "finalizers"] {
        let words = [workflow, "apply", "--context", "demo", "--yes", "--plan-hash", &hash];
        let refused = command(&sim, state.path(), None, &words)
            .env("AZURE_NODE_RESOURCE_GROUP", "mc_other")
            .output()
            .unwrap();
        let messages = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{messages}");
        assert!(messages.contains("two clusters: flags or variables name node resource group"));
    }
}

#[test]
fn cluster_flags_before_the_command_are_accepted() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &WEDGED);
    let words = ["--context", "demo", "-n", "ops", "status", "-o", "json", "--azure", "never"];
    let shown = document(&run(&sim, state.path(), None, &words));
    assert_eq!(shown["cluster"]["context"], "demo");
    assert_eq!(shown["controller"]["namespace"], "ops");
    let unknown = run(&sim, state.path(), None, &["--context", "dmo", "repair", "detect"]);
    assert!(text(&unknown.stderr).contains("did you mean `demo`?"), "{}", text(&unknown.stderr));
}

#[test]
fn kubeconfigs_of_a_list_may_be_missing() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &WEDGED);
    let list = format!("/nowhere/a:{}:/nowhere/b", sim.variable("KUBECONFIG"));
    let mut status = command(&sim, state.path(), None, &["status", "--azure", "never"]);
    let shown = status.env("KUBECONFIG", list).output().unwrap();
    assert!(matches!(shown.status.code(), Some(0 | 1)), "{}", text(&shown.stderr));
    let words = ["status", "--kubeconfig", "/nowhere/a"];
    assert_eq!(run(&sim, state.path(), None, &words).status.code(), Some(3));
}

#[test]
fn hanging_credential_plugin_ends_with_the_timeout() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &WEDGED);
    let file = state.path().join("exec.yaml");
    let config = "current-context: c\nclusters: [{name: p, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: p, user: u}}]\nusers: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, 'sleep 600; true']}}}]\n";
    std::fs::write(&file, config).unwrap();
    let mut status = command(&sim, state.path(), None, &["status", "--timeout", "1s"]);
    status.env("KUBECONFIG", &file).env("PATH", "/usr/bin:/bin");
    status.stdout(Stdio::piped()).stderr(Stdio::piped());
    // Its stderr ends only when the plugin ends.
    let ended = wait(status.spawn().unwrap(), Duration::from_mins(2));
    assert_eq!(ended.status.code(), Some(3), "{}", text(&ended.stderr));
}

#[test]
fn found_cluster_is_kept_for_a_day() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &WEDGED);
    let home = state.path();
    let detect = || {
        let words = ["repair", "detect", "--context", "demo", "-o", "json"];
        run(&sim, home, None, &words)
    };
    assert_eq!(document(&detect())["cluster"]["name"], "demo");
    let directory = home.join(".cache/mooring");
    let files: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|file| file.unwrap()).collect();
    assert_eq!(files.len(), 1);
    let file = files[0].path();
    let kept = std::fs::read_to_string(&file).unwrap();
    let mut entry: Value = serde_json::from_str(&kept).unwrap();
    // A name that Azure does not have shows that the file is used.
    entry["id"] = entry["id"].as_str().unwrap().replace("Clusters/demo", "Clusters/kept").into();
    std::fs::write(&file, entry.to_string()).unwrap();
    let used = detect();
    assert_eq!(used.status.code(), Some(3), "{}", text(&used.stdout));
    assert!(text(&used.stderr).contains("kept"), "{}", text(&used.stderr));
    entry["foundAt"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&file, entry.to_string()).unwrap();
    assert_eq!(document(&detect())["cluster"]["name"], "demo", "it is too old");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(kept["id"].as_str().unwrap().ends_with("/demo"), "{kept}");
}

#[test]
fn completions_of_bash_have_names_of_the_cluster() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &WEDGED);
    let listed = |what: &str| text(&run(&sim, state.path(), None, &["complete", what]).stdout);
    assert_eq!(listed("pools"), "default\nsystem\nuser\n");
    let other = run(&sim, state.path(), None, &["complete", "pools", "--", "--context", "none"]);
    assert_eq!(text(&other.stdout), "", "no such context");
    let nodes = listed("nodes");
    assert!(
        nodes.starts_with("aks-system-") && nodes.ends_with("\ndefault\nsystem\nuser\n"),
        "{nodes}"
    );
    let script = run(&sim, state.path(), None, &["completions", "bash"]);
    let file = state.path().join("mooring.bash");
    std::fs::write(&file, &script.stdout).unwrap();
    let binary = crate::common::mooring();
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
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _mooring_names mooring \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let mut bash = Command::new("bash");
        bash.env_clear().envs(sim.environment()).env("PATH", format!("{binary}:/usr/bin:/bin"));
        let shown = bash.args(["-c", &complete]).output().unwrap();
        let (names, messages) = (text(&shown.stdout), text(&shown.stderr));
        assert!(
            names.split_whitespace().any(|name| name == expected),
            "{words}: {names}{messages}"
        );
    }
}

#[test]
fn kubeconfig_of_another_cluster_is_refused() {
    let state = tempfile::tempdir().unwrap();
    let (home, other) = (state.path(), state.path().join("other"));
    let sim = Sim::start(&home.join("sim"), &WEDGED);
    let _other = Sim::start(&other, &["--scenario", "healthy", "--kube-port", "0", "--seed", "7"]);
    let hash = format!("20991115T113000Z.{}", "a".repeat(64));
    let apply = ["repair", "apply", "--yes", "--plan-hash", &hash];
    let reads = [&["repair", "detect"][..], &["repair", "plan"], &["repair", "status"]];
    let file = other.join("kubeconfig");
    for words in reads.into_iter().chain([&apply[..]]) {
        let words = [words, &["--kubeconfig", file.to_str().unwrap()]].concat();
        let output = run(&sim, home, Some("demo"), &words);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{words:?} {shown}");
        assert!(shown.contains("are two clusters: the uids of kube-system differ"), "{shown}");
    }
    let own = sim.variable("KUBECONFIG");
    let plan = run(&sim, home, None, &["repair", "plan", "--kubeconfig", &own, "-o", "json"]);
    assert_eq!(plan.status.code(), Some(0), "{}", text(&plan.stderr));
    assert_eq!(document(&plan)["cluster"]["context"], "demo");
}

#[test]
fn current_context_is_used_if_nothing_names_a_cluster() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &WEDGED);
    let detect = run(&sim, state.path(), None, &["repair", "detect", "-o", "json"]);
    assert_eq!(detect.status.code(), Some(1), "{}", text(&detect.stderr));
    let shown = document(&detect);
    let id = shown["cluster"]["id"].as_str().unwrap_or_default();
    assert!(id.ends_with("/managedClusters/demo"), "{shown}");
    let hash = format!("20991115T113000Z.{}", "a".repeat(64));
    for words in [
        &["repair", "apply", "--yes", "--plan-hash", &hash][..],
        &["repair", "resume", "--yes"],
        &["repair", "abort", "--yes"],
    ] {
        let refused = run(&sim, state.path(), None, words);
        let shown = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{words:?} {shown}");
        assert!(shown.contains("the current context is not enough"), "{shown}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn protected_context_is_confirmed_even_with_a_hash() {
        let state = tempfile::tempdir().unwrap();
        let sim = Sim::start(&state.path().join("sim"), &WEDGED);
        let home = state.path();
        write_config(home, "contexts: {demo: {protected: true}}\n");
        let plan = run(&sim, home, None, &["repair", "plan", "--context", "demo", "-o", "json"]);
        let hash = document(&plan)["hash"].as_str().unwrap().to_owned();
        let words = ["repair", "apply", "--context", "demo", "--yes", "--plan-hash", &hash];
        let start = || Terminal::start(&mut command(&sim, home, None, &words), 120);
        for (name, is_confirmed) in [("system", false), ("demo/system", true)] {
            let mut terminal = start();
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
        let state = tempfile::tempdir().unwrap();
        let sim = Sim::start(&state.path().join("sim"), &WEDGED);
        let config = std::fs::read(sim.variable("KUBECONFIG")).unwrap();
        let config: Value = serde_json::from_slice(&config).unwrap();
        let file = state.path().join("kubeconfig");
        let shown = |config: &Value, words: &[&str]| {
            std::fs::write(&file, config.to_string()).unwrap();
            let output =
                command(&sim, state.path(), None, words).env("KUBECONFIG", &file).output().unwrap();
            (output.status.code(), text(&output.stdout) + &text(&output.stderr))
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
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("UnknownIssuer") && !text.contains("VPN"), "{text}");
        assert!(text.contains("hint: the server's certificate is not of the CA"), "{text}");
        let mut rejected = config.clone();
        rejected["users"][0]["user"] = serde_json::json!({"token": "wrong"});
        let (code, text) = shown(&rejected, &["status"]);
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("(context demo) rejected the credentials"), "{text}");
        assert!(text.contains("az login") && !text.contains("can-i"), "{text}");
        // Checks that need the cluster are listed.
        let words = ["doctor", "--azure", "never"];
        let (_, text) = shown(&server("https://127.0.0.1:1"), &words);
        for label in ["Which AKS   ", "Karpenter   ", "Controller  ", "Clock       "] {
            assert!(
                text.contains(&format!("{label}– not checked: the cluster cannot be read")),
                "{text}"
            );
        }
    }

    #[test]
    fn read_warns_and_uses_the_nodes_cluster_if_two_are_named() {
        let state = tempfile::tempdir().unwrap();
        let sim = Sim::start(&state.path().join("sim"), &WEDGED);
        for command in ["detect", "plan", "status"] {
            let words = ["repair", command, "--context", "demo", "-o", "json"];
            let same = run(&sim, state.path(), None, &words);
            assert!(!text(&same.stderr).contains("warning"), "{}", text(&same.stderr));
            let by_variable = run(&sim, state.path(), Some("other"), &words);
            let by_flag =
                run(&sim, state.path(), None, &[&words[..], &["--cluster", "other"]].concat());
            for output in [&by_variable, &by_flag] {
                let (shown, messages) = (document(output), text(&output.stderr));
                let id = shown["cluster"]["id"].as_str().unwrap_or_default();
                assert!(id.ends_with("/managedClusters/demo"), "{command}: {shown}");
                assert!(
                    messages.contains("warning: flags or variables name cluster other"),
                    "{messages}"
                );
                assert_eq!(output.status.code(), same.status.code(), "{command}: {messages}");
            }
        }
    }
}
