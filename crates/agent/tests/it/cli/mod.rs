//! The 60 recorded runs of the upstream Go agent, each repeated with the built agent.
//!
//! All differences are listed in `differences.rs`.

mod differences;
mod recorded;

use std::collections::BTreeMap;
use std::process::Output;

use self::recorded::Recorded;
use crate::support::{COMPONENTS, EVENTS, LOG, Node, end_of, eventually, text};

const CASES: &str = include_str!("../../../../../fixtures/golden/cli.jsonl");

/// Defines a test for each recorded run, with `_` for the `-` of its name.
macro_rules! runs {
    ($($name:ident)*) => {
        const RUNS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                check(recorded().find(|case| case.name == stringify!($name).replace('_', "-")).unwrap());
            }
        )*
    };
}

runs! {
    no_args
    unknown
    root_bad_flag
    version
    version_extra
    version_flag
    v
    help
    help_cmd
    help_provision
    provision_help
    help_nosuch
    provision_bad_flag
    provision_no_value
    provision_bad_bool
    wait_bad_flag
    provision_missing_flags
    provision_missing_flags_no_opt_dir
    provision_ok
    provision_ok_space_form
    provision_ok_single_dash
    provision_rc50
    provision_rc50_existing_json
    provision_missing_config
    provision_empty_config
    provision_bad_version
    provision_v0
    provision_syntax_error_after_version
    provision_syntax_error_before_version
    provision_no_components
    provision_dry_run
    provision_nul_in_env
    nbc_ok
    nbc_rc9
    nbc_killed
    nbc_missing
    nbc_directory
    nbc_dry_run
    both
    both_bad_config
    html_and_utf8_output
    wait_ok
    wait_rc7
    wait_lowercase_key
    wait_number
    wait_empty
    wait_plus
    wait_space
    wait_neg
    wait_huge
    wait_array
    wait_nothing
    wait_trailing
    wait_dup
    wait_null
    wait_extra_keys
    wait_no_json
    wait_extra_args
    wait_event
    wait_forever
}

#[test]
fn every_recorded_run_has_a_test() {
    let names: Vec<String> = recorded().map(|case| case.name.replace('-', "_")).collect();
    assert_eq!(names, RUNS);
}

fn recorded() -> impl Iterator<Item = Recorded> {
    CASES.lines().map(Recorded::read)
}

/// Repeats a case, and compares all that can be seen of it.
fn check(mut case: Recorded) {
    let (node, output) = repeat(&case);
    differences::apply(&mut case);
    let seen = |bytes: &[u8]| masked(&node, &text(bytes));
    let exit_code = output.as_ref().map(|output| output.status.code().unwrap().to_string());
    assert_eq!(exit_code.as_deref().unwrap_or("TIMEOUT"), case.exit_code, "exit code");
    if let Some(output) = &output {
        if case.stdout_contains.is_empty() {
            let printed = without_diagnosis(&seen(&output.stdout));
            assert_eq!(printed, case.stdout, "standard output");
        }
        for part in &case.stdout_contains {
            assert!(text(&output.stdout).contains(part), "`{part}` in standard output");
        }
        let lines: Vec<String> = seen(&output.stderr).lines().map(str::to_owned).collect();
        assert_eq!(lines, case.stderr, "standard error");
    }
    compare_files(&case, &node);
    let events: Vec<_> = events(&node).iter().map(|event| masked_event(&node, event)).collect();
    let expected: Vec<_> = case.events.iter().map(|event| masked_event(&node, event)).collect();
    assert_eq!(events, expected, "events");
}

fn compare_files(case: &Recorded, node: &Node) {
    let mut files: BTreeMap<String, Vec<u8>> = node.files();
    files.retain(|path, _| !path.starts_with(EVENTS) && path != "/opt/azure/components.json");
    for (path, expected) in &case.files_after {
        let content = files.remove(path).unwrap_or_else(|| panic!("{path} is missing"));
        let mut content = masked(node, &text(&content));
        if path == "/var/log/azure/aks/provision.json" {
            // The mode identifies the author of the report.
            let ours = expected.mode == "600";
            assert_eq!(content.contains(",\"Diagnosis\":\""), ours, "only ours says the cause");
            content = without_diagnosis(&content);
        }
        match expected.content.as_str() {
            "<date,hostname line>" => assert!(content.contains(','), "{path}: {content}"),
            expected => assert_eq!(content, expected, "{path}"),
        }
        assert_eq!(format!("{:o}", node.mode(path)), expected.mode, "mode of {path}");
    }
    for path in &case.other_files {
        assert!(files.remove(path).is_some(), "{path} is missing");
    }
    files.retain(|path, _| !case.input_files.contains_key(path));
    assert_eq!(files.keys().collect::<Vec<_>>(), [""; 0], "files that nobody expects");
}

/// Sets a node up as recorded and runs the agent on it; no output if it was still waiting.
fn repeat(case: &Recorded) -> (Node, Option<Output>) {
    let node = Node::new();
    node.write("/opt/azure/components.json", COMPONENTS);
    // Recorded with these directories, except for one case.
    if !case.name.ends_with("no-opt-dir") {
        std::fs::create_dir_all(node.at("/opt/azure/containers")).unwrap();
    }
    let put = |path: &str, content: &str| match path.strip_prefix("/run/anc-w/") {
        Some(name) => drop(node.write_typed(name, content)),
        None => node.write(path, content),
    };
    for (path, content) in &case.input_files {
        put(path, content);
    }
    let typed = node.typed("").to_str().unwrap().trim_end_matches('/').to_owned();
    let words: Vec<String> =
        case.args.iter().map(|word| word.replace("/run/anc-w", &typed)).collect();
    let mut command = node.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = command.envs(&case.env).spawn().unwrap();
    if !case.later_files.is_empty() {
        eventually("the agent's sleep", || is_asleep(child.id()));
    }
    for (path, content) in &case.later_files {
        put(path, content);
    }
    if case.exit_code == "TIMEOUT" {
        eventually("the agent's sleep", || has_logged(&node, case) && is_asleep(child.id()));
        assert_eq!(child.try_wait().unwrap(), None, "the agent does not wait");
        child.kill().unwrap();
        child.wait().unwrap();
        return (node, None);
    }
    let output = end_of(child);
    (node, Some(output))
}

/// True once the agent has written what it writes before it waits.
fn has_logged(node: &Node, case: &Recorded) -> bool {
    let files = node.files();
    let whole = files.iter().filter(|(path, content)| {
        path.starts_with(EVENTS) && serde_json::from_slice::<serde_json::Value>(content).is_ok()
    });
    whole.count() == case.events.len() && node.read(LOG).is_some_and(|log| log.ends_with('\n'))
}

fn is_asleep(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.contains("State:\tS")
}

/// Messages of the preflight about the host of the test.
fn is_preflight(line: &&str) -> bool {
    line.contains("\"msg\":\"preflight: ")
}

/// A report without its cause, which is ours alone; its form is checked here.
fn without_diagnosis(text: &str) -> String {
    let Some((before, behind)) = text.split_once(",\"Diagnosis\":\"") else {
        return text.to_owned();
    };
    // A sentence of ours needs no escaped quote.
    let (sentence, behind) = behind.split_once('"').unwrap();
    assert!(sentence.contains(" confidence; owner: "), "{sentence}");
    format!("{before}{behind}")
}

/// Hides what differs from run to run.
fn masked(node: &Node, seen: &str) -> String {
    let typed = node.typed("").to_str().unwrap().trim_end_matches('/').to_owned();
    let seen = seen.replace(&typed, "/run/anc-w");
    let seen: String = seen.split_inclusive('\n').filter(|line| !is_preflight(line)).collect();
    let mut masked = String::new();
    let mut rest = seen.as_str();
    while let Some((before, behind)) = rest.split_once("{\"time\":\"") {
        let (_, behind) = behind.split_once('"').unwrap();
        masked.push_str(before);
        masked.push_str("{\"time\":\"<TIME>\"");
        rest = behind;
    }
    masked + rest
}

/// The events, in order.
fn events(node: &Node) -> Vec<serde_json::Value> {
    let files = node.files();
    let events = files.iter().filter(|(path, _)| path.starts_with(EVENTS));
    events.map(|(_, content)| serde_json::from_slice(content).unwrap()).collect()
}

/// An event without its times, whose form is checked here.
fn masked_event(node: &Node, event: &serde_json::Value) -> serde_json::Value {
    let mut event = event.clone();
    for stamp in ["Timestamp", "OperationId"] {
        event[stamp] = "<TS>".into();
    }
    let message = event["Message"].as_str().unwrap();
    let at = message.rfind("startTime=").unwrap();
    assert!(message[at..].contains(" endTime=") && message[at..].contains(" durationMs="));
    event["Message"] = masked(node, &message[..at]).into();
    event
}
