//! Documents of Mooring: failure record, `why`, `fleet` and `trace`.

use mooring_controller::query::{NodeQuery, NodeReport};
use mooring_inventory::Fleet;
use mooring_inventory::status::{FLEET_SCHEMA, FleetContent, ImageFinding};
use mooring_trace::{File, Timeline, is_wanted, json};
use serde_json::Value;

use super::super::archive::{Contents, Part};
use super::files::Target;
use super::source::Sources;
use super::subject::Subject;
use crate::failure::Failure;
use crate::{former, show};

/// Adds the failures of a node in the record.
pub(super) fn add_record(
    sources: &Sources<'_>,
    subject: &Subject,
    contents: &mut Contents,
) -> Result<(), Failure> {
    let path = subject.path("record.json");
    if subject.entries.is_empty() {
        let record = sources.facts.as_ref().map(|facts| facts.record.is_some());
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
    let target = Target { part: Part::Mooring, label: &label, path: &path, why };
    let value =
        serde_json::to_value(&subject.entries).map_err(|error| Failure::io(error.to_string()))?;
    contents.entries.push(target.json(&value)?);
    Ok(())
}

/// Adds the output of `mooring why`: by Azure, or from the record.
pub(super) async fn add_why(sources: &Sources<'_>, subjects: &[Subject], contents: &mut Contents) {
    const TARGET: Target<'_> = Target {
        part: Part::Mooring,
        label: "why",
        path: "why.json",
        why: "output of `mooring why -o json`",
    };
    let text = match ask_why(sources).await {
        Ok(text) => Ok(text),
        Err(why) => recorded_why(sources, subjects).ok_or(why),
    };
    match text {
        Ok(text) => contents.entries.push(TARGET.text(&text)),
        Err(why) => contents.skip_as(TARGET.path, TARGET.label, why),
    }
}

async fn ask_why(sources: &Sources<'_>) -> Result<String, String> {
    let azure = sources.azure.as_ref().map_err(Clone::clone)?;
    let name = sources.wanted.name;
    let query = NodeQuery {
        api: sources.api.clone(),
        arm: azure.arm.clone(),
        scope: azure.scope.clone(),
        namespace: sources.namespace(),
        condition_type: Sources::condition_type(),
        now: sources.now,
        run_command: false,
        progress: show::print_note,
    };
    let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let reports = query.why(name).await;
    let reports = reports.map_err(|error| first_line(Failure::query(&error).text()))?;
    let fleet = query.fleet().await.unwrap_or_default();
    let lost = query.nodes_without_provider_id().await;
    let group = &query.scope.node_resource_group;
    let shown = show::json(&former::why_document(name, &reports, &fleet, &lost, group));
    shown.map_err(|failure| first_line(failure.text()))
}

fn recorded_why(sources: &Sources<'_>, subjects: &[Subject]) -> Option<String> {
    let reports: Vec<NodeReport> =
        subjects.iter().flat_map(|one| &one.entries).map(NodeReport::recorded).collect();
    let fleet = mooring_controller::query::Table::default();
    let name = sources.wanted.name;
    let shown = show::json(&former::why_document(name, &reports, &fleet, &[], ""));
    shown.ok().filter(|_| !reports.is_empty())
}

/// Adds the output of `mooring fleet`.
pub(super) fn add_fleet(sources: &Sources<'_>, contents: &mut Contents) -> Result<(), Failure> {
    const TARGET: Target<'_> = Target {
        part: Part::Mooring,
        label: "fleet",
        path: "fleet.json",
        why: "output of `mooring fleet -o json`, without the times of the reads",
    };
    let Some(facts) = &sources.facts else {
        contents.skip_as(TARGET.path, TARGET.label, sources.missing("not read", None));
        return Ok(());
    };
    let fleet = Fleet::of(&facts.inventory, None);
    let findings = ImageFinding::all(facts, &fleet);
    let content = FleetContent::new(facts, &fleet, &findings);
    let value = serde_json::to_value(facts.document(FLEET_SCHEMA, content))
        .map_err(|error| Failure::io(error.to_string()))?;
    contents.entries.push(TARGET.json(&without_read_times(value))?);
    Ok(())
}

/// Removes what changes with every read, so that the same cluster gives the same archive.
fn without_read_times(mut document: Value) -> Value {
    document["generatedAt"] = Value::Null;
    for source in document["sources"].as_array_mut().into_iter().flatten() {
        source["at"] = Value::Null;
        source["seconds"] = Value::Null;
    }
    document
}

/// Adds the output of `mooring trace`, from the files that are already there.
pub(super) fn add_trace(contents: &mut Contents) {
    const TARGET: Target<'_> = Target {
        part: Part::Mooring,
        label: "trace",
        path: "trace.json",
        why: "output of `mooring trace -o json`",
    };
    let timelines = mooring_trace::read(&trace_files(contents));
    if timelines.iter().all(Timeline::is_empty) {
        contents.skip_as(TARGET.path, TARGET.label, "no times are known");
    } else {
        contents.entries.push(TARGET.text(&json::to_json(&timelines)));
    }
}

/// Returns the files that have times.
pub(super) fn trace_files(contents: &Contents) -> Vec<File> {
    let wanted = contents.entries.iter().filter(|entry| is_wanted(&entry.path));
    wanted.map(|entry| File { path: entry.path.clone(), bytes: entry.bytes.clone() }).collect()
}
