//! Failures of a cause in the cluster of the kubeconfig.

use std::time::Duration;

use mooring_nodes::claim::image;
use mooring_nodes::{
    Advice, Adviser, ClusterFacts, FailureGroup, Filter, Fleet, FleetRow, Listed, Mitigation,
    PoolKind, groups,
};
use mooring_workflow::plural::counted;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName};

use crate::answers::common::{caveat, moment, print_warnings};
use crate::arguments::{AzureMode, ClusterArguments, KubeArguments, SourceArguments};
use crate::cluster::{VmRequest, connect, read_cluster};
use crate::output::failure::CommandFailure;
use crate::output::published;
use crate::process::build_runtime;

/// A page waits this long for the cluster.
const LIMIT: Duration = Duration::from_secs(2);
/// And this long for Azure, which is read only for nodes without a verdict.
const AZURE_LIMIT: Duration = Duration::from_secs(5);
/// Images in the sentence.
const MAX_IMAGES: usize = 3;

#[derive(Debug)]
pub(super) struct Occurrences {
    /// The facts, or the cluster as a source that failed.
    facts: Result<ClusterFacts, [Source; 1]>,
    rows: Listed<FleetRow>,
    /// Next steps in this cluster.
    advice: Vec<Advice>,
    /// Failures of this cause that only events report.
    unconfirmed: usize,
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
    let arguments = SourceArguments { cluster, azure: AzureMode::Auto, timeout: LIMIT };
    let runtime = build_runtime()?;
    let read = runtime.block_on(async {
        let mut cluster = read_cluster(&arguments).await?;
        let request = VmRequest::unknown(&cluster.facts.inventory.nodes);
        let arguments = SourceArguments { timeout: AZURE_LIMIT, ..arguments };
        cluster.ask_azure(&arguments, &request).await?;
        Ok::<_, CommandFailure>(cluster)
    });
    // The name of a server may still be resolved.
    runtime.shutdown_background();
    match read {
        Ok(cluster) => Ok(Some(Occurrences::of(cluster.facts, cause))),
        Err(failure) if failure.code() == "not-found" => Err(failure),
        Err(failure) => {
            let source = Source::failed(SourceName::Cluster, failure.first_line());
            Ok(Some(Occurrences {
                facts: Err([source]),
                rows: Listed::of(Vec::new(), false),
                advice: Vec::new(),
                unconfirmed: 0,
            }))
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
        let is_same = |group: &FailureGroup| group.cause.eq_ignore_ascii_case(cause);
        let unconfirmed = groups(&inventory).into_iter();
        let unconfirmed = unconfirmed.filter(|group| !group.is_confirmed && is_same(group));
        let unconfirmed = unconfirmed.map(|group| group.failed).sum();
        Self { facts: Ok(facts), rows, advice, unconfirmed }
    }

    pub(super) fn identity(&self) -> Option<&ClusterIdentity> {
        self.facts.as_ref().ok().map(|facts| &facts.identity)
    }

    pub(super) fn sources(&self) -> &[Source] {
        self.facts.as_ref().map_or_else(|failed| &failed[..], |facts| &facts.sources)
    }

    /// Returns 3 if a source that was asked could not be read, which a warning names. A failure that is found is the answer.
    pub(super) fn exit_code(&self) -> u8 {
        match &self.facts {
            Ok(facts) => {
                print_warnings(facts);
                facts.exit_code(false)
            }
            Err(failed) => published::exit_code(failed),
        }
    }

    pub(super) fn rows(&self) -> &Listed<FleetRow> {
        &self.rows
    }

    /// Returns next steps in this cluster; none if no node failed with the cause.
    pub(super) fn advice(&self) -> &[Advice] {
        &self.advice
    }

    /// Returns the mitigations that are in effect in the cluster.
    pub(super) fn mitigations(&self) -> Listed<Mitigation> {
        let unread = |_| Listed::of(Vec::new(), false);
        self.facts.as_ref().map_or_else(unread, |facts| facts.karpenter.mitigations(None))
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
        if rows.is_empty() && self.unconfirmed == 0 {
            let inventory = &facts.inventory;
            // The record and the results of Azure, as `why` has them.
            let text = match (inventory.failed().exact(), inventory.has_all_outcomes()) {
                (Some(_), _) => "no node failed with this cause",
                (None, true) => "no node that exists failed with this cause",
                (None, false) => "it is not known if nodes failed with this cause",
            };
            let caveat = caveat(facts, inventory, Some(PoolKind::NodePool));
            return caveat.map_or_else(|| text.to_owned(), |caveat| format!("{text}. {caveat}"));
        }
        let mut parts: Vec<String> =
            rows.iter().take(MAX_IMAGES).map(|row| part(row, facts)).collect();
        if self.unconfirmed > 0 {
            let nodes = counted(self.unconfirmed, "node");
            parts.push(format!("{nodes}, reported by events only"));
        }
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
    use mooring_nodes::JoinState;
    use mooring_workflow::Reading;

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
        read.inventory.reads.record = Reading::NotFound;
        let found = Occurrences::of(read.clone(), "X").sentence();
        assert!(found.ends_with(", last 09:06 UTC (from nodes that exist)"), "{found}");
        let none = Occurrences::of(read, "Y").sentence();
        let expected = "no node that exists failed with this cause. This cluster has no ";
        assert!(none.starts_with(expected), "{none}");
    }

    #[test]
    fn failures_that_why_shows_are_not_denied() {
        let mut unasked = facts([]);
        unasked.inventory.nodes.push(node("a", JoinState::Joining));
        let text = Occurrences::of(unasked.clone(), "X").sentence();
        let expected = "it is not known if nodes failed with this cause. 1 node is joining, and Azure was not asked about them.";
        assert_eq!(text, expected);
        unasked.inventory.set_azure("uid-a", Reading::Failed("late".to_owned()));
        let text = Occurrences::of(unasked, "X").sentence();
        assert!(
            text.ends_with(". Azure was not read, so joining nodes may have failed."),
            "{text}"
        );
        let mut unconfirmed = failed_node("a", "X");
        unconfirmed.failure.as_mut().unwrap().is_confirmed = false;
        let text = Occurrences::of(facts([unconfirmed]), "X").sentence();
        assert_eq!(text, "1 node, reported by events only (from the failure record)");
    }
}
