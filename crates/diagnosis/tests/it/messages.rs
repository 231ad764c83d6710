//! Exit codes of messages, one by one: what is read, what is ignored, and what starts another message.

use mooring_codes::{Os, all};
use mooring_diagnosis::{BootstrapOutcome, FoundBy, Hints, Situation, decode, diagnose};

/// Handler text before a status.
const FAILED: &str = "failed to execute command: command terminated with exit";
const WRAPPER: &str =
    "VM has reported a failure when processing extension 'vmssCSE'. Error message:";

fn codes(text: &str) -> Vec<Option<i32>> {
    decode(text.as_bytes()).iter().map(|one| one.code).collect()
}

fn found_by(text: &str) -> Vec<Option<FoundBy>> {
    decode(text.as_bytes()).iter().map(|one| one.found_by).collect()
}

#[test]
fn status_in_the_output_of_a_script_is_not_the_code() {
    assert_eq!(codes(&format!("{WRAPPER} x\n[stdout]\nmake: exit status=7\n")), [None]);
    let text = format!("{WRAPPER} Enable failed: {FAILED} status=50\n[stdout]\nexit status=7\n");
    assert_eq!(codes(&text), [Some(50)]);
    let succeeded = format!("{WRAPPER} Enable succeeded: make: exit status=7\n");
    assert_eq!(codes(&succeeded), [Some(0)]);
}

#[test]
fn other_status_of_a_command_is_another_message() {
    let one = format!("{FAILED} status=50");
    let other = format!("{FAILED} status=51");
    for streams in ["", "\n[stdout]\n"] {
        assert_eq!(codes(&format!("{one}{streams}. {other}{streams}")), [Some(50), Some(51)]);
        assert_eq!(codes(&format!("{one}{streams}. {one}{streams}")), [Some(50)], "repeated");
        let wrapped = format!("{WRAPPER} {one}{streams}. {other}{streams}");
        assert_eq!(codes(&wrapped), [Some(50), Some(51)]);
    }
}

#[test]
fn end_of_a_message_with_status_1_has_lost_its_code() {
    let one = |text: &str| {
        let decoded = decode(text.as_bytes());
        assert_eq!(decoded.len(), 1, "{text}");
        (decoded[0].code, decoded[0].situation)
    };
    assert_eq!(one("terminated with exit status=1\n"), (None, Some(Situation::CodeLost)));
    assert_eq!(one("terminated with exit status=1\n[stdout]\n"), (Some(1), None));
    assert_eq!(one(&format!("{FAILED} status=1\n")), (Some(1), None));
    assert_eq!(one("terminated with exit status=50\n"), (Some(50), None));
}

#[test]
fn status_in_another_language_is_read_in_messages_of_extensions() {
    assert_eq!(codes(&format!("{WRAPPER} stato di uscita=50")), [Some(50)]);
    assert_eq!(codes("stato di uscita=50\n[stdout]\n"), [Some(50)]);
    assert_eq!(codes("stato di uscita=50\n"), [None; 0]);
    assert_eq!(codes("stato di uscita=256\n[stdout]\n"), [None]);
    let two = "stato di uscita=50\n[stdout]\nx\nstato di uscita=51\n[stdout]\n";
    assert_eq!(codes(two), [Some(50), Some(51)]);
}

#[test]
fn exit_codes_of_reports_and_logs_are_distinguished() {
    let report = |code: i32| format!("{{\"ExitCode\": \"{code}\", \"Output\": \"\"}}\n");
    assert_eq!(found_by(&report(50)), [Some(FoundBy::Json)]);
    assert_eq!(codes(&(report(50) + &report(51))), [Some(50), Some(51)]);
    let node = "/opt/azure/ ";
    assert_eq!(found_by(&format!("{node}\"exitCode\": \"50\"")), [Some(FoundBy::Slog)]);
    assert_eq!(found_by(&format!("{node}ExitCode=50")), [Some(FoundBy::Slog)]);
    assert_eq!(codes(&format!("{node}exitCode=50 exitCode=0")), [Some(50)]);
    assert_eq!(codes(&format!("{node}exitCode=0 exitCode=50")), [Some(50)]);
    assert_eq!(codes(&format!("{node}ExitCode: 50")), [None; 0]);
}

#[test]
fn report_after_a_timeout_is_another_message() {
    let text = "Provisioning of VM extension vmssCSE has timed out. {\"ExitCode\": \"50\"}";
    let decoded = decode(text.as_bytes());
    let seen: Vec<_> = decoded.iter().map(|one| (one.outcome, one.code)).collect();
    assert_eq!(seen, [(BootstrapOutcome::NoCode, None), (BootstrapOutcome::Failed, Some(50))]);
}

#[test]
fn first_error_name_of_windows_counts() {
    let mut rows =
        all().filter(|row| row.os == Os::Windows && row.name.starts_with("WINDOWS_CSE_"));
    let (one, other) = (rows.next().unwrap(), rows.last().unwrap());
    assert_eq!(codes(&format!("{} {}", one.name, other.name)), [Some(one.number)]);
    assert_eq!(codes(&format!("{} {}", other.name, one.name)), [Some(other.number)]);
}

#[test]
fn exit_code_of_a_windows_error_is_near_its_label() {
    let text = |distance: usize| {
        let filler = "x".repeat(distance - "Exit Code:".len());
        format!("log: CSE Error{filler}Exit Code: 50.")
    };
    assert_eq!(found_by(&text(240)), [Some(FoundBy::WindowsError)]);
    assert_eq!(found_by(&text(241)), [None; 0]);
}

#[test]
fn evidence_names_the_stream_and_the_line() {
    let text = |stdout: &str, stderr: &str| {
        format!(
            "Enable failed: {FAILED} status=211\n[stdout]\n{stdout}\n{{\"ExitCode\": \"211\"}}\n[stderr]\n{stderr}\n"
        )
    };
    let place =
        |text: &str| diagnose(text.as_bytes(), Hints::default())[0].evidence[0].place.clone();
    let missing = "oras: command not found";
    assert_eq!(place(&text(missing, "")), "stdout, line 3");
    assert_eq!(place(&text("", missing)), "stderr, line 6");
    assert_eq!(place(&format!("{missing}\n{}", text("", ""))), "message, line 1");
}

#[test]
fn any_windows_fact_outweighs_linux_facts() {
    let row =
        all().find(|row| row.os == Os::Windows && row.name.starts_with("WINDOWS_CSE_")).unwrap();
    let wrapper = |name: &str, kind: &str| {
        format!("processing extension '{name}' (publisher 'Microsoft.Compute' and type '{kind}')")
    };
    for text in [
        "ExitCode: |50|".to_owned(),
        row.name.to_owned(),
        "CSE Error: x. Exit Code: 50.".to_owned(),
        wrapper("cse-agent-0", "CustomScriptExtension"),
        wrapper("windows-cse-agent-0", "x"),
    ] {
        let decoded = decode(format!("{text} CSELinuxTroubleshoot").as_bytes());
        assert_eq!(decoded[0].os, Some(Os::Windows), "{text}");
    }
    let linux = decode(format!("{} CSELinuxTroubleshoot", wrapper("cse-agent-0", "x")).as_bytes());
    assert_eq!(linux[0].os, Some(Os::Linux));
}

#[test]
fn condition_of_a_windows_node_names_the_error_in_its_sentence() {
    let found = |after: &str| {
        let decoded = decode(format!("it says: CSE exited with code 50{after}").as_bytes());
        (decoded[0].os, decoded[0].code, decoded[0].found_by)
    };
    let windows = (Some(Os::Windows), Some(50), Some(FoundBy::WindowsError));
    let linux = (Some(Os::Linux), Some(50), Some(FoundBy::VmssStatus));
    assert_eq!(found(" (WINDOWS_CSE_X)"), windows);
    assert_eq!(found(" on node a: ERR_X. WINDOWS_CSE_X"), linux);
    let far = |distance: usize| format!(" {}WINDOWS_CSE_X", "x".repeat(distance - 14) + " ");
    assert_eq!(found(&far(240)), windows);
    assert_eq!(found(&far(241)), linux);
}

#[test]
fn result_of_windows_is_a_complete_sentence() {
    let outcome = |text: &str| decode(text.as_bytes()).first().map(|one| (one.outcome, one.code));
    let extension = "processing extension 'windows-cse-agent-0' ";
    let said = |words: &str| outcome(&format!("{extension}{words}"));
    assert_eq!(said("Command execution finished"), Some((BootstrapOutcome::Succeeded, Some(0))));
    let failed = "finished, but failed because it returned a non-zero exit code of: '50'";
    assert_eq!(
        said(&format!("Command execution {failed}")),
        Some((BootstrapOutcome::Failed, Some(50)))
    );
    for other in ["Command execution started", "The execution finished"] {
        assert_eq!(said(other), Some((BootstrapOutcome::NoCode, None)), "{other}");
    }
}

#[test]
fn type_of_the_handler_decides_about_unknown_extensions() {
    let report = "[stdout]\n{\"ExitCode\": \"50\"}\n";
    let outcome = |text: String| decode(text.as_bytes())[0].outcome;
    let wrapped = |kind: &str| {
        outcome(format!(
            "processing extension 'mine' (publisher 'P' and type '{kind}') x\n{report}"
        ))
    };
    assert_eq!(wrapped("CustomScript"), BootstrapOutcome::Failed);
    assert_eq!(wrapped("RunCommandLinux"), BootstrapOutcome::NotABootstrap);
    let viewed = |kind: &str| {
        outcome(format!(
            "{{\"name\": \"mine\", \"type\": \"{kind}\", \"typeHandlerVersion\": \"2\", \"message\": \
             \"Enable failed: {FAILED} status=50\n{report}\"}}"
        ))
    };
    assert_eq!(viewed("Microsoft.Azure.Extensions.CustomScript"), BootstrapOutcome::Failed);
    assert_eq!(viewed("CustomScriptForLinux"), BootstrapOutcome::Failed);
    assert_eq!(viewed("Microsoft.CPlat.Core.RunCommandLinux"), BootstrapOutcome::NotABootstrap);
    assert_eq!(
        viewed("Microsoft.Compute/virtualMachines"),
        BootstrapOutcome::Failed,
        "a resource type"
    );
    assert_eq!(viewed("string"), BootstrapOutcome::Failed, "not a type of an extension");
    // The first type counts, and the output of a script names none.
    let twice = "processing extension 'mine' (publisher 'P' and type 'CustomScript') \
                 (publisher 'Q' and type 'RunCommandLinux') ";
    assert_eq!(outcome(format!("{twice}{report}")), BootstrapOutcome::Failed);
    let inside =
        format!("processing extension 'mine' {report}(publisher 'Q' and type 'RunCommandLinux')");
    assert_eq!(outcome(inside), BootstrapOutcome::Failed);
}

#[test]
fn publisher_of_linux_extensions_shows_the_system() {
    let os = |publisher: &str| {
        let text =
            format!("processing extension 'cse-agent-0' (publisher '{publisher}' and type 'T')");
        decode(text.as_bytes())[0].os
    };
    assert_eq!(os("Microsoft.Azure.Extensions"), Some(Os::Linux));
    assert_eq!(os("Microsoft.Compute"), None);
}

#[test]
fn target_is_the_instance_of_the_next_message() {
    let failure = |target: i32, code: i32| {
        format!("\"target\": \"{target}\" {FAILED} status={code}\n[stdout]\n")
    };
    let decoded = decode((failure(3, 50) + &failure(4, 51)).as_bytes());
    let instances: Vec<_> = decoded.iter().map(|one| (one.instance, one.code)).collect();
    assert_eq!(instances, [(Some(3), Some(50)), (Some(4), Some(51))]);
    // A report may have such a member as well.
    let report = "{\"ExitCode\": \"50\", \"target\": \"3\", \"ExecDuration\": \"60\"}";
    let decoded = &decode(report.as_bytes())[0];
    assert_eq!((decoded.instance, decoded.exec_duration), (None, Some(60)));
}

#[test]
fn silence_of_the_agent_is_a_complete_sentence() {
    let situation =
        |text: &str| decode(text.as_bytes()).first().and_then(|decoded| decoded.situation);
    let silent = "VM has not reported status for VM agent";
    assert_eq!(situation(silent), Some(Situation::AgentSilent));
    assert_eq!(situation("VM has reported status for VM agent"), None);
    let failed = "VM has not reported failure for VM extension 'vmssCSE'";
    assert_eq!(situation(failed), Some(Situation::HandlerFailed));
    let near = |distance: usize| {
        let word = "Microsoft.Azure.Extensions.CustomScript";
        let filler = "x".repeat(distance - word.len() - 1);
        situation(&format!("log: [ExtensionOperationError{filler} {word}"))
    };
    assert_eq!(near(320), Some(Situation::HandlerFailed));
    assert_eq!(near(321), None);
}

#[test]
fn handler_repeats_only_its_own_failure() {
    let silence = "VM has reported failure for VM extension 'vmssCSE'. ";
    let seen = |text: &str| -> Vec<(BootstrapOutcome, Option<i32>)> {
        decode(format!("{silence}{text}").as_bytes())
            .iter()
            .map(|one| (one.outcome, one.code))
            .collect()
    };
    let lost = (BootstrapOutcome::NoCode, None);
    assert_eq!(seen("Enable failed: the plugin crashed"), [lost]);
    let succeeded = "Enable succeeded: \n[stdout]\n{\"ExitCode\": \"0\"}\n";
    assert_eq!(seen(succeeded), [lost, (BootstrapOutcome::Succeeded, Some(0))]);
}

#[test]
fn states_of_one_extension_are_messages_of_it() {
    let message =
        |code: i32| format!("\"message\": \"Enable failed: {FAILED} status={code}\n[stdout]\n\"");
    let text = format!(
        "\"name\": \"vmssCSE\", \"statuses\": [{{{}}}, {{\"code\": \"ProvisioningState/failed/0\", {}}}]",
        message(50),
        message(51)
    );
    let decoded = decode(text.as_bytes());
    let seen: Vec<_> = decoded.iter().map(|one| (one.extension.as_deref(), one.code)).collect();
    assert_eq!(seen, [(Some("vmssCSE"), Some(50)), (Some("vmssCSE"), Some(51))]);
}

#[test]
fn known_name_outside_of_streams_is_the_extension() {
    let extension = |before: &str, output: &str| {
        let text = format!("{before} Enable failed: {FAILED} status=50\n[stdout]\n{output}\n");
        decode(text.as_bytes())[0].extension.clone()
    };
    assert_eq!(extension("cse-agent-7", "").as_deref(), Some("cse-agent-7"));
    assert_eq!(extension("mycse-agent-7", ""), None);
    assert_eq!(extension("", "cse-agent-7"), None);
    let wrapped = extension("processing extension 'vmssCSE' cse-agent-7", "");
    assert_eq!(wrapped.as_deref(), Some("vmssCSE"));
}

#[test]
fn root_cause_replaces_a_missing_or_weak_code() {
    let reason = |text: &str| diagnose(text.as_bytes(), Hints::default())[0].reason.clone();
    let cause = "aks-np1-vmss: SkuNotAvailable: Standard_D4s_v5 is not available";
    let expected = reason(cause);
    for text in [
        format!("Provisioning of VM extension vmssCSE has timed out. {cause}"),
        format!("{FAILED} status=1\n[stdout]\n{cause}\n"),
    ] {
        assert_eq!(reason(&text), expected, "{text}");
    }
    assert_eq!(reason(&format!("{FAILED} status=50\n[stdout]\n{cause}\n")), "OutboundConnFail");
}

#[test]
fn cause_that_a_code_hides_is_quoted_before_the_code() {
    let lines = |text: &str| -> Vec<String> {
        let diagnosis = diagnose(text.as_bytes(), Hints::default()).remove(0);
        assert_eq!(diagnosis.rule, Some("contract-removed-flag"));
        diagnosis.evidence.into_iter().map(|one| one.line).collect()
    };
    let (flag, report) = ("unknown flag: --container-runtime", "{\"ExitCode\": \"215\"}");
    let text = format!("{FAILED} status=215\n[stdout]\n{flag}\n{report}\n");
    assert_eq!(lines(&text), [flag, "\"ExitCode\": \"215\""]);
    assert_eq!(lines(&format!("{flag} {report}")), [format!("{flag} {report}")]);
}

#[test]
fn handler_that_rejects_its_settings_never_started_the_script() {
    let situation = |text: &str| decode(format!("{WRAPPER} {text}").as_bytes())[0].situation;
    assert_eq!(situation("failed to get configuration"), Some(Situation::NeverStarted));
    assert_eq!(situation("[stdout]\nfailed to get configuration"), Some(Situation::CodeLost));
    assert_eq!(situation("x"), Some(Situation::CodeLost));
}

#[test]
fn windows_command_without_a_result_was_interrupted() {
    let situation = |text: &str| {
        decode(format!("processing extension 'windows-cse-agent-0' {text}").as_bytes())[0].situation
    };
    assert_eq!(situation("Finished executing command"), Some(Situation::Interrupted));
    assert_eq!(situation("Now executing command"), Some(Situation::CodeLost));
}

#[test]
fn run_command_is_not_a_bootstrap() {
    let outcome = |before: &str, output: &str| {
        let text = format!("{before} Enable failed: {FAILED} status=50\n[stdout]\n{output}\n");
        decode(text.as_bytes())[0].outcome
    };
    assert_eq!(outcome("RunCommand", ""), BootstrapOutcome::NotABootstrap);
    assert_eq!(outcome("disableRunCommand", ""), BootstrapOutcome::Failed);
    assert_eq!(outcome("", "RunCommand"), BootstrapOutcome::Failed);
}

#[test]
fn name_of_an_extension_is_near_its_statuses() {
    let outcome = |distance: usize| {
        let filler = "x".repeat(distance - "\"tatuses".len());
        let text = format!(
            "\"name\": \"mine\"{filler}tatuses Enable failed: {FAILED} status=50\n[stdout]\n"
        );
        decode(text.as_bytes())[0].outcome
    };
    assert_eq!(
        (outcome(320), outcome(321)),
        (BootstrapOutcome::NotABootstrap, BootstrapOutcome::Failed)
    );
}
