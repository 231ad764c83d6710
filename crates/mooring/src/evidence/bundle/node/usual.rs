//! Usual durations of the stages, from other nodes of the pool.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mooring_nodes::Node;
use mooring_trace::life;
use serde_json::json;

use super::super::archive::{Contents, FileOrigin};
use super::files::FileTarget;
use super::source::Sources;
use super::subject::BundledNode;
use crate::output::failure::CommandFailure;

/// Fewer nodes do not show what is usual.
const MIN_NODES: usize = 3;

/// Adds the medians of the other nodes of the pool, if there are enough.
pub(super) fn add(
    sources: &Sources<'_>,
    subject: &BundledNode,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    let Some(pool) = &subject.node_pool else { return Ok(()) };
    let nodes = sources.facts().into_iter().flat_map(|facts| &facts.inventory.nodes);
    let others = nodes.filter(|node| {
        node.exists && node.pool.as_deref() == Some(pool) && node.node_claim != subject.claim_name
    });
    let others: Vec<&Node> = others.collect();
    let seconds = medians(&others);
    if seconds.is_empty() {
        return Ok(());
    }
    let target = FileTarget {
        part: FileOrigin::Mooring,
        label: "usual durations",
        path: &subject.path("usual.json"),
        why: "medians of the stages on other nodes of the pool",
    };
    contents.entries.push(target.json(&json!({"pool": pool, "seconds": seconds}))?);
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

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
