//! Guarantees of diagnoses, by code and by text.

use mooring_codes::{Os, Reach, Status, all, image_date};
use mooring_diagnosis::{
    ANOTHER_IMAGE, BootstrapOutcome, Confidence, Diagnosis, Effective, FoundBy, Hints, Reported,
    Situation, Stage, cause_page, decode, diagnose, diagnose_code,
};

fn report(code: i32, output: &str) -> String {
    format!(
        "{{\"ExitCode\": \"{code}\", \"Output\": \"{output}\", \"Error\": \"\", \"ExecDuration\": \"60\"}}"
    )
}

#[test]
fn bootstrap_exit_codes_have_a_diagnosis_with_an_action() {
    let mut walked = 0;
    for row in all().filter(|row| row.os == Os::Linux && row.status == Status::Current) {
        if !matches!(row.reach, Reach::Node | Reach::Wrapper) {
            continue;
        }
        walked += 1;
        let found = diagnose(report(row.number, "").as_bytes(), Hints::default());
        let [diagnosis] = found.as_slice() else { panic!("{row}: {found:?}") };
        assert_eq!(diagnosis.reported.code, Some(row.number), "{row}");
        assert_ne!(diagnosis.reason, "UnknownCode", "{row}");
        assert!(!diagnosis.summary.is_empty() && !diagnosis.actions.is_empty(), "{row}");
        assert!(!diagnose_code(row.number, Hints::default()).is_empty(), "{row}");
    }
    assert!(walked >= 65, "{walked}");
}

#[test]
fn missing_oras_is_not_reported_as_network_timeout() {
    for line in [
        "oras: command not found",
        "timeout: failed to run command 'oras': No such file or directory",
        "unexpected response from acr: bash: oras: command not found",
    ] {
        let diagnosis = &diagnose(report(211, line).as_bytes(), Hints::default())[0];
        assert_eq!(diagnosis.reason, "OrasBinaryMissing");
        assert_eq!(diagnosis.effective.code, Some(232));
        assert_eq!(diagnosis.reported.code, Some(211));
        assert_eq!(diagnosis.confidence, Confidence::High);
        let page = cause_page("OrasBinaryMissing").unwrap();
        assert_eq!(diagnosis.summary, page.summary);
        assert_eq!(diagnosis.actions, page.actions);
    }
}

#[test]
fn confidence_and_stage_are_shown_as_text() {
    assert_eq!(format!("{:>7}|{:<7}|", Confidence::High, Stage::Boot), "   high|boot   |");
    assert_eq!(Stage::Boot.description(), "the VM boots and its agent reports");
}

#[test]
fn success_in_a_report_does_not_hide_a_failed_handler() {
    let text = |handler: &str| format!("{handler}\n[stdout]\n{}\n[stderr]\n", report(0, ""));
    let one = |text: &str| {
        let decoded = &decode(text.as_bytes())[0];
        (decoded.outcome, decoded.code, decoded.found_by)
    };
    let failed = "Enable failed: failed to execute command: command terminated with exit status=";
    let outer = |code| (BootstrapOutcome::Failed, Some(code), Some(FoundBy::OuterStatus));
    assert_eq!(one(&text(&format!("{failed}50"))), outer(50));
    assert_eq!(one(&text(&format!("{failed}0"))), outer(0));
    let reported = (BootstrapOutcome::Succeeded, Some(0), Some(FoundBy::Json));
    assert_eq!(one(&text("Enable succeeded: ")), reported);
}

#[test]
fn arm_error_code_alone_gives_the_situation() {
    for (code, situation) in [
        ("VMExtensionHandlerNonTransientError", Situation::HandlerFailed),
        ("VMExtensionProvisioningTimeout", Situation::TimedOut),
        ("OSProvisioningTimedOut", Situation::AgentSilent),
        ("VMExtensionProvisioningError", Situation::ArmCodeOnly),
    ] {
        let decoded = decode(format!("Code: {code}").as_bytes());
        assert_eq!(decoded[0].situation, Some(situation), "{code}");
    }
}

#[test]
fn confidence_is_not_high_without_evidence() {
    for number in -1..=255 {
        for diagnosis in diagnose(report(number, "").as_bytes(), Hints::default()) {
            assert!(diagnosis.confidence < Confidence::High, "{number}");
        }
    }
}

#[test]
fn unknown_code_is_reported_as_unknown() {
    let diagnosis = &diagnose(report(251, "").as_bytes(), Hints::default())[0];
    assert_eq!(diagnosis.reason, "UnknownCode");
    assert_eq!(diagnosis.confidence, Confidence::Low);
}

#[test]
fn code_without_text_is_diagnosed_for_both_systems() {
    let systems: Vec<_> =
        diagnose_code(50, Hints::default()).iter().map(|diagnosis| diagnosis.os).collect();
    assert_eq!(systems, [Some(Os::Linux), Some(Os::Windows)]);
    let linux = Hints { os: Some(Os::Linux), ..Hints::default() };
    let found = diagnose_code(50, linux);
    let [diagnosis] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((diagnosis.os, diagnosis.outcome), (Some(Os::Linux), BootstrapOutcome::Failed));
    let row = all().find(|row| row.name == "ERR_OUTBOUND_CONN_FAIL").unwrap();
    let name = Some(row.name.to_owned());
    let reported = Reported { code: Some(50), name: name.clone(), found_by: Some(FoundBy::Given) };
    assert_eq!(diagnosis.reported, reported);
    assert_eq!(diagnosis.effective, Effective { code: Some(50), name });
    assert_eq!(
        (&*diagnosis.summary, &*diagnosis.actions),
        (row.meaning, &[row.action.to_owned()][..])
    );
    assert_eq!(diagnosis.reason, "OutboundConnFail");
}

#[test]
fn code_zero_is_a_success() {
    let found = diagnose_code(0, Hints::default());
    assert!(!found.is_empty());
    for diagnosis in found {
        assert_eq!(
            (diagnosis.outcome, &*diagnosis.reason),
            (BootstrapOutcome::Succeeded, "Succeeded")
        );
    }
}

#[test]
fn known_bad_image_is_named_for_its_linux_codes() {
    let hints = |image| Hints { image_date: image_date(image).ok(), ..Hints::default() };
    let named = |code, image| -> Vec<(Option<Os>, bool)> {
        let found = diagnose_code(code, hints(image));
        let is_named = |one: &Diagnosis| {
            let is_named = one.summary.starts_with("Known-bad image: ");
            assert_eq!(is_named, one.actions[0] == ANOTHER_IMAGE);
            is_named
        };
        found.iter().map(|one| (one.os, is_named(one))).collect()
    };
    assert!(named(211, "202601.27.0").contains(&(Some(Os::Linux), true)));
    assert!(!named(211, "202601.13.0").contains(&(Some(Os::Linux), true)));
    for code in [211, 232] {
        assert!(!named(code, "202601.27.0").contains(&(Some(Os::Windows), true)), "{code}");
    }
}

#[test]
fn timeout_names_the_running_step() {
    let text =
        report(124, "+ logs_to_events AKS.CSE.ensureContainerd ensureContainerd\\n+ sleep 5");
    let diagnosis = &diagnose(text.as_bytes(), Hints::default())[0];
    assert!(diagnosis.summary.contains("ensureContainerd"), "{}", diagnosis.summary);
    assert!(diagnosis.evidence[0].line.contains("AKS.CSE.ensureContainerd"));
}

#[test]
fn report_in_a_message_is_decoded() {
    let decoded = &decode(report(51, "+ exit 51").as_bytes())[0];
    let status = decoded.status.as_ref().unwrap();
    assert_eq!(status.code(), Ok(51));
    assert_eq!(status.output, "+ exit 51");
    assert_eq!(decoded.exec_duration, Some(60));
    assert_eq!(decoded.outcome, BootstrapOutcome::Failed);
}

#[test]
fn hotfix_in_effect_is_named_with_the_cause() {
    let summary = |hotfix: &str| {
        let text = report(51, "+ exit 51")
            .replace("\"Output\"", &format!("\"Hotfix\":\"{hotfix}\",\"Output\""));
        diagnose(text.as_bytes(), Hints::default())[0].summary.clone()
    };
    let named = summary("binary=202604.01.0 scripts=202604.01.1");
    assert!(
        named.ends_with(" Hotfix in effect: binary=202604.01.0 scripts=202604.01.1."),
        "{named}"
    );
    for forged in [
        "",
        "scripts=1",
        "binary=1 scripts=<script>",
        &format!("binary={} scripts=1", "x".repeat(200)),
    ] {
        assert!(!summary(forged).contains("Hotfix"), "{forged}");
    }
}

#[test]
fn other_extension_is_quoted_as_evidence() {
    let text = "\nnode pool np1 of our AKS cluster:\nVM has reported a failure when processing extension 'OmsAgentForLinux'. Error message: \
        \"Enable failed with exit code 52\"\n";
    let hints = Hints { os: Some(Os::Linux), ..Hints::default() };
    let diagnosis = &diagnose(text.as_bytes(), hints)[0];
    assert_eq!(diagnosis.reason, "OtherExtensionFailed");
    assert!(diagnosis.evidence[0].line.contains("OmsAgentForLinux"), "{:?}", diagnosis.evidence);
    assert_eq!((diagnosis.os, diagnosis.outcome), (Some(Os::Linux), BootstrapOutcome::NoCode));
    let reported = Reported { name: Some("OmsAgentForLinux".to_owned()), ..Reported::default() };
    assert_eq!((&diagnosis.reported, diagnosis.confidence), (&reported, Confidence::Medium));
    assert!(diagnosis.summary.ends_with(" Extension: OmsAgentForLinux."), "{}", diagnosis.summary);
    let succeeded = text.replace("failed with exit code 52", "succeeded: done");
    assert!(diagnose(succeeded.as_bytes(), hints).is_empty());
}

#[test]
fn wording_is_reported_with_the_name_of_its_error() {
    let text = "aks-np1-vmss: SkuNotAvailable: Standard_D4s_v5 is not available";
    let diagnosis = &diagnose(text.as_bytes(), Hints::default())[0];
    let reported = Reported { name: Some("SkuNotAvailable".to_owned()), ..Reported::default() };
    assert_eq!((diagnosis.outcome, &diagnosis.reported), (BootstrapOutcome::NoCode, &reported));
}

/// Each text repeats an anchor. A reader that scanned the whole text for each of them would run for hours.
#[test]
fn hostile_megabytes_are_read_in_linear_time() {
    for piece in [
        "processing extension 'a' ",
        "exit status=50 [stdout] ",
        "command terminated with exit status=51\n[stdout]\noras: command not found\n",
        "VMExtensionError_A VMExtensionError_B ",
        "WINDOWS_CSE_ERROR_X ",
        "{\"ExitCode\": \"50\", \"Output\": \"",
        "\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\",
        "\"name\": \"vmssCSE\" ",
        "\"name\": \"x\" ",
        "                                                  exit",
        "////////",
        "&amp;&amp;amp;amp;",
        "<<<<<<<<",
        "eyJ.eyJ.",
        "+ exit 1\n",
        "CSE Error ",
        "AKSUbuntu-AKSUbuntu-",
        "\u{1b}[",
    ] {
        let text = format!("/opt/azure/ {}", piece.repeat((1 << 20) / piece.len()));
        for diagnosis in diagnose(text.as_bytes(), Hints::default()) {
            assert!(!diagnosis.reason.is_empty(), "{piece:?}");
        }
    }
}

#[test]
fn other_extension_in_an_instance_view_fails_by_its_handler() {
    let view = |message: &str| {
        let text = format!(
            "{{\"vmName\": \"aks-work-1-vmss_0\", \"extensions\": [{{\"name\": \"DependencyAgentLinux\", \"statuses\": \
             [{{\"message\": \"{message}\"}}]}}]}}"
        );
        diagnose(text.as_bytes(), Hints::default()).first().and_then(|one| one.rule)
    };
    assert_eq!(view("Enable failed: dpkg is locked"), Some("other-extension"));
    assert_eq!(view("Enable succeeded: dpkg is done"), None);
}

#[test]
fn unsupported_feature_in_region_is_not_a_version_error() {
    let rule = |what: &str| {
        let text =
            format!("Failed to create agent pool np1: {what} is not supported in this region.");
        diagnose(text.as_bytes(), Hints::default()).first().and_then(|one| one.rule)
    };
    assert_eq!(rule("Version 1.22.4"), Some("version-not-supported"));
    assert_ne!(rule("Zone redundancy of disks"), Some("version-not-supported"));
}
