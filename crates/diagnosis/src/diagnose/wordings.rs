//! Wordings that match a text.

use std::ops::Range;

use crate::cause::wording::{Match, Subject};
use crate::diagnose::rules::WORDINGS;
use crate::text::phrases::Phrases;

/// Returns the wordings that match within a span, the most specific first.
pub(crate) fn matches<'t>(
    text: &'t [u8],
    found: &'t Phrases,
    span: Range<usize>,
    subject: Subject,
) -> impl Iterator<Item = Match> + 't {
    let some = !found.is_empty();
    let all = WORDINGS.iter().filter(move |_| some);
    #[cfg(test)]
    let all = all.filter(|wording| !crate::diagnose::removal::is_removed(wording.name));
    all.filter_map(move |wording| {
        let at = wording.place(text, found, &span, subject)?;
        Some(Match { wording, at })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::cause::Confidence;
    use crate::cause::wording::Tier;
    use crate::diagnose::rules::WORDINGS;
    use crate::text::phrases::PHRASES;

    #[test]
    fn wordings_have_unique_names_phrases_and_a_cause() {
        let mut names: BTreeSet<&str> = crate::diagnose::rules::rule_names().collect();
        for wording in WORDINGS {
            assert!(!wording.name.is_empty() && names.insert(wording.name), "{}", wording.name);
            assert!(!wording.phrases.is_empty(), "{}", wording.name);
            let cause = wording.cause;
            assert!(cause.reason.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            assert!(!cause.summary.is_empty() && !cause.actions.is_empty(), "{}", cause.reason);
        }
    }

    #[test]
    fn phrases_are_lowercase_and_long_enough() {
        for phrase in PHRASES {
            assert!((4..=255).contains(&phrase.len()), "{phrase}");
            assert_eq!(*phrase, phrase.to_lowercase(), "{phrase}");
        }
    }

    #[test]
    fn wrapper_wording_never_has_high_confidence() {
        for wording in WORDINGS.iter().filter(|wording| wording.tier == Tier::Wrapper) {
            assert!(wording.confidence < Confidence::High, "{}", wording.name);
        }
    }
}
