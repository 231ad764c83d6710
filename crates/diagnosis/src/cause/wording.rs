//! Wordings of Azure and Kubernetes that indicate a cause, also in texts without an exit code.
//!
//! A wording (`data/wordings`) has phrases that indicate a cause, the required subject of the text, and phrases that
//! exclude it. The first match is the cause: root causes precede symptoms, and symptoms precede errors that only wrap
//! another.

use std::ops::Range;

use mooring_codes::Os;

use crate::cause::{Cause, Confidence, TextSubject};
use crate::text::phrases::{PHRASES, Phrases};

/// Maximum distance of two phrases in different lines: the line may be wrapped.
const CUT_LINE: usize = 120;
/// Maximum distance of two phrases in one line.
const SAME_LINE: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// An error that wraps another, or reports only a failure.
    Wrapper,
    /// A consequence of a cause that may be elsewhere.
    Symptom,
    Root,
}

/// What is known of the text around a wording, besides what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A message about a node.
    Node,
    /// A message of Azure that names nothing else.
    Presumed,
    Unknown,
}

/// One wording, with phrases by index. An empty field matches everything.
#[derive(Debug)]
pub(crate) struct Wording {
    pub(crate) name: &'static str,
    pub(crate) cause: &'static Cause,
    pub(crate) tier: Tier,
    /// At least one is required; the first match is quoted.
    pub(crate) phrases: &'static [usize],
    /// One phrase of each group is required in the same line.
    pub(crate) near: &'static [&'static [usize]],
    /// One phrase of each group is required anywhere in the text.
    pub(crate) also: &'static [&'static [usize]],
    /// Phrases that exclude the wording, anywhere in the text.
    pub(crate) without: &'static [usize],
    pub(crate) about: TextSubject,
    /// Exit codes that hide this cause.
    pub(crate) codes: &'static [i32],
    pub(crate) os: Option<Os>,
    pub(crate) confidence: Confidence,
}

impl Wording {
    /// Returns true if the wording says only that something failed or was refused.
    pub(crate) fn is_general(&self) -> bool {
        self.tier == Tier::Wrapper || self.cause.reason == "RequestRejected"
    }

    /// Returns the position of the first matching phrase within a span.
    pub(crate) fn place(
        &self,
        text: &[u8],
        found: &Phrases,
        span: &Range<usize>,
        subject: Subject,
    ) -> Option<usize> {
        let also = || self.also.iter().all(|group| found.has_any(group));
        let about = || match subject {
            Subject::Node => true,
            Subject::Presumed if self.about != TextSubject::NodeLog => true,
            Subject::Presumed | Subject::Unknown => self.about.holds(found),
        };
        if !found.has_any(self.phrases) || found.has_any(self.without) || !also() || !about() {
            return None;
        }
        let fits = |at: usize| {
            span.contains(&at) && self.near.iter().all(|group| has_near(text, found, at, group))
        };
        self.phrases.iter().find_map(|phrase| found.places(*phrase).find(|at| fits(*at)))
    }

    /// Returns where phrases of the wording are in a text.
    pub(crate) fn ranges(&self, found: &Phrases) -> impl Iterator<Item = Range<usize>> {
        let groups = [self.phrases].into_iter().chain(self.near.iter().chain(self.also).copied());
        groups
            .flatten()
            .flat_map(|phrase| found.places(*phrase).map(|at| at..at + PHRASES[*phrase].len()))
    }
}

fn has_near(text: &[u8], found: &Phrases, at: usize, group: &[usize]) -> bool {
    group.iter().flat_map(|phrase| found.places(*phrase)).any(|other| {
        let (from, to) = (at.min(other), at.max(other));
        to - from < CUT_LINE
            || to - from < SAME_LINE && memchr::memchr(b'\n', &text[from..to]).is_none()
    })
}

/// A matching wording and the position of the quoted phrase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) wording: &'static Wording,
    pub(crate) at: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_phrases_are_in_one_line_or_close_to_its_end() {
        let phrase = PHRASES.iter().position(|phrase| phrase.contains(' ')).unwrap();
        let near = |distance: usize, has_line_end: bool| {
            let mut text = vec![b'x'; 2048];
            if has_line_end {
                text[60] = b'\n';
            }
            let is_near = |at: usize, other: usize| {
                let mut found = Phrases::default();
                found.add(&text, phrase, other, other + 1);
                has_near(&text, &found, at, &[phrase])
            };
            let (before, after) = (is_near(50, 50 + distance), is_near(50 + distance, 50));
            assert_eq!(before, after);
            before
        };
        assert!(near(CUT_LINE - 1, true) && !near(CUT_LINE, true));
        assert!(near(SAME_LINE - 1, false) && !near(SAME_LINE, false));
    }
}
