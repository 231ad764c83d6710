//! What the operator's command line promises.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn mooring(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mooring")).args(words).stdin(Stdio::null()).output().unwrap()
}

fn text(words: &[&str]) -> String {
    let output = mooring(words);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&text(words)).unwrap()
}

const MISSING_ORAS: &str = r#"Enable failed: failed to execute command: command terminated with exit status=1
[stdout]
{"ExitCode":"211","Output":"/opt/azure/containers/provision_source.sh: line 7: oras: command not found\n+ exit 211","Error":""}

[stderr]
"#;

#[test]
fn a_code_is_explained_however_it_is_written() {
    for written in ["50", "0x32", "ERR_OUTBOUND_CONN_FAIL", "VMExtensionError_OutboundConnFail"] {
        assert!(
            text(&["explain", written, "--os", "linux"]).contains("50 ERR_OUTBOUND_CONN_FAIL"),
            "{written}"
        );
    }
}

#[test]
fn a_code_that_means_one_thing_today_is_not_called_ambiguous() {
    assert!(
        text(&["explain", "211", "--os", "linux"])
            .starts_with("211 ERR_ORAS_PULL_NETWORK_TIMEOUT\n")
    );
    assert!(text(&["explain", "50"]).starts_with("50 has 2 meanings"), "one for each system");
}

#[test]
fn an_image_that_is_known_to_be_broken_is_named_first() {
    let page = text(&["explain", "211", "--image", "202601.27.0"]);
    assert!(page.starts_with("Known-bad image: AzureLinux V3 202601.27.0\n"), "{page}");
    assert!(page.contains("\n211 ERR_ORAS_PULL_NETWORK_TIMEOUT\n"), "{page}");
    let other = text(&["explain", "211", "--image", "202601.13.0"]);
    assert!(other.starts_with("211 ERR_ORAS_PULL_NETWORK_TIMEOUT\n"), "{other}");
    let known = json(&["explain", "211", "--image", "202601.27.0", "-o", "json"]);
    let summary = known.pointer("/diagnoses/0/summary").unwrap().as_str().unwrap();
    assert!(summary.starts_with("Known-bad image: AzureLinux V3 202601.27.0 "), "{summary}");
}

#[test]
fn an_ambiguous_code_is_told_as_such_and_a_date_decides() {
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
    assert!(
        old.contains("# 232 ERR_ORAS_BINARY_NOT_FOUND")
            || old.contains("\n232 ERR_ORAS_BINARY_NOT_FOUND\n"),
        "{old}"
    );
    assert!(!old.starts_with("232 has"));
}

#[test]
fn a_text_is_explained_from_a_file_and_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("message.txt");
    std::fs::write(&file, MISSING_ORAS).unwrap();
    let from_file = json(&["explain", file.to_str().unwrap(), "-o", "json"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mooring"))
        .args(["explain", "-", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(MISSING_ORAS.as_bytes()).unwrap();
    let from_pipe: Value =
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(from_file, from_pipe);
    assert_eq!(from_file["schema"], "mooring.explain/v1");
    let diagnosis = &from_file["diagnoses"][0];
    assert_eq!(diagnosis["reported"]["code"], 211);
    assert_eq!(diagnosis["effective"]["code"], 232);
    assert_eq!(
        (diagnosis["reason"].as_str(), diagnosis["confidence"].as_str()),
        (Some("OrasBinaryMissing"), Some("high"))
    );
    assert_eq!(diagnosis["owner"], "image");
    for format in ["table", "markdown"] {
        let told = text(&["explain", file.to_str().unwrap(), "-o", format]);
        assert!(
            told.contains("oras: command not found") && told.contains("OrasBinaryMissing"),
            "{told}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_told_with_a_hint() {
    let output = mooring(&["explain", "no-such-thing"]);
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("`no-such-thing`") && told.contains("hint: "), "{told}");
    assert_eq!(mooring(&["explain"]).status.code(), Some(2));
    assert_eq!(mooring(&["explain", "50", "--image", "junk"]).status.code(), Some(2));
    let empty = json(&["explain", "/dev/null", "-o", "json"]);
    assert_eq!(empty["diagnoses"], Value::Array(Vec::new()));
}

#[test]
fn a_cause_has_a_page() {
    for written in ["QuotaExceeded", "quotaexceeded"] {
        let page = text(&["explain", written]);
        assert!(page.starts_with("QuotaExceeded: "), "{page}");
        for part in
            ["Stage       launch: ", "Owner       operator", "Known by    \"", "Next steps  1. "]
        {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
    let missing = text(&["explain", "OrasBinaryMissing"]);
    assert!(missing.contains("Exit codes") && missing.contains("232"), "{missing}");
    let diagnosis = &json(&["explain", "SubnetFull", "-o", "json"])["diagnoses"][0];
    assert_eq!(
        (&diagnosis["reason"], &diagnosis["stage"]),
        (&"SubnetFull".into(), &"launch".into())
    );
}

#[test]
fn a_text_without_a_known_failure_is_described() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("error.json");
    std::fs::write(&file, r#"{"error":{"code":"StorageAccountAlreadyTaken","message":"taken"}}"#)
        .unwrap();
    for format in ["table", "markdown"] {
        let told = text(&["explain", file.to_str().unwrap(), "-o", format]);
        assert!(told.starts_with("No failure recognized."), "{told}");
        assert!(told.contains("StorageAccountAlreadyTaken") && told.contains("hint: "), "{told}");
        assert!(!told.contains("activity-log"), "an Azure error is there already: {told}");
    }
}

#[test]
fn a_cause_without_an_exit_code_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("error.txt");
    std::fs::write(&file, "Cannot scale node pool user: (SubnetIsFull) Subnet nodes with address prefix 10.0.0.0/24 does not have enough capacity for 1 IP addresses.").unwrap();
    let diagnosis = &json(&["explain", file.to_str().unwrap(), "-o", "json"])["diagnoses"][0];
    assert_eq!(diagnosis["reason"], "SubnetFull");
    assert_eq!(diagnosis["stage"], "launch");
    assert_eq!(diagnosis["reported"]["name"], "SubnetIsFull");
    assert_eq!(diagnosis["reported"]["code"], Value::Null);
}

#[test]
fn the_catalogue_can_be_browsed() {
    let listed = text(&["codes", "list"]);
    assert!(listed.lines().count() > 100);
    let all = json(&["codes", "list", "--all", "-o", "json"]);
    assert_eq!(all["schema"], "mooring.codes/v1");
    assert_eq!(all["codes"].as_array().unwrap().len(), 306);
    assert!(
        text(&["codes", "show", "211", "--os", "linux"]).contains("ERR_ORAS_PULL_NETWORK_TIMEOUT")
    );
    assert_eq!(mooring(&["codes", "show", "nothing"]).status.code(), Some(3));
    // A name of one system is not shown for the other.
    let name = "ERR_ORAS_PULL_NETWORK_TIMEOUT";
    assert!(text(&["codes", "show", name]).contains(name));
    assert!(text(&["codes", "show", name, "--os", "linux"]).contains(name));
    let other = mooring(&["codes", "show", name, "--os", "windows"]);
    assert_eq!((other.status.code(), other.stdout.len()), (Some(3), 0));
}

#[test]
fn help_completions_and_the_manual_come_from_one_definition() {
    assert!(text(&["--help"]).contains("explain"));
    assert!(!text(&["--help"]).contains("Be the node agent"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&["completions", shell]).contains("explain"), "{shell}");
    }
    assert!(text(&["man"]).contains(".TH mooring"));
    assert!(text(&["man", "repair-apply"]).contains(".TH mooring-repair-apply"));
    let unknown = mooring(&["man", "nosuch"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("repair-apply"));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(text(&["man", "--out", folder.path().to_str().unwrap()]), "");
    for page in ["mooring.1", "mooring-explain.1", "mooring-repair-apply.1"] {
        assert!(folder.path().join(page).is_file(), "{page}");
    }
    assert!(!folder.path().join("mooring-agent.1").exists(), "a hidden command has a page");
}

#[test]
fn the_version_tells_commit_and_build() {
    assert_eq!(text(&["-V"]), concat!("mooring ", env!("CARGO_PKG_VERSION"), "\n"));
    let long = text(&["--version"]);
    assert!(long.starts_with(&text(&["-V"])), "{long}");
    for line in ["\ncommit:  ", "\ntarget:  ", "\nprofile: "] {
        let value = long.split_once(line).unwrap_or_else(|| panic!("{long}")).1;
        assert!(!value.lines().next().unwrap().is_empty(), "{long}");
    }
}

#[test]
fn as_a_plugin_it_speaks_of_itself_as_people_call_it() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("kubectl-mooring");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mooring"), &plugin).unwrap();
    let help = Command::new(plugin).args(["explain", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("Usage: kubectl mooring explain"), "{help}");
}

#[test]
fn the_node_agent_is_inside() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    assert_eq!(text(&["agent", "--root", root, "version"]).trim(), mooring_agent::VERSION);
    assert_eq!(mooring(&["agent", "--root", root, "provision", "--nosuch"]).status.code(), Some(1));
    assert!(folder.path().join("var/log/azure/aks/provision.json").exists());
}

#[test]
fn empty_input_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.txt");
    std::fs::write(&file, "\n").unwrap();
    let file = file.to_str().unwrap();
    let told = text(&["explain", file]);
    assert!(told.contains(file) && told.contains("is empty") && told.contains("hint:"), "{told}");
    assert!(text(&["explain", "-"]).contains("standard input is empty"));
    assert_eq!(json(&["explain", "-", "-o", "json"])["diagnoses"], Value::Array(Vec::new()));
}

#[test]
fn text_of_more_than_256_mib_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    let file = std::fs::File::create(&path).unwrap();
    for (bytes, is_refused) in [(256_u64 << 20, false), ((256 << 20) + 1, true)] {
        file.set_len(bytes).unwrap();
        let output = mooring(&["explain", path.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.contains("more than 256 MiB; give the part around"), is_refused, "{said}");
        assert_eq!(output.status.code() == Some(3), is_refused, "{said}");
    }
}

#[test]
fn a_folder_is_refused_by_name_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let output = mooring(&["explain", name]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(told.contains(name) && told.contains("name a file in it"), "{told}");
}

#[test]
fn a_negative_code_is_no_option() {
    assert!(text(&["explain", "-1"]).starts_with("-1 killed"));
}

#[test]
fn a_name_without_a_code_is_explained_all_the_same() {
    for name in ["VMExtensionError_ProvisioningTimeout", "VMExtensionProvisioningTimeout"] {
        let told = json(&["explain", name, "-o", "json"]);
        assert_eq!(told["diagnoses"][0]["reason"], "ExtensionTimedOut", "{name}");
        assert_eq!(told["diagnoses"][0]["reported"]["code"], Value::Null, "{name}");
    }
}

/// Pipes a long text to `explain`, whose address space is bounded, with failures at its beginning, middle and end.
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
    let line = "2026-01-01T00:00:00Z systemd[1]: Started a unit whose name is of no interest.\n";
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
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let diagnoses = told["diagnoses"].as_array().unwrap();
    let mut codes: Vec<i64> =
        diagnoses.iter().map(|one| one["reported"]["code"].as_i64().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [50, 124, 211], "{told}");
    let oras = diagnoses.iter().find(|one| one["reported"]["code"] == 211).unwrap();
    assert_eq!(oras["reason"], "OrasBinaryMissing");
}

#[test]
fn long_text_is_explained_in_bounded_memory() {
    explain_long(64, 120_000);
}

/// For a release build: `cargo test --release -p mooring --test it explain -- --ignored`.
#[test]
#[ignore = "250 MB take a minute in a debug build"]
fn text_of_250_mb_is_explained_in_bounded_memory() {
    explain_long(250, 120_000);
}
