//! Failures of a cause in the cluster of the kubeconfig.

use std::time::Duration;

use mooring_controller::claim::image;
use mooring_inventory::{Advice, Adviser, ClusterFacts, Filter, Fleet, FleetRow, Mitigation};
use mooring_workflow::published::{ClusterIdentity, Source, SourceName, SourceState};

use crate::answers::common::{caveat, moment};
use crate::arguments::{AzureMode, ClusterArguments, KubeArguments, SourceArguments};
use crate::cluster::{connect, read_cluster};
use crate::output::failure::CommandFailure;
use crate::process::build_runtime;

/// A page waits this long for the cluster.
const LIMIT: Duration = Duration::from_secs(2);
/// Images in the sentence.
const MAX_IMAGES: usize = 3;

#[derive(Debug)]
pub(super) struct Occurrences {
    /// The facts, or the cluster as a source that failed.
    facts: Result<ClusterFacts, [Source; 1]>,
    rows: Vec<FleetRow>,
    /// Next steps in this cluster.
    advice: Vec<Advice>,
}

/// Reads the failures of a cause; none without a context. A context that does not exist is an error.
pub(super) fn read(
    kube: &KubeArguments,
    cause: &str,
) -> Result<Option<Occurrences>, CommandFailure> {
    if !connect::has_context(kube) {
        return Ok(None);
    }
    let cluster = ClusterArguments { kube: kube.clone(), ..ClusterArguments::default() };
    let arguments = SourceArguments { cluster, azure: AzureMode::Never, timeout: LIMIT };
    let runtime = build_runtime()?;
    let read = runtime.block_on(read_cluster(&arguments));
    // The name of a server may still be resolved.
    runtime.shutdown_background();
    match read {
        Ok(cluster) => Ok(Some(Occurrences::of(cluster.facts, cause))),
        Err(failure) if failure.code() == "not-found" => Err(failure),
        Err(failure) => {
            let error = failure.text().lines().next().map(str::to_owned);
            let source =
                Source { state: SourceState::Failed, error, ..Source::new(SourceName::Cluster) };
            Ok(Some(Occurrences { facts: Err([source]), rows: Vec::new(), advice: Vec::new() }))
        }
    }
}

impl Occurrences {
    fn of(facts: ClusterFacts, cause: &str) -> Self {
        let inventory = facts.inventory.filtered(&Filter::default());
        let mut rows = Fleet::of(&inventory, None).rows;
        rows.retain(|row| row.cause.eq_ignore_ascii_case(cause));
        let adviser = Adviser::new(&facts);
        let advice = rows.first().map(|row| adviser.of_row(&inventory, row)).unwrap_or_default();
        Self { facts: Ok(facts), rows, advice }
    }

    pub(super) fn identity(&self) -> Option<&ClusterIdentity> {
        self.facts.as_ref().ok().map(|facts| &facts.identity)
    }

    pub(super) fn sources(&self) -> &[Source] {
        self.facts.as_ref().map_or_else(|failed| &failed[..], |facts| &facts.sources)
    }

    pub(super) fn rows(&self) -> &[FleetRow] {
        &self.rows
    }

    /// Returns next steps in this cluster; none if no node failed with the cause.
    pub(super) fn advice(&self) -> &[Advice] {
        &self.advice
    }

    /// Returns the mitigations that are in effect in the cluster.
    pub(super) fn mitigations(&self) -> Vec<Mitigation> {
        self.facts.as_ref().map_or_else(|_| Vec::new(), |facts| facts.karpenter.mitigations(None))
    }

    /// Returns the label of the line.
    pub(super) fn label(&self) -> String {
        match &self.facts {
            Ok(facts) => format!("In {}", facts.cluster_name()),
            Err(_) => "In cluster".to_owned(),
        }
    }

    pub(super) fn sentence(&self) -> String {
        let rows = &self.rows;
        let facts = match &self.facts {
            Ok(facts) => facts,
            Err([source]) => {
                return format!("not read: {}", source.error.as_deref().unwrap_or_default());
            }
        };
        if rows.is_empty() {
            let caveat = caveat(facts, 0).map_or_else(String::new, |text| format!(". {text}"));
            return format!("no node failed with this cause{caveat}");
        }
        let mut parts: Vec<String> =
            rows.iter().take(MAX_IMAGES).map(|row| part(row, facts)).collect();
        if let Some(more) = rows.len().checked_sub(MAX_IMAGES).filter(|more| *more > 0) {
            parts.push(format!("{more} more in `mooring fleet`"));
        }
        let source = if facts.record.is_some() { "the failure record" } else { "nodes that exist" };
        format!("{} (from {source})", parts.join("; "))
    }
}

/// Returns `37 of 37 nodes on 202601.27.0, last 09:13`.
fn part(row: &FleetRow, facts: &ClusterFacts) -> String {
    let (here, image) = (row.here, image::version(&row.image));
    let last = row.last_at.map(|at| format!(", last {}", moment(at, facts.now)));
    format!("{} of {} nodes on {image}{}", here.failed, here.nodes, last.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use mooring_inventory::JoinState;

    use super::*;
    use crate::fixtures::{facts, failed_node, node, with_image};

    #[test]
    fn failures_of_the_cause_are_counted_by_image() {
        let nodes = [
            failed_node("a", "X"),
            failed_node("b", "X"),
            node("c", JoinState::Ready),
            with_image(failed_node("d", "X"), "202601.13.0"),
            with_image(failed_node("e", "Y"), "202601.13.0"),
        ];
        let found = Occurrences::of(facts(nodes), "x");
        assert_eq!(found.label(), "In demo");
        assert_eq!(
            found.sentence(),
            "2 of 3 nodes on 202601.27.0, last 09:06 UTC; 1 of 2 nodes on 202601.13.0, last 09:06 UTC (from the failure record)"
        );
        assert_eq!(found.rows().len(), 2);
        let many =
            (0..5).map(|at| with_image(failed_node(&at.to_string(), "X"), &format!("1.{at}.0")));
        let found = Occurrences::of(facts(many), "X");
        assert!(
            found.sentence().contains("; 2 more in `mooring fleet` (from"),
            "{}",
            found.sentence()
        );
    }

    #[test]
    fn absence_names_what_was_not_read() {
        let mut read = facts([failed_node("a", "X")]);
        let none = Occurrences::of(read.clone(), "Y").sentence();
        assert_eq!(none, "no node failed with this cause");
        read.record = None;
        let found = Occurrences::of(read.clone(), "X").sentence();
        assert!(found.ends_with(", last 09:06 UTC (from nodes that exist)"), "{found}");
        let none = Occurrences::of(read, "Y").sentence();
        assert!(none.starts_with("no node failed with this cause. This cluster has no "), "{none}");
    }
}
