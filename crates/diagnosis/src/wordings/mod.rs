//! Fixed wording of Azure and Kubernetes that names a cause, also where a text has no exit code.
//!
//! A wording is data: phrases that prove a cause, what the text must be about, and phrases that prove it wrong. All
//! phrases are found in the pass that finds anchors and clues. The first wording of the tables that fits is the cause,
//! so root causes come before symptoms, and symptoms before errors that only wrap another.
//!
//! | file | causes of |
//! |---|---|
//! | `quota` | quota, public IP addresses, limits of requests |
//! | `capacity` | VM sizes, capacity, zones |
//! | `subnets` | subnets, pod CIDRs, address ranges |
//! | `access` | policies, permissions, locks, identities, features |
//! | `cluster` | the cluster's own state: control plane, operations, drains |
//! | `machine` | images, boot, extensions, Cluster API, GPUs |
//! | `node` | kubelet, container runtime, network plugin, Windows networking |
//! | `packages` | packages, their repositories, the disk, without an exit code |
//! | `network` | names, connections and proxies, without an exit code |
//! | `wrappers` | errors that only wrap another, or report that something failed |

mod access;
mod capacity;
mod cluster;
mod context;
mod machine;
mod network;
mod node;
mod packages;
mod phrases;
mod quota;
mod subnets;
mod wrappers;

use std::ops::Range;
use std::sync::LazyLock;

use mooring_codes::{Os, Owner};

use crate::diagnosis::Confidence;
use crate::stage::Stage;
pub(crate) use context::About;
use phrases::numbers;
pub(crate) use phrases::{Phrases, phrases};

/// What causes of a launch that an operator can end have in common.
const LAUNCH: Cause =
    Cause { reason: "", stage: Stage::Launch, owner: Owner::Operator, summary: "", actions: &[] };

/// What causes of a failed bootstrap have in common.
const BOOTSTRAP: Cause =
    Cause { reason: "", stage: Stage::Bootstrap, owner: Owner::Network, summary: "", actions: &[] };

/// Two phrases in different lines belong together up to this distance: a terminal or a mail has cut the line.
const CUT_LINE: usize = 120;
/// Two phrases in one line belong together up to this distance.
const SAME_LINE: usize = 1024;

/// Why a node or a pool does not come up.
#[derive(Debug)]
pub(crate) struct Cause {
    /// The stable word in Pascal case for labels and conditions.
    pub(crate) reason: &'static str,
    pub(crate) stage: Stage,
    pub(crate) owner: Owner,
    pub(crate) summary: &'static str,
    pub(crate) actions: &'static [&'static str],
}

/// What a wording tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// An error that wraps another, or only reports that something failed.
    Wrapper,
    /// What follows from a cause that may be elsewhere.
    Symptom,
    Root,
}

/// One wording. Whatever is empty fits everything.
#[derive(Debug)]
pub(crate) struct Wording {
    /// Tells it from others of the same cause.
    pub(crate) name: &'static str,
    pub(crate) cause: &'static Cause,
    pub(crate) tier: Tier,
    /// One of these must be there; the first of the list that is there is quoted.
    pub(crate) phrases: &'static [&'static str],
    /// Of each group, one phrase must be in the same line.
    pub(crate) near: &'static [&'static [&'static str]],
    /// Of each group, one phrase must be anywhere in the text.
    pub(crate) also: &'static [&'static [&'static str]],
    /// Phrases that prove it wrong, anywhere in the text.
    pub(crate) without: &'static [&'static str],
    /// What the text must be about.
    pub(crate) about: About,
    /// Exit codes that hide this cause.
    pub(crate) codes: &'static [i32],
    pub(crate) os: Option<Os>,
    pub(crate) confidence: Confidence,
}

impl Wording {
    /// What the tables' wordings start from.
    const ANY: Self = Self {
        name: "",
        cause: &wrappers::INTERNAL_ERROR,
        tier: Tier::Root,
        phrases: &[],
        near: &[],
        also: &[],
        without: &[],
        about: About::Anything,
        codes: &[],
        os: None,
        confidence: Confidence::High,
    };
}

/// A wording with its phrases by number.
struct Numbered {
    wording: &'static Wording,
    phrases: Vec<usize>,
    near: Vec<Vec<usize>>,
    also: Vec<Vec<usize>>,
    without: Vec<usize>,
}

static NUMBERED: LazyLock<Vec<Numbered>> = LazyLock::new(|| {
    let groups = |groups: &[&[&'static str]]| groups.iter().map(|group| numbers(group)).collect();
    let numbered = |wording: &'static Wording| Numbered {
        wording,
        phrases: numbers(wording.phrases),
        near: groups(wording.near),
        also: groups(wording.also),
        without: numbers(wording.without),
    };
    all().map(numbered).collect()
});

impl Numbered {
    /// Returns the place of the first phrase that fits within a span.
    fn place(
        &self,
        text: &[u8],
        found: &Phrases,
        span: &Range<usize>,
        is_node: bool,
    ) -> Option<usize> {
        let also = || self.also.iter().all(|group| found.has_any(group));
        let about = || is_node || self.wording.about.holds(found);
        if !found.has_any(&self.phrases) || found.has_any(&self.without) || !also() || !about() {
            return None;
        }
        let fits = |at: usize| {
            span.contains(&at) && self.near.iter().all(|group| has_near(text, found, at, group))
        };
        self.phrases.iter().find_map(|phrase| found.places(*phrase).find(|at| fits(*at)))
    }
}

/// Whether one of these phrases is in the line of a place.
fn has_near(text: &[u8], found: &Phrases, at: usize, group: &[usize]) -> bool {
    group.iter().flat_map(|phrase| found.places(*phrase)).any(|other| {
        let (from, to) = (at.min(other), at.max(other));
        to - from < CUT_LINE
            || to - from < SAME_LINE && memchr::memchr(b'\n', &text[from..to]).is_none()
    })
}

/// A wording that fits, and the place of the phrase that is quoted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) wording: &'static Wording,
    pub(crate) at: usize,
}

/// All wordings, the most telling first.
pub(crate) fn all() -> impl Iterator<Item = &'static Wording> {
    let launch = machine::WORDINGS.iter().chain(access::WORDINGS).chain(quota::WORDINGS);
    launch
        .chain(capacity::WORDINGS)
        .chain(subnets::WORDINGS)
        .chain(node::WORDINGS)
        .chain(packages::WORDINGS)
        .chain(network::WORDINGS)
        .chain(cluster::WORDINGS)
        .chain(node::SYMPTOMS)
        .chain(wrappers::WORDINGS)
}

/// The wordings that fit within a span, the most telling first. `is_node` is whether the span is known to be about a node.
pub(crate) fn matches<'t>(
    text: &'t [u8],
    found: &'t Phrases,
    span: Range<usize>,
    is_node: bool,
) -> impl Iterator<Item = Match> + 't {
    let some = !found.is_empty();
    let all = NUMBERED.iter().filter(move |_| some);
    #[cfg(test)]
    let all = all.filter(|numbered| !crate::removal::is_removed(numbered.wording.name));
    all.filter_map(move |numbered| {
        let at = numbered.place(text, found, &span, is_node)?;
        Some(Match { wording: numbered.wording, at })
    })
}

/// The cause of an extension that is not the bootstrap.
pub(crate) static OTHER_EXTENSION: &Cause = &machine::OTHER_EXTENSION;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Tier, all};
    use crate::diagnosis::Confidence;

    #[test]
    fn every_wording_has_a_name_of_its_own_phrases_and_a_cause() {
        let mut names: BTreeSet<&str> = crate::rules::rule_names().collect();
        for wording in all() {
            assert!(!wording.name.is_empty() && names.insert(wording.name), "{}", wording.name);
            assert!(!wording.phrases.is_empty(), "{}", wording.name);
            let cause = wording.cause;
            assert!(cause.reason.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            assert!(!cause.summary.is_empty() && !cause.actions.is_empty(), "{}", cause.reason);
        }
    }

    #[test]
    fn every_phrase_is_long_enough_to_be_found_and_lowercase() {
        for phrase in super::phrases() {
            assert!((4..=255).contains(&phrase.len()), "{phrase}");
            assert_eq!(*phrase, phrase.to_lowercase(), "{phrase}");
        }
    }

    #[test]
    fn an_error_that_wraps_another_is_never_sure() {
        for wording in all().filter(|wording| wording.tier == Tier::Wrapper) {
            assert!(wording.confidence < Confidence::High, "{}", wording.name);
        }
    }
}
