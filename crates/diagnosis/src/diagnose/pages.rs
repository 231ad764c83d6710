//! Reference pages of all causes.

use std::collections::BTreeSet;

use mooring_codes::{ExitCode, Os, Owner, Status, Transient, all as all_codes, lookup};

use crate::cause::wording::Wording;
use crate::cause::{Cause, Stage};
use crate::diagnose::failures::diagnose;
use crate::diagnose::rules;
use crate::diagnose::rules::{CAUSES, MAX_CODES, Rule, WORDINGS};
use crate::diagnosis::reason;
use crate::hints::Hints;
use crate::text::phrases::PHRASES;
use crate::text::scan::{CLUES, Clue};

/// Signs on a page.
const MAX_SIGNS: usize = 4;
/// Phrases of one rule or wording among the signs.
const MAX_ALTERNATIVES: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CausePage {
    pub reason: &'static str,
    pub stage: Stage,
    pub owner: Owner,
    pub retry: Transient,
    pub summary: &'static str,
    /// First sign that an operator sees.
    pub symptom: String,
    /// Next steps, in this order.
    pub actions: Vec<&'static str>,
    /// Some texts that indicate the cause: all phrases of one entry together.
    pub known_by: Vec<Vec<String>>,
    /// Every phrase of its rules and wordings.
    pub phrases: Vec<&'static str>,
    /// Exit codes, the correct one first. Codes of general rules are not included.
    pub codes: Vec<&'static ExitCode>,
}

/// Returns the names of all rules and wordings, for tests.
pub fn rule_names() -> impl Iterator<Item = &'static str> {
    let wordings = WORDINGS.iter().map(|wording| wording.name);
    rules::rule_names().chain(wordings).chain(["other-extension"])
}

/// Returns the pages of all causes, by name. Exit codes have separate pages.
pub fn cause_pages() -> Vec<CausePage> {
    let names: BTreeSet<&str> = CAUSES.iter().map(|cause| cause.reason).collect();
    names.into_iter().filter_map(page).collect()
}

/// Returns the page of a cause by its name, in any case.
pub fn cause_page(name: &str) -> Option<CausePage> {
    let known = CAUSES.iter().find(|cause| cause.reason.eq_ignore_ascii_case(name))?;
    page(known.reason)
}

/// Returns the exit codes whose cause has this name, in any case.
pub fn find_codes(name: &str) -> Vec<&'static ExitCode> {
    let known = all_codes().filter(|row| row.status != Status::Raw);
    known.filter(|row| reason(row).eq_ignore_ascii_case(name)).collect()
}

/// Returns the expected result of a retry after a failure with this cause: that of its page or of its exit code.
pub fn retry(reason: &str) -> Option<Transient> {
    cause_page(reason)
        .map(|page| page.retry)
        .or_else(|| find_codes(reason).first().map(|code| code.transient))
}

fn page(name: &str) -> Option<CausePage> {
    let rules: Vec<&Rule> = rules::all().filter(|rule| rule.cause.reason == name).collect();
    let wordings: Vec<&Wording> = WORDINGS.iter().filter(|w| w.cause.reason == name).collect();
    let rule = rules.first().map(|rule| rule.cause);
    let worded = || wordings.first().map(|wording| wording.cause);
    // Some causes have neither: those of components, of unlisted codes and of other extensions.
    let other = || CAUSES.iter().find(|cause| cause.reason == name);
    let cause = rule.or_else(worded).or_else(other)?;
    let of_rules = rules.iter().flat_map(|rule| rule.clues.concat()).flat_map(phrases_of);
    let of_wordings = wordings.iter().flat_map(|wording| wording.phrases);
    let phrases: BTreeSet<&str> =
        of_rules.chain(of_wordings.map(|phrase| PHRASES[*phrase])).collect();
    let codes = codes(&rules, &wordings);
    Some(CausePage {
        reason: cause.reason,
        stage: cause.stage,
        owner: cause.owner,
        retry: cause.retry,
        summary: cause.summary,
        symptom: symptom(cause, &codes),
        actions: cause.actions.to_vec(),
        known_by: signs(name, &rules, &wordings),
        phrases: phrases.into_iter().collect(),
        codes,
    })
}

fn symptom(cause: &Cause, codes: &[&ExitCode]) -> String {
    let mut same = CAUSES.iter().filter(|other| other.reason == cause.reason);
    if let Some(written) = same.find_map(|other| other.symptom) {
        return written.to_owned();
    }
    let codes: BTreeSet<i32> = codes.iter().map(|code| code.number).collect();
    let codes: Vec<String> = codes.iter().map(i32::to_string).collect();
    match codes.as_slice() {
        [] => cause.stage.symptom().to_owned(),
        [one] => format!("exit code {one}"),
        [first @ .., last] => format!("exit code {} or {last}", first.join(", ")),
    }
}

/// Returns texts that indicate the cause. A clue that does not count alone is listed with an exit code of its rule.
fn signs(name: &str, rules: &[&Rule], wordings: &[&Wording]) -> Vec<Vec<String>> {
    let of_rules = rules.iter().flat_map(|rule| {
        let code = rule.codes.first();
        clues(rule).into_iter().filter_map(move |sign| {
            let found = diagnose(sign.join(" ").as_bytes(), Hints::default());
            if found.iter().any(|one| one.reason == name) {
                return Some((sign, None));
            }
            Some((sign, Some(format!("vmssCSE exit status={}", code?))))
        })
    });
    let of_wordings = wordings.iter().flat_map(|wording| {
        let phrases = wording.phrases.iter().take(MAX_ALTERNATIVES);
        phrases.map(|phrase| (with_others(wording, *phrase), None))
    });
    let mut signs: Vec<Vec<String>> = Vec::new();
    for (sign, code) in of_rules.chain(of_wordings) {
        let is_listed = signs.iter().any(|other| other.starts_with(&sign));
        if !is_listed && signs.len() < MAX_SIGNS {
            signs.push(sign.into_iter().chain(code).collect());
        }
    }
    signs
}

/// Returns clues of a rule: some of its only group, or one of each group.
fn clues(rule: &Rule) -> Vec<Vec<String>> {
    let phrases = |group: &&[Clue]| -> Vec<String> {
        group.iter().flat_map(|clue| phrases_of(*clue)).map(str::to_owned).collect()
    };
    match rule.clues {
        [] => Vec::new(),
        [one] => {
            phrases(one).into_iter().take(MAX_ALTERNATIVES).map(|phrase| vec![phrase]).collect()
        }
        several => {
            vec![several.iter().filter_map(|group| phrases(group).into_iter().next()).collect()]
        }
    }
}

/// Returns a phrase of a wording with one phrase of each other group that it requires.
fn with_others(wording: &Wording, phrase: usize) -> Vec<String> {
    let phrase = PHRASES[phrase];
    let is_in = |group: &&&[usize]| group.iter().any(|other| phrase.contains(PHRASES[*other]));
    let groups = wording.near.iter().chain(wording.also).filter(|group| !is_in(group));
    let others = groups.filter_map(|group| group.first()).map(|other| PHRASES[*other]);
    [phrase].into_iter().chain(others).map(str::to_owned).collect()
}

fn phrases_of(clue: Clue) -> impl Iterator<Item = &'static str> {
    CLUES.iter().filter(move |(_, of)| *of == clue).map(|(phrase, _)| *phrase)
}

/// Returns the codes of specific rules and wordings, those that match the cause first.
fn codes(rules: &[&Rule], wordings: &[&Wording]) -> Vec<&'static ExitCode> {
    let correct = rules.iter().filter_map(|rule| rule.effective);
    let correct = correct
        .filter_map(|(number, name)| all_codes().find(|c| c.number == number && c.name == name));
    let mut reported: Vec<&ExitCode> = Vec::new();
    let of_rules = rules.iter().map(|rule| (rule.codes, rule.os));
    for (numbers, os) in of_rules.chain(wordings.iter().map(|w| (w.codes, w.os))) {
        let numbers = numbers.iter().filter(|_| numbers.len() <= MAX_CODES);
        reported.extend(
            numbers.filter_map(|n| lookup(os.unwrap_or(Os::Linux), *n, None).likely().first()),
        );
    }
    reported.sort_by_key(|code| (code.os, code.number));
    let mut codes: Vec<&ExitCode> = Vec::new();
    for code in correct.chain(reported) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use mooring_codes::Transient;

    use super::{CAUSES, CausePage, MAX_SIGNS, cause_page, cause_pages, find_codes, retry, rules};

    #[test]
    fn cause_pages_are_found_in_any_case() {
        let pages = cause_pages();
        assert!(pages.len() > 60, "{}", pages.len());
        for page in &pages {
            assert_eq!(cause_page(&page.reason.to_ascii_lowercase()).as_ref(), Some(page));
            assert!(!page.summary.is_empty() && !page.actions.is_empty(), "{}", page.reason);
            assert!(!page.symptom.is_empty(), "{}", page.reason);
        }
        assert_eq!(cause_page("NoSuchCause"), None);
    }

    #[test]
    fn page_shows_signs_and_the_correct_code_first() {
        let page = cause_page("OrasBinaryMissing").unwrap();
        let codes: Vec<i32> = page.codes.iter().map(|code| code.number).collect();
        assert_eq!(codes[..2], [232, 211]);
        assert_eq!(page.codes[0].name, "ERR_ORAS_BINARY_NOT_FOUND");
        assert_eq!(page.known_by[0], ["oras: command not found"]);
        let response =
            ["unexpected response from acr", "command not found", "vmssCSE exit status=211"];
        assert!(page.known_by.iter().any(|sign| *sign == response));
        assert!(page.phrases.contains(&"failed to run command 'oras'"));
        assert_eq!(page.retry, Transient::No);
    }

    #[test]
    fn page_of_a_rule_has_its_code_with_number_and_name() {
        for rule in rules::all() {
            let Some((number, name)) = rule.effective else { continue };
            let page = cause_page(rule.cause.reason).unwrap();
            let has = page.codes.iter().any(|code| code.number == number && code.name == name);
            assert!(has, "{}", rule.name);
        }
    }

    #[test]
    fn signs_of_a_page_are_few_and_different() {
        let pages = cause_pages();
        let most = pages.iter().map(|page| page.known_by.len()).max();
        assert_eq!(most, Some(MAX_SIGNS));
        for page in pages {
            let signs = &page.known_by;
            let is_repeated = |at: usize| signs[..at].contains(&signs[at]);
            assert!(!(0..signs.len()).any(is_repeated), "{}", page.reason);
        }
    }

    #[test]
    fn symptom_is_written_or_that_of_the_code_or_the_stage() {
        for cause in CAUSES.iter().filter(|cause| cause.symptom.is_some()) {
            let page = cause_page(cause.reason).unwrap();
            assert_eq!(Some(&*page.symptom), cause.symptom, "{}", cause.reason);
        }
        let runtime = cause_page("ContainerRuntimeDown").unwrap();
        assert_eq!(runtime.symptom, "a Node that is not Ready");
        let is_written = |reason: &str| {
            CAUSES.iter().any(|cause| cause.reason == reason && cause.symptom.is_some())
        };
        let with_code = |page: &CausePage| page.codes.len() == 1 && !is_written(page.reason);
        let pages: Vec<CausePage> = cause_pages().into_iter().filter(with_code).collect();
        assert!(!pages.is_empty());
        for page in pages {
            assert_eq!(page.symptom, format!("exit code {}", page.codes[0].number));
        }
    }

    #[test]
    fn causes_with_one_name_have_one_retry() {
        for cause in &CAUSES {
            assert_eq!(Some(cause.retry), retry(cause.reason), "{}", cause.reason);
        }
        assert_eq!(retry("OutboundConnFail"), Some(Transient::Maybe));
        assert_eq!(retry("NoSuchCause"), None);
    }

    #[test]
    fn cause_name_of_an_exit_code_returns_the_code() {
        assert!(find_codes("OutboundConnFail").iter().any(|row| row.number == 50));
    }
}
