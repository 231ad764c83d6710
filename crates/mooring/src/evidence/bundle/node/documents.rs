//! Documents of Mooring: failure record, `why`, `fleet`, `trace` and `doctor`.

use mooring_nodes::Fleet;
use mooring_nodes::status::{FLEET_SCHEMA, FleetContent, ImageFinding};
use mooring_trace::{Timeline, TraceFile, is_wanted, json};
use serde_json::Value;

use super::super::archive::{Contents, FileOrigin};
use super::files::FileTarget;
use super::source::Sources;
use super::subject::BundledNode;
use crate::doctor;
use crate::output::failure::CommandFailure;
use crate::output::published::document;

/// Adds the failures of a node in the record.
pub(super) fn add_record(
    sources: &Sources<'_>,
    subject: &BundledNode,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    let read = if subject.entries.is_empty() {
        Err(match sources.facts().map(|facts| facts.inventory.reads.record.missing()) {
            Ok(None) => "the failure record has no failure of this node".to_owned(),
            Ok(Some(why)) => format!("the failure record: {why}"),
            Err(why) => why.clone(),
        })
    } else {
        Ok(serde_json::to_value(&subject.entries)?)
    };
    let target = FileTarget {
        part: FileOrigin::Mooring,
        label: &match subject.entries.len() {
            0 => "record entries".to_owned(),
            1 => "1 record entry".to_owned(),
            count => format!("{count} record entries"),
        },
        path: &subject.path("record.json"),
        why: "failures of the node in the failure record",
    };
    target.add_json(read, contents)
}

/// Adds the output of a command without the times of the reads, or why there is none.
fn add_output(
    command: &str,
    read: Result<Value, String>,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    let target = FileTarget {
        part: FileOrigin::Mooring,
        label: command,
        path: &format!("{command}.json"),
        why: &format!("output of `mooring {command} -o json`, without the times of the reads"),
    };
    target.add_json(read.map(without_read_times), contents)
}

/// Adds the output of `mooring why`.
pub(super) fn add_why(
    sources: &Sources<'_>,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    let document = sources.why.clone().map_err(|why| sources.missing(&why, None));
    add_output("why", document, contents)
}

/// Adds the output of `mooring doctor`.
pub(super) async fn add_doctor(
    sources: &Sources<'_>,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    let mut document = doctor::document(sources.arguments, sources.cluster.as_ref().ok()).await?;
    document["seconds"] = 0.into();
    for check in document["checks"].as_array_mut().into_iter().flatten() {
        check["message"] = without_seconds(check["message"].as_str().unwrap_or_default()).into();
    }
    add_output("doctor", Ok(document), contents)
}

/// Replaces the number of words such as `84ms` and `0.3s`.
fn without_seconds(text: &str) -> String {
    let word = |word: &str| {
        let end = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_time = end.len() < word.len() && matches!(end.trim_end_matches(','), "s" | "ms");
        if is_time { format!("…{end}") } else { word.to_owned() }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Adds the output of `mooring fleet`.
pub(super) fn add_fleet(
    sources: &Sources<'_>,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    let facts = match sources.facts() {
        Ok(facts) => facts,
        Err(why) => return add_output("fleet", Err(why.clone()), contents),
    };
    let fleet = Fleet::of(&facts.inventory, None);
    let findings = ImageFinding::all(facts, &facts.inventory, &fleet);
    let content = FleetContent::new(facts, &fleet, &findings);
    let document = serde_json::to_value(facts.document(FLEET_SCHEMA, content))?;
    add_output("fleet", Ok(document), contents)
}

/// Removes what changes with every read, so that the same cluster gives the same archive.
fn without_read_times(mut document: Value) -> Value {
    document["generatedAt"] = Value::Null;
    if let Some(since) = document.get_mut("since") {
        *since = Value::Null;
    }
    for source in document["sources"].as_array_mut().into_iter().flatten() {
        source["at"] = Value::Null;
        source["seconds"] = Value::Null;
    }
    document
}

/// Adds the output of `mooring trace`, from the files that are already there.
pub(super) fn add_trace(contents: &mut Contents) -> Result<(), CommandFailure> {
    let timelines = mooring_trace::read(&trace_files(contents));
    if timelines.iter().all(Timeline::is_empty) {
        return add_output("trace", Err("no times are known".to_owned()), contents);
    }
    let content = json::TraceContent::new(&timelines);
    let document = document(json::SCHEMA, contents.cluster.as_ref(), &contents.sources, content);
    add_output("trace", Ok(serde_json::to_value(document)?), contents)
}

/// Returns the files that have times.
pub(super) fn trace_files(contents: &Contents) -> Vec<TraceFile> {
    let wanted = contents.entries.iter().filter(|entry| is_wanted(&entry.path));
    wanted.map(|entry| TraceFile { path: entry.path.clone(), bytes: entry.bytes.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::without_seconds;

    #[test]
    fn times_of_checks_are_removed() {
        let text = "context c answers in 84ms, Kubernetes v1.33.6, 3 pods; at most 0.3s";
        let expected = "context c answers in …ms, Kubernetes v1.33.6, 3 pods; at most …s";
        assert_eq!(without_seconds(text), expected);
        assert_eq!(without_seconds("s, ms and 5"), "s, ms and 5");
    }
}
