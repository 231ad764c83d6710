//! Tests of `mooring explain`, `codes`, `man` and `--version` with the built binary.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn mooring(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mooring"));
    // No cluster of the user is read.
    command.args(args).env("KUBECONFIG", "/nonexistent").stdin(Stdio::null()).output().unwrap()
}

fn text(args: &[&str]) -> String {
    let output = mooring(args);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(args)).unwrap()
}

const MISSING_ORAS: &str = r#"Enable failed: failed to execute command: command terminated with exit status=1
[stdout]
{"ExitCode":"211","Output":"/opt/azure/containers/provision_source.sh: line 7: oras: command not found\n+ exit 211","Error":""}

[stderr]
"#;

#[test]
fn exit_code_is_explained_in_every_notation() {
    for written in ["50", "0x32", "ERR_OUTBOUND_CONN_FAIL", "VMExtensionError_OutboundConnFail"] {
        let page = text(&["explain", written, "--os", "linux"]);
        assert!(page.starts_with("50 ERR_OUTBOUND_CONN_FAIL: The node"), "{written}: {page}");
        let document = json(&["explain", written, "--os", "linux", "-o", "json"]);
        let diagnoses = document["diagnoses"].as_array().unwrap();
        let codes: Vec<&Value> = diagnoses.iter().map(|one| &one["effective"]["code"]).collect();
        assert_eq!(codes, [50], "{written}");
    }
    // The name of a cause that only codes have.
    let page = text(&["explain", "KubeletStartFail"]);
    assert!(page.starts_with("34 ERR_KUBELET_START_FAIL: "), "{page}");
    let document = json(&["explain", "KubeletStartFail", "-o", "json"]);
    assert_eq!(document["diagnoses"][0]["effective"]["code"], 34, "{document}");
}

#[test]
fn explanations_link_to_the_published_documents_that_a_setting_names() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("mooring")).unwrap();
    let file = home.path().join("mooring/config.yaml");
    std::fs::write(&file, "docs: https://docs.example/file/\n").unwrap();
    let explain = |what: &str, variable: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mooring"));
        command.args(["explain", what, "--os", "linux"]).env("KUBECONFIG", "/nonexistent");
        command.env("XDG_CONFIG_HOME", home.path());
        command.envs(variable.map(|url| ("MOORING_DOCS_URL", url))).stdin(Stdio::null());
        let output = command.output().unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), out + &err)
    };
    for (what, variable, url) in [
        ("OrasBinaryMissing", None, "https://docs.example/file/causes/OrasBinaryMissing.html"),
        ("50", Some("https://docs.example"), "https://docs.example/codes/50.html"),
        (MISSING_ORAS, None, "https://docs.example/file/causes/OrasBinaryMissing.html"),
    ] {
        let (code, text) = explain(what, variable);
        let line = format!("More        {url}\n");
        assert!(code == Some(0) && text.contains(&line), "{what}: {text}");
    }
    let (code, text) = explain("50", Some(""));
    assert!(code == Some(0) && !text.contains("More"), "{text}");
    let (code, text) = explain("50", Some("docs.example"));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.starts_with("error: MOORING_DOCS_URL must be an address"), "{text}");
}

#[test]
fn code_with_one_current_meaning_is_not_ambiguous() {
    assert!(
        text(&["explain", "211", "--os", "linux"])
            .starts_with("211 ERR_ORAS_PULL_NETWORK_TIMEOUT: ")
    );
    assert!(text(&["explain", "50"]).starts_with("50 has 2 meanings"), "one for each system");
}

#[test]
fn known_bad_image_is_reported_first() {
    let page = text(&["explain", "211", "--image", "202601.27.0"]);
    assert!(page.starts_with("! Known-bad image: AzureLinux V3 202601.27.0 was "), "{page}");
    assert!(page.contains("\n211 ERR_ORAS_PULL_NETWORK_TIMEOUT: "), "{page}");
    let page = text(&["explain", "211", "--image", "202601.27.0", "-o", "markdown"]);
    assert!(page.starts_with("Known-bad image: AzureLinux V3 202601.27.0\n===="), "{page}");
    let other = text(&["explain", "211", "--image", "202601.13.0"]);
    assert!(other.starts_with("211 ERR_ORAS_PULL_NETWORK_TIMEOUT: "), "{other}");
    let known = json(&["explain", "211", "--image", "202601.27.0", "-o", "json"]);
    let summary = known.pointer("/diagnoses/0/summary").unwrap().as_str().unwrap();
    assert!(summary.starts_with("Known-bad image: AzureLinux V3 202601.27.0 "), "{summary}");
}

#[test]
fn ambiguous_code_lists_its_meanings_unless_a_date_decides() {
    let both = text(&["explain", "232", "--os", "linux"]);
    assert!(
        both.contains("ERR_ORAS_BINARY_NOT_FOUND")
            && both.contains("ERR_SYSEXT_VERSION_ID_NOT_FOUND")
    );
    assert!(both.starts_with("232 has 2 meanings"));
    let diagnoses = json(&["explain", "232", "--os", "linux", "-o", "json"]);
    let names: Vec<_> = diagnoses["diagnoses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["effective"]["name"].clone())
        .collect();
    assert_eq!(names, ["ERR_ORAS_BINARY_NOT_FOUND", "ERR_SYSEXT_VERSION_ID_NOT_FOUND"]);
    let old = text(&["explain", "232", "--os", "linux", "--image", "202601.27.0"]);
    assert!(old.contains("\n232 ERR_ORAS_BINARY_NOT_FOUND: "), "{old}");
    assert!(!old.contains("232 has"), "{old}");
}

#[test]
fn text_is_explained_from_a_file_and_from_a_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("message.txt");
    std::fs::write(&file, MISSING_ORAS).unwrap();
    let mut from_file = json(&["explain", file.to_str().unwrap(), "-o", "json"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mooring"))
        .args(["explain", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(MISSING_ORAS.as_bytes()).unwrap();
    let mut from_pipe: Value =
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    let evidence = "/diagnoses/0/evidence/0/file";
    assert_eq!(from_file.pointer(evidence).unwrap(), file.to_str().unwrap());
    assert_eq!(from_pipe.pointer(evidence), Some(&Value::Null));
    *from_file.pointer_mut(evidence).unwrap() = Value::Null;
    for document in [&mut from_file, &mut from_pipe] {
        document.as_object_mut().unwrap().remove("generatedAt");
    }
    assert_eq!(from_file, from_pipe);
    assert_eq!(from_file["schema"], "mooring.explain/v1");
    let diagnosis = &from_file["diagnoses"][0];
    assert_eq!(diagnosis["reported"]["code"], 211);
    assert_eq!(diagnosis["effective"]["code"], 232);
    assert_eq!(
        (diagnosis["cause"].as_str(), diagnosis["confidence"].as_str()),
        (Some("OrasBinaryMissing"), Some("high"))
    );
    assert_eq!(diagnosis["owner"], "image");
    let plain = mooring(&["explain", file.to_str().unwrap()]);
    assert_eq!(String::from_utf8_lossy(&plain.stderr), "", "no warning");
    for format in ["table", "markdown"] {
        let output = text(&["explain", file.to_str().unwrap(), "-o", format]);
        assert!(
            output.contains("oras: command not found") && output.contains("OrasBinaryMissing"),
            "{output}"
        );
    }
}

#[test]
fn case_of_a_cause_does_not_matter() {
    for written in ["QuotaExceeded", "quotaexceeded"] {
        assert!(text(&["explain", written]).starts_with("QuotaExceeded: "), "{written}");
    }
}

#[test]
fn text_without_a_known_failure_is_described() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("error.json");
    std::fs::write(&file, r#"{"error":{"code":"StorageAccountAlreadyTaken","message":"taken"}}"#)
        .unwrap();
    for format in ["table", "markdown"] {
        let output = text(&["explain", file.to_str().unwrap(), "-o", format]);
        assert!(output.starts_with("No failure recognized."), "{output}");
        assert!(
            output.contains("StorageAccountAlreadyTaken") && output.contains("hint: "),
            "{output}"
        );
        assert!(!output.contains("activity-log"), "the input already has an Azure error: {output}");
    }
}

#[test]
fn names_of_one_system_are_not_shown_for_the_other() {
    let name = "ERR_ORAS_PULL_NETWORK_TIMEOUT";
    assert!(text(&["codes", "show", name]).contains(name));
    assert!(text(&["codes", "show", name, "--os", "linux"]).contains(name));
    let other = mooring(&["codes", "show", name, "--os", "windows"]);
    assert_eq!((other.status.code(), other.stdout.len()), (Some(2), 0));
}

#[test]
fn hidden_commands_are_in_no_help_completion_or_manual() {
    assert!(text(&["--help"]).contains("explain"));
    assert!(!text(&["--help"]).contains("Run the node agent"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&["completions", shell]).contains("explain"), "{shell}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&["completions", shell]).contains("mooring complete "), "{shell}");
    }
    let page = text(&["man"]);
    assert!(page.contains(".TH mooring"), "{page}");
    for part in
        [".SH \"EXIT STATUS\"\n.EX\n0  success", ".SH \"SEE ALSO\"\n\\fBmooring\\-status\\fR(1), "]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("mooring\\-agent\\fR(1)"), "{page}");
    let page = text(&["man", "repair-apply"]);
    assert!(page.contains(".TH mooring-repair-apply"));
    let others = "\\fBmooring\\-repair\\fR(1), \\fBkubectl\\fR(1)\n";
    assert!(page.ends_with(&format!(".SH \"SEE ALSO\"\n{others}")), "{page}");
    let unknown = mooring(&["man", "nosuch"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("repair-apply"));
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(text(&["man", "--out", directory.path().to_str().unwrap()]), "");
    for page in ["mooring.1", "mooring-explain.1", "mooring-repair-apply.1"] {
        assert!(directory.path().join(page).is_file(), "{page}");
    }
    assert!(!directory.path().join("mooring-agent.1").exists(), "a hidden command has a page");
}

#[test]
fn version_has_commit_target_and_profile() {
    assert_eq!(text(&["-V"]), concat!("mooring ", env!("CARGO_PKG_VERSION"), "\n"));
    let long = text(&["--version"]);
    assert!(long.starts_with(&text(&["-V"])), "{long}");
    for line in ["\ncommit:  ", "\ntarget:  ", "\nprofile: "] {
        let value = long.split_once(line).unwrap_or_else(|| panic!("{long}")).1;
        assert!(!value.lines().next().unwrap().is_empty(), "{long}");
    }
}

#[test]
fn plugin_shows_kubectl_mooring_in_help_and_commands() {
    let directory = tempfile::tempdir().unwrap();
    let plugin = directory.path().join("kubectl-mooring");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mooring"), &plugin).unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(&plugin).args(args).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let help = run(&["explain", "--help"]);
    assert!(help.contains("Usage: kubectl mooring explain"), "{help}");
    let unknown = run(&["explain", "OrasBinaryMisssing"]);
    assert!(unknown.contains("  kubectl mooring explain "), "{unknown}");
}

#[test]
fn empty_input_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("empty.txt");
    std::fs::write(&file, "\n").unwrap();
    let file = file.to_str().unwrap();
    let output = text(&["explain", file]);
    assert!(
        output.contains(file) && output.contains("is empty") && output.contains("hint:"),
        "{output}"
    );
    assert!(text(&["explain", "-"]).contains("stdin is empty"));
    assert_eq!(json(&["explain", "-", "-o", "json"])["diagnoses"], Value::Array(Vec::new()));
    assert_eq!(text(&["explain", "-", "-o", "name"]), "");
}

#[test]
fn directory_is_rejected_with_a_hint() {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().to_str().unwrap();
    let output = mooring(&["explain", name]);
    assert_eq!(output.status.code(), Some(3));
    let output = String::from_utf8(output.stderr).unwrap();
    assert!(output.contains(name) && output.contains("pass a file in it"), "{output}");
}

#[test]
fn negative_code_is_not_parsed_as_an_option() {
    assert!(text(&["explain", "-1"]).starts_with("-1 killed"));
}

#[test]
fn name_without_a_code_is_explained() {
    for name in ["VMExtensionError_ProvisioningTimeout", "VMExtensionProvisioningTimeout"] {
        let output = json(&["explain", name, "-o", "json"]);
        assert_eq!(output["diagnoses"][0]["cause"], "ExtensionTimedOut", "{name}");
        assert_eq!(output["diagnoses"][0]["reported"]["code"], Value::Null, "{name}");
    }
}

/// Pipes a long text with failures at its start, middle and end to `explain` with a bounded address space.
fn explain_long(mib: usize, kib: u32) {
    let script = format!("ulimit -v {kib}; exec \"$0\" explain - --output json");
    let mooring = env!("CARGO_BIN_EXE_mooring");
    let mut child = Command::new("sh")
        .args(["-c", &script, mooring])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let line = "2026-01-01T00:00:00Z systemd[1]: Started some other unit.\n";
    let block = line.repeat((1 << 20) / line.len());
    let writer = std::thread::spawn(move || {
        let message = |code| MISSING_ORAS.replace("211", code).replace("oras:", "x:");
        pipe.write_all(message("50").as_bytes()).unwrap();
        for number in 0..mib {
            pipe.write_all(block.as_bytes()).unwrap();
            if number == mib / 2 {
                pipe.write_all(MISSING_ORAS.as_bytes()).unwrap();
            }
        }
        pipe.write_all(message("124").as_bytes()).unwrap();
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let output: Value = serde_json::from_slice(&output.stdout).unwrap();
    let diagnoses = output["diagnoses"].as_array().unwrap();
    let mut codes: Vec<i64> =
        diagnoses.iter().map(|diagnosis| diagnosis["reported"]["code"].as_i64().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [50, 124, 211], "{output}");
    let oras = diagnoses.iter().find(|diagnosis| diagnosis["reported"]["code"] == 211).unwrap();
    assert_eq!(oras["cause"], "OrasBinaryMissing");
}

#[test]
fn long_text_is_explained_in_bounded_memory() {
    explain_long(64, 120_000);
}
