//! Any bytes as a report, and any texts in one: round trip and size limit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_contract::CseStatus;
use serde_json::Value;

/// `{"ExitCode":"…","Error":"","Output":""}`, a line end, and the longest code.
const SMALLEST: usize = 64;

fuzz_target!(|input: &[u8]| {
    if let Ok(status) = CseStatus::read(input) {
        is_read_as_written(&status);
        fits(&status, input.len());
    }
    if let [code, sizes, texts @ ..] = input {
        let status = from_texts(*code, texts);
        is_read_as_written(&status);
        fits(&status, SMALLEST + 16 * usize::from(*sizes));
    }
});

/// A report of any texts: output of a node must not break its report.
fn from_texts(code: u8, texts: &[u8]) -> CseStatus {
    let mut texts = texts.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut next = || texts.next().unwrap_or_default().into_owned();
    let mut status = CseStatus {
        exit_code: code.to_string(),
        output: next(),
        error: next(),
        diagnosis: next(),
        ..CseStatus::default()
    };
    status.timings.exec_duration = Some(next());
    status.timings.boot_datapoints.insert("KubeletStartTime".to_owned(), next());
    status
}

fn is_read_as_written(status: &CseStatus) {
    let text = status.to_json();
    assert!(!text.contains('\n'), "a report is one line");
    assert!(text.starts_with("{\"ExitCode\":"), "the code comes first");
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    assert_eq!(&CseStatus::read(text.as_bytes()).expect("our own writing"), status);
}

fn fits(status: &CseStatus, limit: usize) {
    let line = status.fit(limit);
    let read = CseStatus::read(line.as_bytes()).expect("a shortened report is a report");
    assert!(line.ends_with("}\n"));
    assert!(line.starts_with("{\"ExitCode\":"), "the code comes first");
    if let Ok(code) = status.code() {
        assert_eq!(read.code(), Ok(code), "the code survives: {line}");
        assert!(line.len() <= limit.max(SMALLEST), "{} bytes in {limit}", line.len());
    }
    assert!(status.output.ends_with(&read.output), "Output keeps its end");
    assert!(status.error.starts_with(&read.error), "Error keeps its beginning");
    assert!(status.diagnosis.starts_with(&read.diagnosis), "Diagnosis keeps its beginning");
}
