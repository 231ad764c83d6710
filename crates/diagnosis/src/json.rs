//! Diagnoses as JSON, schema `mooring.explain/v1`.

use mooring_codes::Os;
use mooring_contract::json::{Escape, JsonLayout, Writer};

use crate::decode::decoded::FoundBy;
use crate::diagnosis::Diagnosis;

pub const SCHEMA: &str = "mooring.explain/v1";

/// Returns the JSON document that `explain` prints. Members are only added.
pub fn to_json(diagnoses: &[Diagnosis]) -> String {
    let mut writer = Writer::new(JsonLayout::Indented(2), Escape::Html);
    writer.open_object();
    writer.name("schema");
    writer.string(SCHEMA);
    writer.name("diagnoses");
    writer.open_array();
    for diagnosis in diagnoses {
        write(&mut writer, diagnosis);
    }
    writer.close_array();
    writer.close_object();
    writer.finish()
}

fn write(writer: &mut Writer, diagnosis: &Diagnosis) {
    writer.open_object();
    text(writer, "os", diagnosis.os.map(Os::as_str));
    writer.name("reported");
    writer.open_object();
    number(writer, "code", diagnosis.reported.code);
    text(writer, "name", diagnosis.reported.name.as_deref());
    text(writer, "foundBy", diagnosis.reported.found_by.map(FoundBy::as_str));
    writer.close_object();
    writer.name("effective");
    writer.open_object();
    number(writer, "code", diagnosis.effective.code);
    text(writer, "name", diagnosis.effective.name.as_deref());
    writer.close_object();
    text(writer, "confidence", Some(diagnosis.confidence.as_str()));
    text(writer, "reason", Some(&diagnosis.reason));
    text(writer, "owner", Some(diagnosis.owner.as_str()));
    text(writer, "stage", Some(diagnosis.stage.as_str()));
    text(writer, "summary", Some(&diagnosis.summary));
    writer.name("evidence");
    writer.open_array();
    for evidence in &diagnosis.evidence {
        writer.open_object();
        text(writer, "line", Some(&evidence.line));
        text(writer, "where", Some(&evidence.place));
        writer.close_object();
    }
    writer.close_array();
    writer.name("actions");
    writer.open_array();
    for action in &diagnosis.actions {
        writer.string(action);
    }
    writer.close_array();
    text(writer, "imageVersion", diagnosis.image_version.as_deref());
    text(writer, "extension", diagnosis.extension.as_deref());
    writer.close_object();
}

fn text(writer: &mut Writer, name: &str, value: Option<&str>) {
    writer.name(name);
    match value {
        Some(value) => writer.string(value),
        None => writer.raw("null"),
    }
}

fn number(writer: &mut Writer, name: &str, value: Option<i32>) {
    writer.name(name);
    match value {
        Some(value) => writer.integer(value.into()),
        None => writer.raw("null"),
    }
}
