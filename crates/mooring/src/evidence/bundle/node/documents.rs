//! Documents of Mooring: failure record, `why`, `fleet`, `trace` and `doctor`.

use mooring_inventory::Fleet;
use mooring_inventory::status::{FLEET_SCHEMA, FleetContent, ImageFinding};
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
    let path = subject.path("record.json");
    if subject.entries.is_empty() {
        let record = sources.facts().map(|facts| facts.record.is_some());
        let why = match record {
            Some(true) => "the failure record has no failure of this node".to_owned(),
            Some(false) => "the cluster has no failure record".to_owned(),
            None => sources.missing("not read", None),
        };
        contents.skip_as(&path, "record entries", why);
        return Ok(());
    }
    let count = subject.entries.len();
    let label =
        if count == 1 { "1 record entry".to_owned() } else { format!("{count} record entries") };
    let why = "failures of the node in the failure record";
    let target = FileTarget { part: FileOrigin::Mooring, label: &label, path: &path, why };
    let value = serde_json::to_value(&subject.entries)
        .map_err(|error| CommandFailure::io(error.to_string()))?;
    contents.entries.push(target.json(&value)?);
    Ok(())
}

/// Adds the output of `mooring why`.
pub(super) fn add_why(
    sources: &Sources<'_>,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    const TARGET: FileTarget<'_> = FileTarget {
        part: FileOrigin::Mooring,
        label: "why",
        path: "why.json",
        why: "output of `mooring why -o json`, without the times of the reads",
    };
    match &sources.why {
        Ok(document) => {
            let document = without_read_times(document.clone());
            contents.entries.push(TARGET.json(&document)?);
        }
        Err(why) => contents.skip_as(TARGET.path, TARGET.label, sources.missing(why, None)),
    }
    Ok(())
}

/// Adds the output of `mooring doctor`.
pub(super) async fn add_doctor(
    sources: &Sources<'_>,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    const TARGET: FileTarget<'_> = FileTarget {
        part: FileOrigin::Mooring,
        label: "doctor",
        path: "doctor.json",
        why: "output of `mooring doctor -o json`, without the times of the reads",
    };
    let document = doctor::document(sources.arguments, sources.cluster.as_ref()).await?;
    let mut document = without_read_times(document);
    document["seconds"] = 0.into();
    for check in document["checks"].as_array_mut().into_iter().flatten() {
        check["message"] = without_seconds(check["message"].as_str().unwrap_or_default()).into();
    }
    contents.entries.push(TARGET.json(&document)?);
    Ok(())
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
    const TARGET: FileTarget<'_> = FileTarget {
        part: FileOrigin::Mooring,
        label: "fleet",
        path: "fleet.json",
        why: "output of `mooring fleet -o json`, without the times of the reads",
    };
    let Some(facts) = sources.facts() else {
        contents.skip_as(TARGET.path, TARGET.label, sources.missing("not read", None));
        return Ok(());
    };
    let fleet = Fleet::of(&facts.inventory, None);
    let findings = ImageFinding::all(facts, &fleet);
    let content = FleetContent::new(facts, &fleet, &findings);
    let value = serde_json::to_value(facts.document(FLEET_SCHEMA, content))
        .map_err(|error| CommandFailure::io(error.to_string()))?;
    contents.entries.push(TARGET.json(&without_read_times(value))?);
    Ok(())
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
    const TARGET: FileTarget<'_> = FileTarget {
        part: FileOrigin::Mooring,
        label: "trace",
        path: "trace.json",
        why: "output of `mooring trace -o json`, without the times of the reads",
    };
    let timelines = mooring_trace::read(&trace_files(contents));
    if timelines.iter().all(Timeline::is_empty) {
        contents.skip_as(TARGET.path, TARGET.label, "no times are known");
    } else {
        let (cluster, sources) = (contents.cluster.as_ref(), &contents.sources);
        let document =
            document(json::SCHEMA, cluster, sources, json::TraceContent::new(&timelines));
        let value = serde_json::to_value(document)
            .map_err(|error| CommandFailure::io(error.to_string()))?;
        contents.entries.push(TARGET.json(&without_read_times(value))?);
    }
    Ok(())
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
