//! Names in filters. A name that does not exist would select nothing, which looks like no failures.

use std::collections::BTreeSet;

use mooring_diagnosis::{cause_pages, find_codes};
use mooring_nodes::ClusterFacts;
use mooring_nodes::claim::image;
use mooring_nodes::record::counts;
use mooring_nodes::verdict::registration::RegistrationCause;
use mooring_redact::{identifier, is_plain_word};
use mooring_workflow::published::SourceName;

use super::common::not_found;
use crate::answers::arguments::ReadArguments;
use crate::output::failure::CommandFailure;
use mooring_terminal::suggest;

/// Ensures that the pool, the image and the cause of the flags exist. `command` is that of the hint.
pub(super) fn ensure_known(
    arguments: &ReadArguments,
    facts: &ClusterFacts,
    command: &str,
) -> Result<(), CommandFailure> {
    let known = Known::of(facts);
    let ensure = |kind: &str, name: Option<&String>, names: &BTreeSet<String>, list: &str| {
        let Some(name) = name else { return Ok(()) };
        if names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        let text = format!("{kind} `{}` not found in {}", identifier(name), facts.cluster_name());
        let names = names.iter().map(String::as_str).filter(|name| is_plain_word(name));
        let typo = suggest::hint(name, names, &format!("mooring {command} --{kind}"));
        let is_typo = typo.is_some();
        let hint = typo.unwrap_or_else(|| format!("hint: {list}"));
        let sources = [SourceName::Cluster, SourceName::Record];
        Err(not_found(&text, &hint, is_typo, facts, &sources))
    };
    ensure("pool", arguments.pool.as_ref(), &known.pools, "`mooring status` lists pools")?;
    let fleet = "`mooring fleet --since 7d` lists images and causes";
    ensure("image", arguments.image.as_ref(), &known.images, fleet)?;
    // Exit codes without a page have a cause as well.
    let cause = arguments.cause.as_ref().filter(|cause| find_codes(cause).is_empty());
    ensure("cause", cause, &known.causes, fleet)
}

/// Names of the cluster, of the record and of the diagnosis.
#[derive(Default)]
struct Known {
    pools: BTreeSet<String>,
    images: BTreeSet<String>,
    causes: BTreeSet<String>,
}

impl Known {
    fn of(facts: &ClusterFacts) -> Self {
        let mut known = Self::default();
        known.pools.extend(facts.karpenter.pool_names().map(str::to_owned));
        known.causes.extend(cause_pages().iter().map(|page| page.reason.to_owned()));
        known.causes.extend(mooring_catalog::rows().iter().map(|row| row.name.to_owned()));
        known.causes.extend(RegistrationCause::ALL.map(|cause| cause.as_str().to_owned()));
        for node in &facts.inventory.nodes {
            known.pools.extend(node.pool.as_deref().map(str::to_owned));
            known.add_image(node.image.as_deref());
            known.causes.extend(node.failure.iter().map(|failure| failure.cause.clone()));
        }
        let counts = facts.inventory.counts.iter();
        for total in counts.flat_map(|counts| counts.totals(counts::Filter::default())) {
            known.add_image(Some(&total.image));
            known.causes.extend(total.failed.into_keys());
            known.pools.insert(total.pool);
        }
        known
    }

    fn add_image(&mut self, name: Option<&str>) {
        self.images.extend(name.map(str::to_owned));
        self.images.extend(name.map(|name| image::version(name).to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use mooring_nodes::JoinState;
    use mooring_workflow::published::SourceState;

    use super::*;
    use crate::fixtures::{facts, failed_node, node, read_arguments};

    fn check(facts: &ClusterFacts, words: &[&str]) -> Option<(&'static str, String)> {
        let checked = ensure_known(&read_arguments(words), facts, "why");
        checked.err().map(|failure| (failure.code(), failure.text()))
    }

    #[test]
    fn names_of_the_cluster_and_the_diagnosis_are_known() {
        let gone = mooring_nodes::Node {
            exists: false,
            pool: Some("gpu".into()),
            ..failed_node("g", "OwnCause")
        };
        let facts = facts([node("a", JoinState::Ready), gone]);
        for words in [
            &[][..],
            &["--pool", "default"],
            &["--pool", "gpu"],
            &["--image", "202601.27.0"],
            &["--image", "AKSAzureLinux/V3gen2/202601.27.0"],
            &["--cause", "owncause"],
            &["--cause", "OrasBinaryMissing"],
            &["--cause", "KubeletStartFail"],
            &["--cause", "NoCSR"],
        ] {
            assert_eq!(check(&facts, words), None, "{words:?}");
        }
    }

    #[test]
    fn unknown_names_are_usage_errors_with_suggestions() {
        let facts = facts([node("a", JoinState::Ready)]);
        for (flag, name, hint) in [
            ("pool", "defalt", "did you mean `default`?   mooring why --pool default"),
            ("pool", "nonsense", "`mooring status` lists pools"),
            (
                "image",
                "202601.27.1",
                "did you mean `202601.27.0`?   mooring why --image 202601.27.0",
            ),
            (
                "cause",
                "OrasBinaryMising",
                "did you mean `OrasBinaryMissing`?   mooring why --cause OrasBinaryMissing",
            ),
            ("cause", "Nonsense", "`mooring fleet --since 7d` lists images and causes"),
        ] {
            let text = format!("{flag} `{name}` not found in demo\nhint: {hint}");
            assert_eq!(check(&facts, &[&format!("--{flag}"), name]), Some(("not-found", text)));
        }
    }

    #[test]
    fn name_may_be_in_a_source_that_was_not_read() {
        let mut facts = facts([node("a", JoinState::Ready)]);
        let record = &mut facts.sources[1];
        (record.state, record.error) = (SourceState::Failed, Some("not allowed".to_owned()));
        let text = "pool `gone` not found in demo; the failure record was not read: not allowed\nhint: `mooring status` lists pools";
        assert_eq!(check(&facts, &["--pool", "gone"]), Some(("io", text.to_owned())));
        assert_eq!(check(&facts, &["--pool", "defalt"]).unwrap().0, "not-found", "it is a typo");
    }
}
