//! Clues in a message.

use std::ops::Range;

use crate::diagnose::rule::Groups;
use crate::text::clues::Clue;
use crate::text::scan::{Hit, Mark};

/// Limit of the occurrences of a clue that are tried for a match in the same line.
const MAX_TRIED: usize = 64;

pub(crate) struct FoundClues<'a> {
    text: &'a [u8],
    hits: &'a [Hit],
    first: [Option<usize>; Clue::COUNT],
}

impl<'a> FoundClues<'a> {
    pub(crate) fn new(text: &'a [u8], hits: &'a [Hit], span: &Range<usize>) -> Self {
        let from = hits.partition_point(|hit| hit.start() < span.start);
        let to = hits.partition_point(|hit| hit.start() < span.end);
        let hits = hits.get(from..to).unwrap_or_default();
        let mut first = [None; Clue::COUNT];
        for hit in hits {
            if let Mark::Clue(clue) = hit.mark {
                first[clue as usize].get_or_insert(hit.start());
            }
        }
        Self { text, hits, first }
    }

    pub(crate) fn has_any(&self, clues: &[Clue]) -> bool {
        clues.iter().any(|clue| self.first[*clue as usize].is_some())
    }

    /// Returns a position for each group of clues, or `None` if one is missing.
    pub(crate) fn places(&self, groups: Groups, in_one_line: bool) -> Option<Vec<usize>> {
        let places = groups
            .iter()
            .map(|group| group.iter().filter_map(|clue| self.first[*clue as usize]).min());
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        match groups {
            [one, others @ ..] if in_one_line => {
                self.line_with(one, others).map(|place| vec![place])
            }
            _ => Some(places),
        }
    }

    fn line_with(&self, one: &[Clue], others: Groups) -> Option<usize> {
        let is = |hit: &Hit, group: &[Clue]| match hit.mark {
            Mark::Clue(clue) => group.contains(&clue),
            Mark::Anchor(_) => false,
        };
        let candidates = self.hits.iter().enumerate().filter(|(_, hit)| is(hit, one));
        candidates
            .take(MAX_TRIED)
            .find(|(index, hit)| {
                let near = &self.hits[index.saturating_sub(8)..self.hits.len().min(index + 9)];
                others.iter().all(|group| {
                    near.iter().any(|other| is(other, group) && self.same_line(**hit, *other))
                })
            })
            .map(|(_, hit)| hit.start())
    }

    fn same_line(&self, one: Hit, other: Hit) -> bool {
        let (from, to) = (one.start().min(other.start()), one.start().max(other.start()));
        to - from < 1024 && memchr::memchr(b'\n', &self.text[from..to]).is_none()
    }
}
