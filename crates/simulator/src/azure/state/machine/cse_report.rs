//! The report of the bootstrap scripts, and the part of it that the extension's handler keeps.
//!
//! Written from recordings of the scripts and the handler, without the product's own types: a
//! mistake in those must not repeat itself here.

use serde_json::{Value, json};

/// Bytes that the handler keeps at the end of a stream. A longer report loses its start, and with it the exit code.
pub(super) const KEPT_BYTES: usize = 4096;
/// Bytes at the end of their output that the scripts put into a report, before it is escaped.
const OUTPUT_BYTES: usize = 3000;

/// Returns the report as the scripts write it: `ExitCode` first, strings only, one line.
pub(super) fn report(exit_code: i32, output: &str, error: &str, seconds: u64) -> String {
    let members = [
        ("ExitCode", exit_code.to_string()),
        ("Output", end_of(output, OUTPUT_BYTES).to_owned()),
        ("Error", error.to_owned()),
        ("ExecDuration", seconds.to_string()),
    ];
    let members = members.map(|(name, value)| format!("{}: {}", json!(name), Value::from(value)));
    format!("{{ {} }}\n", members.join(", "))
}

/// Returns the end of a stream in at most so many bytes, without splitting a character.
pub(super) fn end_of(stream: &str, most: usize) -> &str {
    &stream[stream.ceil_char_boundary(stream.len().saturating_sub(most))..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::azure::Cse;

    #[test]
    fn report_has_the_recorded_members_in_order() {
        assert_eq!(
            report(50, "+ exit 50\n", "", 60),
            "{ \"ExitCode\": \"50\", \"Output\": \"+ exit 50\\n\", \"Error\": \"\", \"ExecDuration\": \"60\" }\n"
        );
    }

    #[test]
    fn long_output_is_cut_before_it_is_escaped() {
        let cse = Cse { exit_code: 50, output: "\"".repeat(5000), ..Cse::default() };
        let report = report(50, &cse.output, "", 60);
        assert!(report.starts_with("{ \"ExitCode\": \"50\""), "{report}");
        let value: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(value["Output"].as_str().map(str::len), Some(3000));
        // Escaped characters take two bytes, so the handler cuts off the exit code.
        let message = cse.message();
        assert!(report.len() > KEPT_BYTES && !message.contains("ExitCode"), "{message:.80}");
        assert!(message.contains("exit status=50"), "{message:.80}");
    }
}
