//! Writer of reports: fixed order, strings only, escaped as in Go.

use super::status::CseStatus;
use super::timings::{Timings, each_timing};
use crate::json::{Escape, JsonLayout, Writer};

/// The escapes of the upstream Go agent and of the extension handler.
pub(super) const ESCAPE: Escape = Escape::HtmlReplaced;

impl CseStatus {
    /// Returns the report as one line without a line end. `ExitCode`, `Error` and `Output` are always
    /// written, in this order; other members only if they are not empty.
    pub fn to_json(&self) -> String {
        let mut writer = Writer::new(JsonLayout::Compact, ESCAPE);
        writer.open_object();
        write_member(&mut writer, "ExitCode", &self.exit_code);
        write_member(&mut writer, "Error", &self.error);
        write_member(&mut writer, "Output", &self.output);
        if !self.diagnosis.is_empty() {
            write_member(&mut writer, "Diagnosis", &self.diagnosis);
        }
        if !self.hotfix.is_empty() {
            write_member(&mut writer, "Hotfix", &self.hotfix);
        }
        write_timings(&mut writer, &self.timings);
        writer.close_object();
        writer.finish()
    }
}

fn write_timings(writer: &mut Writer, timings: &Timings) {
    macro_rules! write_each {
        ($($name:literal $field:ident,)+) => {
            $( if let Some(value) = &timings.$field { write_member(writer, $name, value); } )+
        };
    }
    each_timing!(write_each);
    if !timings.boot_datapoints.is_empty() {
        writer.name("BootDatapoints");
        writer.open_object();
        for (name, value) in &timings.boot_datapoints {
            write_member(writer, name, value);
        }
        writer.close_object();
    }
}

fn write_member(writer: &mut Writer, name: &str, value: &str) {
    writer.name(name);
    writer.string(value);
}
