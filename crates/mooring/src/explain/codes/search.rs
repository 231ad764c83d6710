//! `mooring codes search`: finds exit codes, causes and error codes by words, also with typos.

use std::collections::BTreeSet;

use mooring_codes::{ExitCode, Os, Owner, Status, all};
use mooring_diagnosis::{CausePage, cause_pages};
use mooring_redact::identifier;
use mooring_terminal::{Mark, Screen, Text, suggest};

use super::{causes_table, document, markdown, markdown_of_causes, parse_code, table};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, show};

/// Shorter words are in too many others.
const MIN_PART: usize = 3;
/// A typo in a shorter word matches too much.
const MIN_TYPO: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Found {
    codes: Vec<&'static ExitCode>,
    /// Causes and error codes.
    causes: Vec<CausePage>,
    /// True if no text has all words, and these are only similar.
    is_similar: bool,
}

impl Found {
    fn is_empty(&self) -> bool {
        self.codes.is_empty() && self.causes.is_empty()
    }
}

/// Texts of a code or cause in which words are searched.
struct Subject {
    /// Names without `_` and `-`, in lowercase.
    names: Vec<String>,
    /// Words of all texts, in lowercase.
    words: BTreeSet<String>,
    /// All texts, in lowercase: an address or a path is several words.
    text: String,
    numbers: Vec<i32>,
}

/// Quality of a match; the best one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    Name,
    Text,
    /// The name, with typos.
    SimilarName,
    /// Words of the texts, with typos.
    SimilarText,
}

impl Subject {
    fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
        texts: impl IntoIterator<Item = &'a str>,
        numbers: Vec<i32>,
    ) -> Self {
        let names: Vec<String> = names.into_iter().map(normalize).collect();
        let text = texts.into_iter().collect::<Vec<_>>().join("\n").to_lowercase();
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Self { names, words, text, numbers }
    }

    fn of_code(code: &ExitCode) -> Self {
        let names = [code.name].into_iter().chain(code.aks_names.iter().copied());
        let texts = [code.name, code.meaning, code.cause, code.action];
        Self::new(names, texts, vec![code.number])
    }

    fn of_cause(page: &CausePage) -> Self {
        let texts = [page.summary, page.symptom.as_str()].into_iter();
        let texts = texts.chain(page.actions.iter().copied()).chain(page.phrases.iter().copied());
        let numbers = page.codes.iter().map(|code| code.number).collect();
        Self::new([page.reason], texts, numbers)
    }

    /// Returns the match of the worst word.
    fn matches(&self, words: &[Word], allows_typos: bool) -> Option<Match> {
        words
            .iter()
            .map(|word| {
                let typo = || self.has_typo(&word.text).then_some(Match::SimilarText);
                self.match_word(word).or_else(|| typo().filter(|_| allows_typos))
            })
            .try_fold(Match::Name, |worst, found| Some(worst.max(found?)))
    }

    fn match_word(&self, word: &Word) -> Option<Match> {
        if let Some(number) = word.number {
            return self.numbers.contains(&number).then_some(Match::Name);
        }
        if self.names.iter().any(|name| name.contains(&word.normal)) {
            Some(Match::Name)
        } else if self.has(&word.text) {
            Some(Match::Text)
        } else if self.names.iter().any(|name| suggest::is_similar(&word.normal, name)) {
            Some(Match::SimilarName)
        } else {
            None
        }
    }

    /// Returns true if the texts have this, or if a word starts with it if it is short.
    fn has(&self, part: &str) -> bool {
        self.text.contains(part)
            && (part.len() >= MIN_PART || self.words.iter().any(|word| word.starts_with(part)))
    }

    fn has_typo(&self, word: &str) -> bool {
        let is_typo = |known: &String| known.len() >= MIN_TYPO && suggest::is_typo(word, known);
        word.len() >= MIN_TYPO && self.words.iter().any(is_typo)
    }
}

/// A word of the query, in lowercase.
struct Word {
    text: String,
    normal: String,
    number: Option<i32>,
}

impl Word {
    fn new(word: &str) -> Self {
        let text = word.to_lowercase();
        let is_code = |number: &i32| all().any(|code| code.number == *number);
        Self { normal: normalize(&text), number: parse_code(&text).filter(is_code), text }
    }
}

fn normalize(name: &str) -> String {
    name.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns the pages of causes, then those of error codes that are not the name of a cause.
fn all_pages() -> impl Iterator<Item = CausePage> {
    let causes = cause_pages();
    let mut listed: Vec<CausePage> = mooring_catalog::pages().collect();
    listed.retain(|page| causes.iter().all(|cause| cause.reason != page.reason));
    causes.into_iter().chain(listed)
}

/// Finds the codes and causes with all words.
pub(super) fn search(words: &[String], os: Option<Os>, owner: Option<Owner>) -> Found {
    Index::new(os, owner).search(words)
}

/// All exit codes, causes and error codes.
struct Index {
    codes: Vec<(Subject, &'static ExitCode)>,
    causes: Vec<(Subject, CausePage)>,
}

impl Index {
    fn new(os: Option<Os>, owner: Option<Owner>) -> Self {
        let codes = all().filter(|code| os.is_none_or(|os| code.os == os));
        let codes = codes.filter(|code| owner.is_none_or(|owner| code.owner == owner));
        let causes = all_pages().filter(|page| owner.is_none_or(|owner| page.owner == owner));
        Self {
            codes: codes.map(|code| (Subject::of_code(code), code)).collect(),
            causes: causes.map(|page| (Subject::of_cause(&page), page)).collect(),
        }
    }

    fn search(&self, words: &[String]) -> Found {
        let words = words.iter().flat_map(|word| word.split_whitespace());
        let words: Vec<Word> = words.map(Word::new).collect();
        // Typos in texts count only if nothing better exists.
        let found = self.find(&words, false);
        if found.is_empty() { self.find(&words, true) } else { found }
    }

    fn find(&self, words: &[Word], allows_typos: bool) -> Found {
        let matching = |subject: &Subject| subject.matches(words, allows_typos);
        let codes = self.codes.iter();
        let codes = codes.filter_map(|(subject, code)| Some((matching(subject)?, *code)));
        let causes = self.causes.iter();
        let causes = causes.filter_map(|(subject, page)| Some((matching(subject)?, page)));
        let (mut codes, mut causes): (Vec<_>, Vec<_>) = (codes.collect(), causes.collect());
        let is_past =
            |code: &ExitCode| !matches!(code.status, Status::Agent | Status::Current | Status::Raw);
        codes.sort_by_key(|(found, code)| {
            (*found > Match::Text, is_past(code), code.os, code.number)
        });
        causes.sort_by_key(|(found, _)| *found);
        let best = [codes.first().map(|one| one.0), causes.first().map(|one| one.0)];
        Found {
            codes: codes.into_iter().map(|(_, code)| code).collect(),
            causes: causes.into_iter().map(|(_, page)| page.clone()).collect(),
            is_similar: best.into_iter().flatten().min().is_some_and(|best| best > Match::Text),
        }
    }
}

pub(super) fn print(
    words: &[String],
    found: &Found,
    format: AnswerFormat,
) -> Result<(), CommandFailure> {
    let query = words.join(" ");
    if found.is_empty() {
        return Err(CommandFailure::unknown_name(format!(
            "no code or cause matches `{}`\nhint: use fewer words; `mooring codes list --all` lists \
             all codes",
            identifier(&query)
        )));
    }
    let markdown = || {
        let tables = [markdown(&found.codes), markdown_of_causes(&found.causes)].join("\n");
        tables + "\n" + &summary(found) + "\n"
    };
    let codes = found.codes.iter().map(|code| code.name);
    let names = codes.chain(found.causes.iter().map(|page| page.reason));
    let screen = |is_wide| screen(&query, found, is_wide);
    let document = || document(Some(query.clone()), &found.codes, &found.causes);
    show::print_answer(format, screen, Some(&markdown), document, names)
}

fn screen(query: &str, found: &Found, is_wide: bool) -> Screen {
    let mut screen = Screen::default();
    if found.is_similar {
        let text = format!("No text has `{}`. Similar names and texts:", identifier(query));
        screen.sentence(Mark::Warning, text);
    }
    if !found.codes.is_empty() {
        screen.table(table(&found.codes, is_wide));
    }
    if !found.causes.is_empty() {
        screen.table(causes_table(&found.causes));
    }
    screen.prose(0, Text::new(summary(found)));
    screen
}

/// Returns `3 of 306 exit codes, and 2 of 459 causes and error codes`.
fn summary(found: &Found) -> String {
    let (codes, causes) = (found.codes.len(), found.causes.len());
    let (all_codes, all_causes) = (all().count(), all_pages().count());
    format!(
        "{codes} of {all_codes} exit codes, and {causes} of {all_causes} causes and error codes"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(query: &str) -> Found {
        search(&[query.to_owned()], None, None)
    }

    fn numbers(query: &str) -> Vec<i32> {
        find(query).codes.iter().map(|code| code.number).collect()
    }

    fn causes(query: &str) -> Vec<&'static str> {
        find(query).causes.iter().map(|page| page.reason).collect()
    }

    #[test]
    fn words_are_found_in_names_texts_and_phrases() {
        let found = numbers("oras registry");
        assert!(found.contains(&211) && found.contains(&212), "{found:?}");
        assert!(causes("oras").contains(&"OrasBinaryMissing"));
        assert!(causes("quota").contains(&"QuotaExceeded"), "name");
        assert!(causes("vcpu").contains(&"QuotaExceeded"), "phrase");
        assert!(numbers("mcr").contains(&50), "meaning");
        assert_eq!(find("211").codes[0].number, 211);
        assert!(causes("211").contains(&"OrasBinaryMissing"), "by code");
        assert!(!find("oras").is_similar && !find("mcr").is_similar);
        assert!(numbers("168.63.129.16").contains(&53), "an address");
        assert!(causes("169.254.169.254").contains(&"ImdsUnreachable"), "an address");
        assert!(numbers("300 seconds").contains(&31), "a number that is no code");
        assert!(causes("AgentPoolAPIsNotSupported").contains(&"AgentPoolAPIsNotSupported"));
        assert!(causes("availability set").contains(&"AgentPoolAPIsNotSupported"), "meaning");
        assert!(causes("reachable").contains(&"EgressBlocked"), "a part of a word");
    }

    #[test]
    fn search_requires_all_words_and_applies_filters() {
        assert!(find("oras kubelet gpu").codes.is_empty());
        let windows = search(&["timeout".to_owned()], Some(Os::Windows), None);
        assert!(
            windows.codes.iter().all(|code| code.os == Os::Windows) && !windows.codes.is_empty()
        );
        let image = search(&["oras".to_owned()], None, Some(Owner::Image));
        assert!(image.codes.iter().all(|code| code.owner == Owner::Image));
        assert!(image.causes.iter().all(|page| page.owner == Owner::Image));
        assert!(!image.causes.is_empty());
    }

    #[test]
    fn words_with_typos_are_found_only_if_nothing_else_is() {
        let found = find("regsitry");
        assert!(found.is_similar && !found.codes.is_empty());
        assert!(!find("registry").is_similar);
        assert!(find("zzzzzzzz").codes.is_empty());
    }

    /// Returns the name with two wrong letters, in several ways.
    fn misspell(name: &str) -> Vec<String> {
        let letters: Vec<char> = name.chars().collect();
        let (one, two) = (letters.len() / 3, 2 * letters.len() / 3);
        let with = |change: &dyn Fn(&mut Vec<char>)| {
            let mut changed = letters.clone();
            change(&mut changed);
            changed.into_iter().collect::<String>()
        };
        vec![
            with(&|name| (name[one], name[two]) = ('x', 'q')),
            with(&|name| {
                name.remove(two);
                name.remove(one);
            }),
            with(&|name| {
                name.insert(two, 'x');
                name.insert(one, 'q');
            }),
            with(&|name| {
                name.swap(0, 1);
                let last = name.len() - 1;
                name.swap(last, last - 1);
            }),
            with(&|name| {
                name.remove(0);
                name.pop();
            }),
        ]
    }

    mod slow {
        use super::*;

        #[test]
        fn every_cause_and_code_is_found_with_two_wrong_letters() {
            let pages = cause_pages();
            let index = Index::new(None, None);
            let names: Vec<&str> =
                mooring_codes::code_names().chain(pages.iter().map(|page| page.reason)).collect();
            assert!(names.len() > 300, "{}", names.len());
            let existing: BTreeSet<String> = names.iter().map(|name| normalize(name)).collect();
            for (number, name) in names.iter().enumerate() {
                // All ways for each name would take half a minute.
                let typos = misspell(name).into_iter().enumerate();
                for (at, typo) in typos.filter(|(at, _)| *at == 0 || *at == number % 5) {
                    if existing.contains(&normalize(&typo)) {
                        continue;
                    }
                    let found = index.search(std::slice::from_ref(&typo));
                    let by_code = found.codes.iter().any(|code| code.name == *name);
                    let by_cause = found.causes.iter().any(|page| page.reason == *name);
                    assert!(by_code || by_cause, "{name}: {typo}");
                    if at > 0 {
                        continue;
                    }
                    // Three other names may be as similar.
                    let suggested = suggest::similar(&typo, names.iter().copied());
                    let letters = suggest::letters;
                    let typos =
                        |other: &str| strsim::osa_distance(&letters(&typo), &letters(other));
                    let are_nearer = suggested.iter().all(|other| typos(other) <= typos(name));
                    assert!(
                        suggested.contains(name) || (suggested.len() == 3 && are_nearer),
                        "{name}: {typo}: {suggested:?}"
                    );
                }
            }
        }
    }
}
