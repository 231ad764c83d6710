//! Reference pages of all causes.

use std::collections::BTreeSet;

use mooring_codes::{ExitCode, Owner, Status, all as all_codes};

use crate::cause::stage::Stage;
use crate::diagnose::rules;
use crate::diagnose::tables::{OTHER_EXTENSION, WORDINGS};
use crate::diagnosis::reason;
use crate::text::phrases::PHRASES;

const MAX_PHRASES: usize = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CausePage {
    pub reason: &'static str,
    pub stage: Stage,
    pub owner: Owner,
    pub summary: &'static str,
    /// Next steps, in this order.
    pub actions: Vec<&'static str>,
    pub phrases: Vec<&'static str>,
    pub codes: Vec<i32>,
}

/// Returns the names of all rules and wordings, for tests.
pub fn rule_names() -> impl Iterator<Item = &'static str> {
    let wordings = WORDINGS.iter().map(|wording| wording.name);
    rules::rule_names().chain(wordings).chain(["other-extension"])
}

/// Returns the pages of all causes, by name. Exit codes have separate pages.
fn cause_pages() -> Vec<CausePage> {
    let rules = rules::all().map(|rule| rule.cause.reason);
    let wordings = WORDINGS.iter().map(|wording| wording.cause.reason);
    let names: BTreeSet<&str> = rules.chain(wordings).chain([OTHER_EXTENSION.reason]).collect();
    names.into_iter().filter_map(page).collect()
}

/// Returns the page of a cause by its name, in any case.
pub fn cause_page(name: &str) -> Option<CausePage> {
    cause_pages().into_iter().find(|page| page.reason.eq_ignore_ascii_case(name))
}

/// Returns the exit codes whose cause has this name, in any case.
pub fn find_codes(name: &str) -> Vec<&'static ExitCode> {
    let known = all_codes().filter(|row| row.status != Status::Raw);
    known.filter(|row| reason(row).eq_ignore_ascii_case(name)).collect()
}

fn page(name: &str) -> Option<CausePage> {
    let of_rules = || rules::all().filter(|rule| rule.cause.reason == name);
    let of_wordings = || WORDINGS.iter().filter(|wording| wording.cause.reason == name);
    let rule = of_rules().next().map(|rule| rule.cause);
    let worded = || of_wordings().next().map(|wording| wording.cause);
    let other = || (OTHER_EXTENSION.reason == name).then_some(OTHER_EXTENSION);
    let cause = rule.or_else(worded).or_else(other)?;
    let phrases = of_wordings().flat_map(|wording| wording.phrases);
    let phrases = phrases.map(|phrase| PHRASES[*phrase]).take(MAX_PHRASES).collect();
    let codes: BTreeSet<i32> = of_rules()
        .flat_map(|rule| rule.effective.map(|(code, _)| code).into_iter().chain(narrow(rule.codes)))
        .chain(of_wordings().flat_map(|wording| narrow(wording.codes)))
        .collect();
    Some(CausePage {
        reason: cause.reason,
        stage: cause.stage,
        owner: cause.owner,
        summary: cause.summary,
        actions: cause.actions.to_vec(),
        phrases,
        codes: codes.into_iter().collect(),
    })
}

/// Returns the codes of a specific rule; a long list is not helpful.
fn narrow(codes: &[i32]) -> impl Iterator<Item = i32> {
    codes.iter().copied().filter(move |_| codes.len() <= 5)
}

#[cfg(test)]
mod tests {
    use super::{cause_page, cause_pages, find_codes};

    #[test]
    fn cause_pages_are_found_in_any_case() {
        let pages = cause_pages();
        assert!(pages.len() > 60, "{}", pages.len());
        for page in &pages {
            assert_eq!(cause_page(&page.reason.to_ascii_lowercase()).as_ref(), Some(page));
            assert!(!page.summary.is_empty() && !page.actions.is_empty(), "{}", page.reason);
        }
        assert_eq!(cause_page("NoSuchCause"), None);
    }

    #[test]
    fn cause_name_of_an_exit_code_returns_the_code() {
        assert!(find_codes("OutboundConnFail").iter().any(|row| row.number == 50));
    }
}
