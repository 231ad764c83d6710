//! Boundaries of rules: dates, seconds and codes.

use mooring_codes::{Date, Os};
use mooring_diagnosis::{Hints, decode, diagnose};

fn report(code: i32, seconds: u32, output: &str) -> String {
    format!(
        "{{\"ExitCode\": \"{code}\", \"Output\": \"{output}\", \"Error\": \"\", \"ExecDuration\": \"{seconds}\"}}"
    )
}

fn rule(text: &str, day: Option<Date>) -> Option<&'static str> {
    diagnose(text.as_bytes(), Hints { image_date: day, ..Hints::default() })[0].rule
}

#[test]
fn rules_apply_exactly_within_their_durations() {
    let old = Date::new(2022, 1, 1);
    // Code, output, image, rule, and its first and last second.
    for (code, output, day, name, first, last) in [
        (2, "", None, "budget-by-time", 760, 899),
        (124, "", None, "command-timed-out", 0, 599),
        (124, "", old, "vhd-as-124", 0, 600),
        (211, "unexpected response from acr: ", None, "oras-too-fast", 0, 15),
    ] {
        for seconds in [first, last] {
            let found = rule(&report(code, seconds, output), day);
            assert_eq!(found, Some(name), "{name} after {seconds} s");
        }
        for seconds in [first.checked_sub(1), Some(last + 1)].into_iter().flatten() {
            let found = rule(&report(code, seconds, output), day);
            assert_ne!(found, Some(name), "{name} after {seconds} s");
        }
    }
    assert_eq!(rule(&report(124, 600, ""), None), Some("script-timed-out"));
}

#[test]
fn rules_apply_exactly_to_their_image_dates() {
    let day = |(year, month, day)| Date::new(year, month, day).unwrap();
    // Code, output, rule; the day before, the first, the last and the day after.
    for (code, output, name, before, first, last, after) in [
        (124, "", "vhd-as-124", (2017, 12, 31), (2018, 1, 1), (2023, 5, 31), (2023, 6, 1)),
        (
            231,
            "curl: (28) 169.254.169.254 failed to query IMDS",
            "imds-as-231",
            (2026, 1, 22),
            (2026, 1, 23),
            (2026, 4, 5),
            (2026, 4, 6),
        ),
        (
            231,
            "",
            "imds-as-231-by-date",
            (2026, 1, 22),
            (2026, 1, 23),
            (2026, 2, 16),
            (2026, 2, 17),
        ),
        (225, "", "pause-image-as-225", (2025, 10, 9), (2025, 10, 10), (2026, 4, 5), (2026, 4, 6)),
    ] {
        let found = |date| rule(&report(code, 60, output), Some(day(date)));
        for date in [first, last] {
            assert_eq!(found(date), Some(name), "{name} on {date:?}");
        }
        for date in [before, after] {
            assert_ne!(found(date), Some(name), "{name} on {date:?}");
        }
    }
}

#[test]
fn name_of_a_code_that_moved_is_resolved_by_the_image_date() {
    let code = |month, day| {
        let hints = Hints { image_date: Date::new(2023, month, day), ..Hints::default() };
        let text = b"CSE failed with 'VMExtensionError_VHDFileNotFound'";
        diagnose(text, hints)[0].reported.code
    };
    assert_eq!((code(5, 31), code(6, 1)), (Some(124), Some(65)));
}

#[test]
fn running_step_is_named_for_timeout_codes_only() {
    let output = "+ logs_to_events AKS.CSE.ensureContainerd ensureContainerd\\n+ sleep 5";
    for (code, is_named) in [(2, true), (124, true), (137, true), (50, false), (1, false)] {
        let text = report(code, 800, output);
        let diagnosis = &diagnose(text.as_bytes(), Hints::default())[0];
        assert_eq!(diagnosis.summary.contains("ensureContainerd"), is_named, "{code}");
    }
    // A truncated name does not replace the previous one.
    let cut = report(124, 800, &format!("{output}\\n+ logs_to_events AKS.CSE. "));
    let diagnosis = &diagnose(cut.as_bytes(), Hints::default())[0];
    assert!(diagnosis.summary.contains("ensureContainerd"), "{}", diagnosis.summary);
}

#[test]
fn linux_error_names_are_ignored_on_windows_nodes() {
    let name = "VMExtensionError_OutboundConnFail";
    let windows = format!(
        "{name}: VM has reported a failure when processing extension 'windows-cse-agent-0' (publisher 'Microsoft.Compute' and type \
         'CustomScriptExtension'). Error message: 'Finished executing command'"
    );
    let decoded = decode(windows.as_bytes());
    assert!(
        decoded.iter().all(|one| one.os == Some(Os::Windows) && one.code.is_none()),
        "{decoded:?}"
    );
    let link = format!("{name} https://aka.ms/VMExtensionCSEWindowsTroubleshoot");
    assert!(decode(link.as_bytes()).iter().all(|one| one.code.is_none()), "{link}");
    // The same name on Linux is its code.
    let linux = decode(format!("{name} on aks-np-1").as_bytes());
    assert_eq!(linux[0].code, Some(50));
}
