use mooring_codes::{Os, Status as RowStatus, all};
use mooring_diagnosis::{Hints, diagnose, diagnose_code};
use proptest::prelude::*;

use super::{EVENT_ONLY, SEE, clause, first_sentence, label, *};
use crate::verdict::{ConditionReason, Failure, FailureSource, Verdict};

fn linux(code: i32, output: &str) -> String {
    format!(
        "Enable failed: failed to execute command: command terminated with exit status={code}\n[stdout]\n\
         {{ \"ExitCode\": \"{code}\", \"Output\": \"{output}\", \"Error\": \"\", \"ExecDuration\": \"61\" }}\n\n[stderr]\n"
    )
}

fn verdict(text: &str) -> Verdict {
    let diagnosis = diagnose(text.as_bytes(), Hints::default());
    Verdict::failed(&diagnosis[0], FailureSource::InstanceView)
}

#[test]
fn messages_match_the_expected_texts() {
    let silent = Verdict::failed_silently(FailureSource::InstanceView);
    let timeout = verdict(
        "VMExtensionProvisioningTimeout: Provisioning of VM extension vmssCSE has timed out. Extension provisioning has taken too long to complete. The extension last reported \"Plugin enabled\".",
    );
    let windows = verdict(
        "Command execution finished, but failed because it returned a non-zero exit code of: '1'. ExitCode: |5|, Output: |WINDOWS_CSE_ERROR_CHECK_API_SERVER_CONNECTIVITY|, Error: |x|",
    );
    let machine = verdict(
        "code=VMExtensionProvisioningError, message=CSE failed with 'VMExtensionError_K8SAPIServerConnFail', which means agents are unable to establish connection to Kubernetes API server",
    );
    for (verdict, reason, message) in [
        (
            verdict(&linux(211, "oras: command not found")),
            ConditionReason::CseFailed,
            "CSE exited with code 211 (ERR_ORAS_PULL_NETWORK_TIMEOUT): oras is missing on the image (232 ERR_ORAS_BINARY_NOT_FOUND). \
             Give new nodes another image: `az aks nodepool rollback` in an AKS node pool; with Karpenter another `imageFamily`, \
             or `spec.versions` where the AKSNodeClass has it. \
             See VM extension logs for details.",
        ),
        (
            silent,
            ConditionReason::CseFailed,
            "CSE failed without an exit code: Azure reports that the extension failed, without a message. Read /var/log/azure/cluster-provision.log on a node of this pool. See VM extension logs for details.",
        ),
        (
            verdict(&linux(251, "")),
            ConditionReason::CseFailed,
            "CSE exited with code 251: The AKS bootstrap scripts do not define this code. Check the source of the number, and read /var/log/azure/cluster-provision.log on the node. See VM extension logs for details.",
        ),
        (
            verdict(&linux(50, "")),
            ConditionReason::CseFailed,
            "CSE exited with code 50 (ERR_OUTBOUND_CONN_FAIL): ",
        ),
        (verdict(&linux(124, "")), ConditionReason::CseTimedOut, "CSE exited with code 124 ("),
        (verdict(&linux(137, "")), ConditionReason::CseTimedOut, "CSE exited with code 137 ("),
        (
            timeout,
            ConditionReason::CseTimedOut,
            "CSE failed without an exit code: The extension did not finish within its time limit",
        ),
        (
            windows,
            ConditionReason::CseFailed,
            "CSE exited with code 5 (WINDOWS_CSE_ERROR_CHECK_API_SERVER_CONNECTIVITY): ",
        ),
        (
            machine,
            ConditionReason::CseFailed,
            "CSE exited with code 51 (ERR_K8S_API_SERVER_CONN_FAIL): ",
        ),
    ] {
        assert_eq!(verdict.reason, reason, "{}", verdict.message);
        let whole = message.ends_with(SEE);
        assert!(
            if whole { verdict.message == message } else { verdict.message.starts_with(message) },
            "{}",
            verdict.message
        );
    }
}

/// Asserts the rules for every message, regardless of the code.
fn assert_well_formed(message: &str) {
    assert!(message.len() <= MAX_MESSAGE_BYTES, "{message}");
    assert!(message.ends_with(" See VM extension logs for details."), "{message}");
    assert!(
        !message.contains("..") && !message.contains("  ") && !message.contains(":."),
        "{message}"
    );
    assert!(message.chars().all(|c| !c.is_control()), "{message}");
}

#[test]
fn message_of_each_code_has_its_number_and_is_recognized() {
    let mut walked = 0;
    for row in all().filter(|row| row.status != RowStatus::Proposed) {
        for diagnosis in diagnose_code(row.number, Hints { os: Some(row.os), ..Hints::default() }) {
            let verdict = Verdict::failed(&diagnosis, FailureSource::InstanceView);
            assert_well_formed(&verdict.message);
            assert!(
                verdict.message.starts_with(&format!("CSE exited with code {}", row.number)),
                "{}",
                verdict.message
            );
            for text in [&verdict.message, &note(verdict.failure.as_ref().unwrap(), "aks-n-1")] {
                let explained = diagnose(text.as_bytes(), Hints::default());
                let [explained] = explained.as_slice() else { panic!("{text}: {explained:#?}") };
                assert_eq!(
                    (explained.reported.code, explained.os),
                    (diagnosis.reported.code, diagnosis.os),
                    "{text}"
                );
            }
            let timed_out = matches!(row.number, 124 | 137);
            assert_eq!(verdict.reason == ConditionReason::CseTimedOut, timed_out, "{row}");
            walked += 1;
        }
    }
    assert!(walked > 150, "{walked}");
    for os in [Os::Linux, Os::Windows] {
        for number in -1..=255 {
            for diagnosis in
                diagnose(linux(number, "").as_bytes(), Hints { os: Some(os), ..Hints::default() })
            {
                assert_well_formed(
                    &Verdict::failed(&diagnosis, FailureSource::InstanceView).message,
                );
            }
        }
    }
}

#[test]
fn note_has_code_node_and_a_different_cause() {
    let oras = verdict(&linux(211, "oras: command not found")).failure.unwrap();
    assert_eq!(
        note(&oras, "aks-default-2jf98"),
        "CSE exited with code 211 on node aks-default-2jf98: ERR_ORAS_PULL_NETWORK_TIMEOUT. oras is missing on the image (232 ERR_ORAS_BINARY_NOT_FOUND)"
    );
    let outbound = verdict(&linux(50, "")).failure.unwrap();
    assert_eq!(note(&outbound, "n"), "CSE exited with code 50 on node n: ERR_OUTBOUND_CONN_FAIL");
    let from_event = Verdict::failed_silently(FailureSource::KarpenterEvent);
    assert_eq!(
        note(&from_event.failure.unwrap(), "n"),
        "Unconfirmed: CSE failed without an exit code on node n. Only an event reports this; the VM was deleted before Azure could be read"
    );
    assert!(
        from_event.message.starts_with("Unconfirmed: CSE failed")
            && from_event.message.contains("before Azure could be read. See VM"),
        "{}",
        from_event.message
    );
    assert_eq!(
        note(&out_of_time(15), "n"),
        "CSE did not finish on node n: CSE was still running when Karpenter gave up on the node after 15m"
    );
}

#[test]
fn reasons_are_valid_and_match_their_status() {
    for reason in ConditionReason::ALL {
        let word = reason.as_str();
        assert!(
            word.starts_with(|c: char| c.is_ascii_alphabetic())
                && word.chars().all(|c| c.is_ascii_alphanumeric())
        );
        assert_eq!(ConditionReason::parse(word), Some(reason));
    }
}

proptest! {
    #[test]
    fn message_is_safe_for_any_input(text in ".{0,2000}", code in 0..256_i32) {
        let secret = "abcdef.0123456789abcdef";
        let hostile = linux(code, &format!("{text} token={secret} \u{202e}"));
        for diagnosis in diagnose(hostile.as_bytes(), Hints::default()) {
            let verdict = Verdict::failed(&diagnosis, FailureSource::InstanceView);
            let failure = verdict.failure.as_ref().unwrap();
            let texts = [&verdict.message, &note(failure, &text), &failure.evidence.clone().unwrap_or_default()];
            for shown in texts {
                prop_assert!(shown.len() <= 1024 && !shown.contains(secret), "{shown}");
                prop_assert!(shown.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{shown}");
            }
        }
    }
}

fn failed(source: FailureSource) -> Failure {
    Failure {
        cause: "X".to_owned(),
        sentence: "it broke".to_owned(),
        action: "Fix it".to_owned(),
        ..silent_failure(source)
    }
}

#[test]
fn long_messages_end_at_their_limits() {
    let long = |source| Failure { sentence: "x".repeat(2000), ..failed(source) };
    for (source, length) in [
        (FailureSource::InstanceView, MAX_MESSAGE_BYTES),
        (FailureSource::KarpenterEvent, MAX_MESSAGE_BYTES),
        // The report of an idle Karpenter is appended later.
        (FailureSource::Registration, MAX_MESSAGE_BYTES - IDLE.len()),
    ] {
        assert_eq!(condition(&long(source)).len(), length, "{source:?}");
    }
    let named = Failure { name: Some("N".repeat(2000)), ..failed(FailureSource::KarpenterEvent) };
    let note = note(&named, "aks-c");
    assert_eq!(note.len(), MAX_NOTE_BYTES);
    assert!(note.ends_with(EVENT_ONLY.trim_end_matches('.')), "{note}");
}

#[test]
fn note_names_the_code_or_what_is_known_instead() {
    let code = |code, name: Option<&str>| Failure {
        code,
        name: name.map(str::to_owned),
        ..failed(FailureSource::InstanceView)
    };
    let evidence = Failure { evidence: Some("last".into()), ..failed(FailureSource::Registration) };
    let effective = |name: &str| Failure {
        effective: Some((232, name.to_owned())),
        ..code(Some(211), Some("ERR_X"))
    };
    for (failure, expected) in [
        (code(Some(50), Some("ERR_X")), "CSE exited with code 50 on node n: ERR_X"),
        (code(Some(50), None), "CSE exited with code 50 on node n: unknown code"),
        (code(None, Some("ERR_X")), "CSE failed without an exit code on node n: ERR_X"),
        (code(None, None), "CSE failed without an exit code on node n"),
        (failed(FailureSource::Clock), "CSE did not finish on node n: it broke"),
        (failed(FailureSource::Registration), "Node n did not register: it broke. Fix it"),
        (evidence, "Node n did not register: it broke. Fix it. CSE output ends with: last"),
        (effective("ERR_Y"), "CSE exited with code 211 on node n: ERR_X. it broke (232 ERR_Y)"),
        (effective(""), "CSE exited with code 211 on node n: ERR_X. it broke (232)"),
    ] {
        assert_eq!(note(&failure, "n"), expected);
    }
}

#[test]
fn condition_begins_with_the_code_or_what_is_known_instead() {
    for (failure, expected) in [
        (failed(FailureSource::Clock), "CSE did not finish: it broke. Fix it. See "),
        (
            failed(FailureSource::InstanceView),
            "CSE failed without an exit code: it broke. Fix it. See ",
        ),
        (
            failed(FailureSource::KarpenterEvent),
            "Unconfirmed: CSE failed without an exit code: it broke",
        ),
    ] {
        let message = condition(&failure);
        assert!(message.starts_with(expected), "{message}");
    }
    let registration = failed(FailureSource::Registration);
    assert_eq!(condition(&registration), "The node did not register: it broke. Fix it.");
    let without = Failure { action: String::new(), ..registration };
    assert_eq!(condition(&without), "The node did not register: it broke.");
    let late = out_of_time(15);
    assert_eq!((&*late.cause, late.source), ("StillRunning", FailureSource::Clock));
    assert!(late.sentence.ends_with("after 15m") && late.action.ends_with("a step that hangs"));
}

#[test]
fn sentence_ends_where_another_begins() {
    for (text, expected) in [
        ("One. Two.", "One"),
        ("One. `two`", "One"),
        ("See e.g. this. Then", "See e.g. this"),
        ("One.", "One."),
        ("One. two", "One. two"),
    ] {
        assert_eq!(first_sentence(text), expected);
    }
    assert_eq!((label("a-b c").as_str(), label("-").as_str()), ("abc", "Unknown"));
    assert_eq!(clause("One.\nTwo. ", 99), "One. Two");
}
