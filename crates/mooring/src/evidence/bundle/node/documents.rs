//! Documents of Mooring: failure record, usual durations, `why`, `fleet`, `trace` and `doctor`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mooring_nodes::status::{FLEET_SCHEMA, FleetContent, ImageFinding};
use mooring_nodes::{Fleet, Node};
use mooring_trace::{Timeline, TraceFile, is_wanted, json, life};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::archive::{Contents, FileOrigin};
use super::files::{FileContent, FileInfo};
use super::source::Sources;
use super::subject::BundledNode;
use crate::doctor;
use crate::output::published::document;

/// Fewer nodes do not show what is usual.
const MIN_NODES: usize = 3;

/// Adds the failures of a node in the record.
pub(super) fn add_record(sources: &Sources<'_>, subject: &BundledNode, contents: &mut Contents) {
    let read = if subject.entries.is_empty() {
        Err(match sources.facts().map(|facts| facts.inventory.reads.record.missing()) {
            Ok(None) => "the failure record has no failure of this node".to_owned(),
            Ok(Some(why)) => format!("the failure record: {why}"),
            Err(why) => why.clone(),
        })
    } else {
        to_value(&subject.entries).map(FileContent::Json)
    };
    let label = match subject.entries.len() {
        0 => "record entries".to_owned(),
        1 => "1 record entry".to_owned(),
        count => format!("{count} record entries"),
    };
    let why = "failures of the node in the failure record";
    let info = FileInfo(FileOrigin::Mooring, &label, why);
    contents.add(info, &subject.path("record.json"), read);
}

/// Adds the medians of the other nodes of the pool, if there are enough.
pub(super) fn add_usual(sources: &Sources<'_>, subject: &BundledNode, contents: &mut Contents) {
    let Some(pool) = &subject.node_pool else { return };
    let nodes = sources.facts().into_iter().flat_map(|facts| &facts.inventory.nodes);
    let others = nodes.filter(|node| {
        node.exists && node.pool.as_deref() == Some(pool) && node.node_claim != subject.claim_name
    });
    let seconds = medians(&others.collect::<Vec<_>>());
    if !seconds.is_empty() {
        let why = "medians of the stages on other nodes of the pool";
        let info = FileInfo(FileOrigin::Mooring, "usual durations", why);
        let content = FileContent::Json(json!({"pool": pool, "seconds": seconds}));
        contents.add(info, &subject.path("usual.json"), Ok(content));
    }
}

fn medians(nodes: &[&Node]) -> BTreeMap<&'static str, f64> {
    type Stage = (&'static str, fn(&Node) -> (Option<Timestamp>, Option<Timestamp>));
    let stages: [Stage; 3] = [
        (life::LAUNCH, |node| (node.created_at, node.launched_at)),
        (life::MACHINE_AND_BOOTSTRAP, |node| (node.launched_at, node.joined_at)),
        (life::READY, |node| (node.joined_at, node.initialized_at)),
    ];
    let median = |(name, times): Stage| {
        let durations = nodes.iter().filter_map(|node| match times(node) {
            (Some(from), Some(to)) if to >= from => Some(to.duration_since(from).as_secs_f64()),
            _ => None,
        });
        let mut durations: Vec<f64> = durations.collect();
        durations.sort_by(f64::total_cmp);
        let enough = durations.len() >= MIN_NODES;
        enough.then(|| (name, durations[durations.len() / 2]))
    };
    stages.into_iter().filter_map(median).collect()
}

/// Adds the output of a command without what changes with every read, so that the same cluster gives the same archive; or
/// why there is none.
fn add_output(command: &str, read: Result<Value, String>, contents: &mut Contents) {
    let why = format!("output of `mooring {command} -o json`, without the times of the reads");
    let read = read.map(|mut document| {
        document["generatedAt"] = Value::Null;
        if let Some(since) = document.get_mut("since") {
            *since = Value::Null;
        }
        for source in document["sources"].as_array_mut().into_iter().flatten() {
            (source["at"], source["seconds"]) = (Value::Null, Value::Null);
        }
        FileContent::Json(document)
    });
    let info = FileInfo(FileOrigin::Mooring, command, &why);
    contents.add(info, &format!("{command}.json"), read);
}

fn to_value(document: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(document).map_err(|error| error.to_string())
}

/// Adds the outputs of `why`, `fleet`, `trace` and `doctor`.
pub(super) async fn add_outputs(sources: &Sources<'_>, contents: &mut Contents) {
    let why = sources.why.clone().map_err(|why| sources.missing(&why, None));
    add_output("why", why, contents);
    let fleet = sources.facts().map_err(Clone::clone).and_then(|facts| {
        let fleet = Fleet::of(&facts.inventory, None);
        let findings = ImageFinding::all(facts, &facts.inventory, &fleet);
        to_value(&facts.document(FLEET_SCHEMA, FleetContent::new(facts, &fleet, &findings)))
    });
    add_output("fleet", fleet, contents);
    add_output("trace", trace(contents), contents);
    let mut doctor = doctor::document(sources.arguments, sources.cluster.as_ref().ok()).await;
    if let Ok(document) = &mut doctor {
        document["seconds"] = 0.into();
        for check in document["checks"].as_array_mut().into_iter().flatten() {
            check["message"] =
                without_seconds(check["message"].as_str().unwrap_or_default()).into();
        }
    }
    add_output("doctor", doctor, contents);
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

/// Returns the output of `mooring trace`, from the files that are already there.
fn trace(contents: &Contents) -> Result<Value, String> {
    let timelines = mooring_trace::read(&trace_files(contents));
    if timelines.iter().all(Timeline::is_empty) {
        return Err("no times are known".to_owned());
    }
    let content = json::TraceContent::new(&timelines);
    to_value(&document(json::SCHEMA, contents.cluster.as_ref(), &contents.sources, content))
}

/// Returns the files that have times.
pub(super) fn trace_files(contents: &Contents) -> Vec<TraceFile> {
    let wanted = contents.entries.iter().filter(|entry| is_wanted(&entry.path));
    wanted.map(|entry| TraceFile { path: entry.path.clone(), bytes: entry.bytes.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_checks_are_removed() {
        let text = "context c answers in 84ms, Kubernetes v1.33.6, 3 pods; at most 0.3s";
        let expected = "context c answers in …ms, Kubernetes v1.33.6, 3 pods; at most …s";
        assert_eq!(without_seconds(text), expected);
        assert_eq!(without_seconds("s, ms and 5"), "s, ms and 5");
    }

    #[test]
    fn medians_need_three_nodes() {
        let at = |second: i64| Timestamp::from_second(second).ok();
        let claim =
            |launched| Node { created_at: at(0), launched_at: at(launched), ..Node::default() };
        let claims = [claim(3), claim(90), claim(4)];
        let all: Vec<&Node> = claims.iter().collect();
        assert_eq!(medians(&all[..2]), BTreeMap::new());
        assert_eq!(medians(&all), BTreeMap::from([(life::LAUNCH, 4.0)]));
        let five = [claim(3), claim(90), claim(4), claim(0), claim(91)];
        let five: Vec<&Node> = five.iter().collect();
        assert_eq!(medians(&five), BTreeMap::from([(life::LAUNCH, 4.0)]));
        let backward = claim(-5);
        assert_eq!(medians(&[all[0], all[1], &backward]), BTreeMap::new());
        let at_once = claim(0);
        let expected = BTreeMap::from([(life::LAUNCH, 3.0)]);
        assert_eq!(medians(&[all[0], all[2], &at_once]), expected);
    }
}
