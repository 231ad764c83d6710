//! Fixed wording of Azure and Kubernetes that names a cause, also where a text has no exit code.
//!
//! A wording is data: phrases that prove a cause, what the text must be about, and phrases that prove it wrong. All
//! phrases are found in the pass that finds anchors and clues. The first wording of the tables that fits is the cause,
//! so root causes come before symptoms, and symptoms before errors that only wrap another.
//!
//! The data is in `data/wordings`, a file per subject, compiled by the build script.

use std::ops::Range;

use mooring_codes::Os;

use crate::cause::about::About;
use crate::cause::confidence::Confidence;
use crate::cause::entry::Cause;
use crate::text::phrases::Phrases;

/// Two phrases in different lines belong together up to this distance: a terminal or a mail has cut the line.
const CUT_LINE: usize = 120;
/// Two phrases in one line belong together up to this distance.
const SAME_LINE: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// An error that wraps another, or only reports that something failed.
    Wrapper,
    /// What follows from a cause that may be elsewhere.
    Symptom,
    Root,
}

/// One wording, with phrases by their index. An empty field fits everything.
#[derive(Debug)]
pub(crate) struct Wording {
    /// Tells it from others of the same cause.
    pub(crate) name: &'static str,
    pub(crate) cause: &'static Cause,
    pub(crate) tier: Tier,
    /// One of these must be there; the first of the list that is there is quoted.
    pub(crate) phrases: &'static [usize],
    /// Of each group, one phrase must be in the same line.
    pub(crate) near: &'static [&'static [usize]],
    /// Of each group, one phrase must be anywhere in the text.
    pub(crate) also: &'static [&'static [usize]],
    /// Phrases that prove it wrong, anywhere in the text.
    pub(crate) without: &'static [usize],
    pub(crate) about: About,
    /// Exit codes that hide this cause.
    pub(crate) codes: &'static [i32],
    pub(crate) os: Option<Os>,
    pub(crate) confidence: Confidence,
}

impl Wording {
    /// Returns the place of the first phrase that fits within a span.
    pub(crate) fn place(
        &self,
        text: &[u8],
        found: &Phrases,
        span: &Range<usize>,
        is_node: bool,
    ) -> Option<usize> {
        let also = || self.also.iter().all(|group| found.has_any(group));
        let about = || is_node || self.about.holds(found);
        if !found.has_any(self.phrases) || found.has_any(self.without) || !also() || !about() {
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
