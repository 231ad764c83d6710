//! Clues in a message.

use std::ops::Range;

use crate::diagnose::rules::Groups;
use crate::text::scan::Clue;
use crate::text::scan::{Hit, TextMark};

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
            if let TextMark::Clue(clue) = hit.mark {
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
            TextMark::Clue(clue) => group.contains(&clue),
            TextMark::Anchor(_) => false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::scan::CLUES;
    use crate::text::scan::scan;

    /// Two clues, neither of which is part of another phrase.
    fn two() -> [(&'static str, Clue); 2] {
        let is_alone = |text: &str| scan(text.as_bytes()).0.len() == 1;
        let mut alone = CLUES.iter().filter(|(text, _)| is_alone(text));
        let one = alone.next().unwrap();
        let other = alone.find(|(_, clue)| *clue != one.1).unwrap();
        [*one, *other]
    }

    fn places(text: &str, in_one_line: bool) -> Option<Vec<usize>> {
        let [(_, one), (_, other)] = two();
        let (hits, _) = scan(text.as_bytes());
        let groups: Vec<&'static [Clue]> = vec![vec![one].leak(), vec![other].leak()];
        FoundClues::new(text.as_bytes(), &hits, &(0..text.len())).places(groups.leak(), in_one_line)
    }

    #[test]
    fn clues_in_one_line_are_closer_than_a_kilobyte() {
        let [(one, _), (other, _)] = two();
        let apart = |distance: usize| {
            let blanks = ".".repeat(distance - one.len());
            places(&format!(". {one}{blanks}{other}"), true)
        };
        assert_eq!(apart(1023), Some(vec![2]));
        assert_eq!(apart(1024), None);
        let turned = |distance: usize| {
            let blanks = ".".repeat(distance - other.len());
            places(&format!(". {other}{blanks}{one}"), true)
        };
        assert_eq!(turned(1023), Some(vec![1025]));
        assert_eq!(turned(1024), None);
        let lines = format!("{one}\n{other}");
        assert_eq!(places(&lines, true), None);
        assert_eq!(places(&lines, false), Some(vec![0, one.len() + 1]));
        assert_eq!(places(one, false), None);
        // The first line has only one of them.
        let later = format!("{one}\n{one} {other}");
        assert_eq!(places(&later, true), Some(vec![one.len() + 1]));
    }

    #[test]
    fn clues_in_one_line_have_few_others_between_them() {
        let [(one, _), (other, _)] = two();
        let place = |count: usize| {
            let text = format!("{}{other}", format!("{one} ").repeat(count));
            places(&text, true).map(|places| places[0])
        };
        // The eighth before it is the first that is near.
        assert_eq!(place(8), Some(0));
        assert_eq!(place(9), Some(one.len() + 1));
    }
}
