//! Reports are read, written and truncated.

use mooring_contract::CseStatus;
use mooring_contract::cse_status::{EXTENSION_WINDOW, NoCode};
use proptest::prelude::*;

/// A report as the bootstrap scripts write it.
const BY_SCRIPTS: &str = r#"{ "ExitCode": "50", "Output": "+ exit 50\n", "Error": "", "ExecDuration": "18",
 "KernelStartTime": "Sun 2026-11-15 02:15:28 UTC", "CloudInitLocalStartTime": "a", "CloudInitStartTime": "b",
 "CloudFinalStartTime": "c", "NetworkdStartTime": "d", "CSEStartTime": "e", "GuestAgentStartTime": "f",
 "SystemdSummary": "Startup finished in 5.2s", "BootDatapoints": { "KernelStartTime": "k", "KubeletStartTime": "n/a" } }
"#;

fn read(text: &str) -> CseStatus {
    CseStatus::read(text.as_bytes()).unwrap()
}

#[test]
fn members_of_script_reports_are_read() {
    let status = read(BY_SCRIPTS);
    assert_eq!(status.code(), Ok(50));
    assert_eq!(status.output, "+ exit 50\n");
    assert_eq!(status.timings.exec_duration.as_deref(), Some("18"));
    assert_eq!(status.timings.cse_start_time.as_deref(), Some("e"));
    assert_eq!(status.timings.systemd_summary.as_deref(), Some("Startup finished in 5.2s"));
    assert_eq!(status.timings.boot_datapoints["KubeletStartTime"], "n/a");
}

#[test]
fn names_may_have_any_case_and_values_may_be_numbers() {
    let status = read(r#"{"exitcode": 211, "OUTPUT": "o", "eRRor": "e", "execDuration": 1.5}"#);
    assert_eq!((status.code(), &*status.output, &*status.error), (Ok(211), "o", "e"));
    assert_eq!(status.timings.exec_duration.as_deref(), Some("1.5"));
}

#[test]
fn foreign_members_and_types_are_passed_over() {
    let status = read(
        r#"{"x": [{"ExitCode": "1"}], "Output": {"a": 1}, "ExitCode": null, "Error": true, "exitCode": "7"}"#,
    );
    assert_eq!((status.code(), &*status.output, &*status.error), (Ok(7), "", ""));
}

#[test]
fn other_members_are_not_read_as_boot_datapoints() {
    let status = read(r#"{"BootDatapoints": {"a": "1", "b": [2]}, "x": {"c": "3"}}"#);
    assert_eq!(
        status.timings.boot_datapoints.into_iter().collect::<Vec<_>>(),
        [("a".into(), "1".into())]
    );
    let status = read(r#"{"BootDatapoints": "none", "ExitCode": "1"}"#);
    assert_eq!((status.code(), status.timings.boot_datapoints.len()), (Ok(1), 0));
}

#[test]
fn report_without_a_usable_code_is_an_error() {
    assert_eq!(read("{}").code(), Err(NoCode::Missing));
    assert_eq!(read(r#"{"ExitCode": "unknown"}"#).code(), Err(NoCode::NotANumber));
    assert_eq!(NoCode::Missing.to_string(), "the report has no exit code");
    assert_eq!(NoCode::NotANumber.to_string(), "the report's exit code is not a whole number");
    assert_eq!(read(r#"{"ExitCode": "-1"}"#).code(), Ok(-1));
    assert_eq!(read(r#"{"ExitCode": "007"}"#).code(), Ok(7));
}

#[test]
fn a_broken_report_is_an_error_with_a_position() {
    let error = CseStatus::read(b"{\"ExitCode\": \"1\",\n \"Output\": ").unwrap_err();
    assert_eq!(error.to_string(), "malformed JSON: unexpected end of text (line 2, column 12)");
    assert!(CseStatus::read(b"[]").is_err());
    assert!(CseStatus::read(b"").is_err());
}

#[test]
fn our_own_report_is_written_as_the_go_program_writes_it() {
    let status = CseStatus {
        exit_code: "240".into(),
        error: "unsupported version: <x>".into(),
        ..CseStatus::default()
    };
    assert_eq!(
        status.to_json(),
        r#"{"ExitCode":"240","Error":"unsupported version: \u003cx\u003e","Output":""}"#
    );
}

#[test]
fn a_report_that_fits_is_unchanged() {
    let status = read(BY_SCRIPTS);
    assert_eq!(status.fit(EXTENSION_WINDOW), status.to_json() + "\n");
    assert_eq!(status.fit(status.to_json().len() + 1), status.to_json() + "\n");
}

#[test]
fn output_loses_its_beginning_first() {
    let status = CseStatus {
        exit_code: "50".into(),
        error: "exit status 50".into(),
        output: format!("{}the end", "é<".repeat(5000)),
        diagnosis: "cause".into(),
        ..CseStatus::default()
    };
    let line = status.fit(EXTENSION_WINDOW);
    assert!(line.len() <= EXTENSION_WINDOW && line.len() > EXTENSION_WINDOW - 8, "{}", line.len());
    let fitted = read(&line);
    assert!(status.output.ends_with(&fitted.output) && fitted.output.ends_with("the end"));
    assert_eq!((fitted.error, fitted.diagnosis), (status.error, status.diagnosis));
}

#[test]
fn diagnosis_goes_before_error_and_both_keep_their_beginning() {
    let status = CseStatus {
        exit_code: "232".into(),
        error: "ERR_ORAS_BINARY_NOT_FOUND: oras is not on this image".into(),
        output: "o".repeat(100),
        diagnosis: "d".repeat(100),
        ..CseStatus::default()
    };
    let fitted = read(&status.fit(150));
    assert_eq!(fitted.output, "");
    assert_eq!(fitted.error, status.error);
    assert!(fitted.diagnosis.starts_with('d') && fitted.diagnosis.len() < 100);
    let fitted = read(&status.fit(80));
    assert_eq!(fitted.diagnosis, "");
    assert!(fitted.error.starts_with("ERR_ORAS_BINARY_NOT_FOUND"), "{}", fitted.error);
}

#[test]
fn zeros_before_a_code_do_not_cost_its_digits() {
    let status = CseStatus { exit_code: format!("{}51", "0".repeat(30)), ..CseStatus::default() };
    assert_eq!(read(&status.fit(64)).code(), Ok(51));
}

#[test]
fn report_fits_where_its_timings_alone_are_a_byte_too_long() {
    let mut status = read(BY_SCRIPTS);
    status.exit_code = "-1234567".to_owned();
    status.hotfix = "binary=1 scripts=2".to_owned();
    let bare = CseStatus { output: String::new(), error: String::new(), ..status.clone() };
    let most = bare.to_json().len() + 1;
    for limit in [most - 1, most] {
        let line = status.fit(limit);
        assert!(line.len() <= limit, "{} > {limit}: {line}", line.len());
        assert_eq!(read(&line).timings == status.timings, limit == most, "{line}");
    }
}

#[test]
fn endless_timings_do_not_cost_the_cause() {
    let mut status = read(BY_SCRIPTS);
    status.timings.systemd_summary = Some("s".repeat(10_000));
    let fitted = read(&status.fit(EXTENSION_WINDOW));
    assert_eq!((fitted.code(), fitted.output), (Ok(50), status.output));
}

proptest! {
    #[test]
    fn reports_round_trip(
        exit_code in any::<String>(), error in any::<String>(), output in any::<String>(), diagnosis in any::<String>(),
        points in prop::collection::btree_map(any::<String>(), any::<String>(), 0..4),
    ) {
        let mut status = CseStatus { exit_code, error, output, diagnosis, ..CseStatus::default() };
        status.timings.boot_datapoints = points;
        prop_assert_eq!(CseStatus::read(status.to_json().as_bytes()).unwrap(), status);
    }

    #[test]
    fn any_bytes_are_a_report_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = CseStatus::read(&bytes);
    }
}

mod slow {
    use super::*;

    proptest! {
        #[test]
        fn a_fitted_report_fits_is_valid_and_leads_with_its_code(
            code in "[0-9]{1,3}",
            error in any::<String>(),
            output in prop::collection::vec(any::<char>(), 0..6000),
            diagnosis in any::<String>(),
            summary in prop::option::of(any::<String>()),
            limit in 64_usize..8192,
        ) {
            let mut status = CseStatus { exit_code: code, error, output: output.into_iter().collect(), diagnosis, ..CseStatus::default() };
            status.timings.systemd_summary = summary;
            let line = status.fit(limit);
            prop_assert!(line.len() <= limit, "{} > {}", line.len(), limit);
            let head = format!("{{\"ExitCode\":\"{}\"", status.exit_code);
            prop_assert!(line.starts_with(&head));
            prop_assert_eq!(&line[line.len() - 2..], "}\n");
            let fitted = CseStatus::read(line.as_bytes()).unwrap();
            prop_assert!(status.output.ends_with(&fitted.output));
            prop_assert!(status.error.starts_with(&fitted.error));
            prop_assert!(status.diagnosis.starts_with(&fitted.diagnosis));
        }
    }
}
