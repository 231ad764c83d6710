//! Tests of `mooring-lab sim` with the built binary.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use mooring_testbed::command::result;
use mooring_testbed::simulation::{Sim, send_with};

use crate::lab;

fn start(state: &Path, flags: &[&str]) -> Sim {
    Sim::spawn(Path::new(crate::LAB), state, flags)
}

fn send(sim: &Sim, state: &Path, head: &str, body: &str) -> String {
    send_with(sim, state, head, &format!("Host: 127.0.0.1:{}", sim.port), body)
}

#[test]
fn sim_writes_files_serves_and_stops_on_sigterm() {
    let state = tempfile::tempdir().unwrap();
    let state = state.path().join("new");
    let mut sim = start(&state, &["--scenario", "oras-missing"]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&state), mode(&state.join("env.sh"))), (0o700, 0o600));
    let environment = std::fs::read_to_string(state.join("env.sh")).unwrap();
    assert!(
        environment.lines().skip(1).all(|line| line.starts_with("export ") && line.ends_with('\'')),
        "{environment}"
    );
    for name in [
        "AZURE_TENANT_ID",
        "AZURE_CLIENT_SECRET",
        "AZURE_AUTHORITY_HOST",
        "SUBSCRIPTION_ID",
        "RESOURCE_GROUP",
        "CLUSTER_NAME",
        "MOORING_SIM_TOKEN",
    ] {
        assert!(environment.contains(&format!("export {name}='")), "{name}");
    }

    let secret = sim.variable("AZURE_CLIENT_SECRET");
    let token = sign_in(&sim, &state, &format!("client_secret={secret}"));
    assert!(token.starts_with("HTTP/1.1 200") && token.contains("access_token"), "{token}");
    let rejected = send(&sim, &state, "GET /subscriptions?api-version=2022-12-01", "");
    assert!(rejected.starts_with("HTTP/1.1 401"), "{rejected}");
    let bearer =
        format!("Host: localhost\r\nAuthorization: Bearer {}", sim.variable("MOORING_SIM_TOKEN"));
    let inside = send_with(&sim, &state, "GET /admin/state", &bearer, "");
    assert!(inside.contains("aks-default-bad5"), "{inside}");

    let kill =
        Command::new("kill").args(["-TERM", &sim.process().id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert!(sim.process().wait().unwrap().success(), "SIGTERM is a clean exit");
}

fn sign_in(sim: &Sim, state: &Path, credential: &str) -> String {
    let form = format!(
        "grant_type=client_credentials&client_id=00000000-0000-0000-0000-00000000000c&{credential}&scope=x/.default"
    );
    send(sim, state, "POST /00000000-0000-0000-0000-00000000000a/oauth2/v2.0/token", &form)
}

#[test]
fn typo_of_a_scenario_has_a_suggestion() {
    for (command, option) in
        [("sim", "--scenario"), ("sim", "--show"), ("demo", "--scenario"), ("demo", "--show")]
    {
        let output = lab().args([command, option, "oras-mising"]).output().unwrap();
        let (code, _, err) = result(&output);
        let hint = format!(
            "hint: did you mean `oras-missing`?   mooring-lab {command} --scenario oras-missing\n"
        );
        assert!(code == 2 && err.ends_with(&hint), "{command} {option}: {err}");
    }
}

/// Another local user can connect and knows all constants of the binary, but cannot read the files.
#[test]
fn only_secrets_of_this_run_are_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("1"), directory.path().join("2"));
    let args = ["--kube-port", "0", "--karpenter", "--seed", "1"];
    let (mut sim, other) = (start(&first, &args), start(&second, &args));
    for name in ["AZURE_CLIENT_SECRET", "MOORING_SIM_TOKEN"] {
        let (one, two) = (sim.variable(name), other.variable(name));
        assert!(one.len() >= 40 && one != two, "{name}");
    }
    let kubeconfig = |state: &Path| std::fs::read_to_string(state.join("kubeconfig")).unwrap();
    assert!(!kubeconfig(&first).contains("simulated-administrator"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&first), mode(&first.join("kubeconfig"))), (0o700, 0o600));

    let assert_status = |answer: &str, status: &str| {
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    };
    let foreign = other.variable("AZURE_CLIENT_SECRET");
    for credential in [
        "client_secret=simulated-secret",
        "client_assertion=a.b.c",
        &format!("client_secret={foreign}"),
    ] {
        assert_status(&sign_in(&sim, &first, credential), "401");
    }
    let host = format!("Host: 127.0.0.1:{}", sim.port);
    for token in [
        String::new(),
        format!("\r\nAuthorization: Bearer {}", other.variable("MOORING_SIM_TOKEN")),
    ] {
        for head in
            ["GET /admin/state", "POST /admin/faults", "DELETE /admin/denials", "GET /admin/"]
        {
            assert_status(&send_with(&sim, &first, head, &format!("{host}{token}"), ""), "401");
        }
    }
    // Token of another run with the same seed.
    let secret = other.variable("AZURE_CLIENT_SECRET");
    let answer = sign_in(&other, &second, &format!("client_secret={secret}"));
    let token = answer.split("\"access_token\":\"").nth(1).unwrap().split('"').next().unwrap();
    let head = "GET /subscriptions?api-version=2022-12-01";
    assert_status(
        &send_with(&sim, &first, head, &format!("{host}\r\nAuthorization: Bearer {token}"), ""),
        "401",
    );

    let kube = kubeconfig(&first);
    let port = kube.split("https://127.0.0.1:").nth(1).unwrap().split('"').next().unwrap();
    sim.port = port.parse().unwrap();
    for token in [
        "simulated-administrator",
        "simulated-karpenter",
        "principal-00000000-0000-0000-0000-00000000000f",
    ] {
        let headers = format!("{host}\r\nAuthorization: Bearer {token}");
        assert_status(&send_with(&sim, &first, "GET /api/v1/nodes", &headers, ""), "401");
    }
}

#[test]
fn requests_for_another_host_are_rejected() {
    let state = tempfile::tempdir().unwrap();
    let sim = start(state.path(), &[]);
    let token = sim.variable("MOORING_SIM_TOKEN");
    for host in ["evil.example", "localhost.evil.example:443", "10.0.0.1"] {
        for head in
            ["GET /admin/state", "GET /metadata/endpoints", "GET /metadata/instance", "GET /v2/"]
        {
            let headers =
                format!("Host: {host}\r\nAuthorization: Bearer {token}\r\nMetadata: true");
            let answer = send_with(&sim, state.path(), head, &headers, "");
            assert!(answer.starts_with("HTTP/1.1 421"), "{host} {head} {answer}");
        }
    }
    let host = format!("Host: localhost:{}", sim.port);
    let imds = "GET /metadata/instance?api-version=2021-02-01";
    let answer = send_with(&sim, state.path(), imds, &host, "");
    assert!(answer.starts_with("HTTP/1.1 400"), "without `Metadata: true`: {answer}");
    let answer = send_with(&sim, state.path(), imds, &format!("{host}\r\nMetadata: true"), "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn invalid_scenario_error_has_file_and_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mine.yaml");
    std::fs::write(&file, "description: x\nwedge:\n  pol: system\n").unwrap();
    let run = |scenario: &str| {
        let output = lab().args(["sim", "--scenario", scenario]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = run(file.to_str().unwrap());
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("mine.yaml") && text.contains("line 3") && text.contains("hint:"),
        "{text}"
    );
    let (code, text) = run("nosuch");
    assert_eq!(code, Some(2));
    assert!(text.contains("wedged-system-pool"), "{text}");
}

/// Sources env.sh in a shell that prints a variable of it.
fn source(state: &Path) -> std::process::Output {
    let script = "CLUSTER_NAME=before; . \"$0\"; status=$?; echo \"$CLUSTER_NAME\"; exit $status";
    let file = state.join("env.sh");
    std::process::Command::new("sh").args(["-c", script]).arg(file).output().unwrap()
}

#[test]
fn stale_env_sh_cannot_be_sourced() {
    let state = tempfile::tempdir().unwrap();
    let state = state.path();
    let mut sim = start(state, &[]);
    let name = sim.variable("CLUSTER_NAME");
    let (code, stdout, _) = result(&source(state));
    assert_eq!((code, stdout.trim_end()), (0, name.as_str()));
    // Another simulator does not replace the files of a running one.
    let second = lab().args(["sim", "--state"]).arg(state).output().unwrap();
    let (code, _, stderr) = result(&second);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("is in use by another simulator") && stderr.contains("hint: "));
    sim.process().kill().unwrap();
    sim.process().wait().unwrap();
    let (code, stdout, stderr) = result(&source(state));
    assert_eq!((code, stdout.trim_end()), (1, "before"), "{stderr}");
    assert!(stderr.contains("has stopped"), "{stderr}");
    // After a crash, the directory can be used again.
    let sim = start(state, &[]);
    assert_eq!(result(&source(state)).0, 0);
    drop(sim);
}

#[test]
fn scenarios_are_listed_and_shown() {
    let run = |args: &[&str]| {
        let output = lab().arg("sim").args(args).output().unwrap();
        result(&output)
    };
    let (code, list, _) = run(&["--list"]);
    assert_eq!(code, 0);
    assert!(list.starts_with("NAME ") && list.contains("\nhealthy  "), "{list}");
    for line in list.lines().skip(1) {
        let name = line.split(' ').next().unwrap();
        let (code, yaml, _) = run(&["--show", name]);
        assert!(code == 0 && yaml.contains("description: "), "{name}: {yaml}");
    }
    let (code, _, stderr) = run(&["--show", "helthy"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("did you mean `healthy`?"), "{stderr}");
}
