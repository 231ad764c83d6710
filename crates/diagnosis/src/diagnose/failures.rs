//! Diagnoses of a text: the first matching rule, otherwise the table of exit codes.

use mooring_codes::{Date, ExitCode, Meanings, Os, image_date, lookup_named};
use mooring_contract::CseStatus;

use crate::cause::wording::{Match, Subject, Tier, Wording};
use crate::cause::{Confidence, TextSubject};
use crate::decode::{BootstrapOutcome, Decoded, DecodedMessage, Situation, read};
use crate::diagnose::alone::alone;
use crate::diagnose::code::from_catalog;
use crate::diagnose::coded::coded;
use crate::diagnose::evidence::quote;
use crate::diagnose::found_clues::FoundClues;
use crate::diagnose::rules::{Rule, WORDINGS};
use crate::diagnose::scope::is_elsewhere;
use crate::diagnose::sentence::sentence;
use crate::diagnose::wording_case::{from_wording, without_message};
use crate::diagnose::{rules, wordings};
use crate::diagnosis::{Diagnosis, Effective, Evidence, Reported, Rung, unknown};
use crate::hints::{Hints, Origin};
use crate::text::ScannedText;

const MAX_EVIDENCE: usize = 4;

/// Returns the causes of the node failures in a text, the most certain first; empty if it has none.
pub fn diagnose(input: &[u8], hints: Hints) -> Vec<Diagnosis> {
    let each = diagnose_each(input, hints).into_iter();
    let mut diagnoses: Vec<Diagnosis> = each.map(|(_, diagnosis)| diagnosis).collect();
    diagnoses.sort_by_key(order);
    diagnoses
}

/// Returns every bootstrap message with its diagnosis, in the order of the text.
pub(crate) fn diagnose_each(input: &[u8], hints: Hints) -> Vec<(DecodedMessage, Diagnosis)> {
    if hints.origin == Origin::Extension {
        // The text itself shows most.
        let own = diagnose_each(input, Hints { origin: Origin::Unknown, ..hints });
        if own.iter().any(|(_, one)| one.rung == Rung::Rule) || input.is_empty() {
            return own;
        }
    }
    let (text, messages) = read(input, hints);
    let (ours, others): (Vec<DecodedMessage>, Vec<DecodedMessage>) = messages
        .into_iter()
        .partition(|one| one.decoded.outcome != BootstrapOutcome::NotABootstrap);
    let mut each: Vec<(DecodedMessage, Diagnosis)> = ours
        .into_iter()
        .map(|message| {
            let diagnosis = Case::new(&text, &message, hints).diagnose();
            (message, diagnosis)
        })
        .collect();
    if let Some((_, outer)) = each.first()
        && each.iter().all(names_a_wrapper)
        && let Some(inner) = inner_code(outer, &text, hints)
    {
        return vec![inner];
    }
    let has_failure = |(message, _): &(DecodedMessage, Diagnosis)| {
        message.decoded.outcome != BootstrapOutcome::Succeeded
    };
    if !each.iter().any(has_failure) && !is_elsewhere(&text) {
        let in_lines = without_message(&text, &others, hints);
        let found = in_lines.or_else(|| {
            let joined = text.in_one_line().filter(|_| others.is_empty());
            joined.and_then(|joined| without_message(&joined, &[], hints))
        });
        let is_bare = found.is_none() && others.is_empty();
        let bare = if is_bare { alone(&text, hints) } else { Vec::new() };
        if !bare.is_empty() {
            each.extend(bare);
        } else if found.is_some() || each.is_empty() && is_ours(&text, &others) {
            each.extend(best(found, &text, hints));
        }
    }
    each
}

/// Returns false for a text about another extension of a VM that may be no node.
fn is_ours(text: &ScannedText, others: &[DecodedMessage]) -> bool {
    others.is_empty() || TextSubject::Cluster.holds(&text.phrases)
}

/// Returns true for a failure of which only the code of an error that wraps another is known.
fn names_a_wrapper((message, diagnosis): &(DecodedMessage, Diagnosis)) -> bool {
    let is_general = |name| WORDINGS.iter().any(|one| one.name == name && one.is_general());
    message.decoded.situation == Some(Situation::ArmCodeOnly)
        && diagnosis.rule.is_some_and(is_general)
}

/// Returns the failure by an error code that says more than one that wraps it.
fn inner_code(
    outer: &Diagnosis,
    text: &ScannedText,
    hints: Hints,
) -> Option<(DecodedMessage, Diagnosis)> {
    coded(text, hints).filter(|(_, found)| {
        let is_refusal = found.reason == "RequestRejected" && found.reported.name.is_some();
        found.is_listed(hints.catalog) || is_refusal && found.reason != outer.reason
    })
}

/// Returns the diagnosis by rule, or that by an error code, which says more than an error that only wraps another.
fn best(
    ruled: Option<(DecodedMessage, Diagnosis)>,
    text: &ScannedText,
    hints: Hints,
) -> Option<(DecodedMessage, Diagnosis)> {
    let is_wrapper = |(message, _): &(DecodedMessage, Diagnosis)| {
        message.worded.is_some_and(Wording::is_general)
    };
    match ruled {
        Some(ruled) if is_wrapper(&ruled) => inner_code(&ruled.1, text, hints).or(Some(ruled)),
        Some(ruled) => Some(ruled),
        None => coded(text, hints).or_else(|| sentence(text, hints)),
    }
}

/// Sort key: failures with a code first, then those without, then successes; higher confidence first.
pub(crate) fn order(diagnosis: &Diagnosis) -> (u8, std::cmp::Reverse<Confidence>) {
    let rank = match diagnosis.outcome {
        BootstrapOutcome::Failed => 0,
        BootstrapOutcome::NoCode => 1,
        BootstrapOutcome::Succeeded | BootstrapOutcome::NotABootstrap => 2,
    };
    (rank, std::cmp::Reverse(diagnosis.confidence))
}

struct Case<'a> {
    text: &'a ScannedText,
    message: &'a DecodedMessage,
    decoded: &'a Decoded,
    os: Option<Os>,
    day: Option<Date>,
    meanings: Meanings,
}

impl<'a> Case<'a> {
    fn new(text: &'a ScannedText, message: &'a DecodedMessage, hints: Hints) -> Self {
        let decoded = &message.decoded;
        let os = decoded.os.or(hints.os);
        let named = decoded.image_version.as_deref().and_then(|image| image_date(image).ok());
        let day = hints.image_date.or(named);
        let error = decoded.status.as_ref().map_or("", |status| status.error.as_str());
        let meanings = match (os, decoded.code) {
            (Some(os), Some(code)) => lookup_named(os, code, error, day),
            _ => lookup_named(Os::Linux, i32::MIN, "", None),
        };
        Self { text, message, decoded, os, day, meanings }
    }

    fn diagnose(&self) -> Diagnosis {
        if let Some(found) = self.hidden() {
            return self.complete(self.by_wording(found));
        }
        let found = FoundClues::new(&self.text.bytes, &self.text.hits, &self.message.span);
        let fitting = rules::all()
            .filter(|rule| rule.fits(self.decoded, self.os, self.day))
            .filter(|rule| !found.has_any(rule.without))
            .find_map(|rule| Some((rule, found.places(rule.clues, rule.in_one_line)?)));
        let mut diagnosis = match (&fitting, self.meanings.first()) {
            (Some((rule, _)), _) => self.by_rule(rule),
            (None, Some(row)) => self.by_row(row),
            (None, None) => unknown(),
        };
        let proven =
            fitting.as_ref().is_some_and(|(rule, places)| !places.is_empty() || rule.error);
        if !proven && let Some(found) = self.replaces_situation() {
            return self.complete(self.by_wording(found));
        }
        let quotes_error = fitting.as_ref().is_some_and(|(rule, _)| rule.error);
        let mut places = fitting.map(|(_, places)| places).unwrap_or_default();
        places.extend(self.message.error_at.filter(|_| quotes_error));
        self.add_step(&mut diagnosis, &mut places);
        let shown = !places.is_empty();
        if !shown {
            places.extend(self.message.error_at.or(self.message.output_end_at));
        }
        let at =
            self.message.at.filter(|at| !places.iter().any(|place| self.same_line(*at, *place)));
        places.extend(at);
        diagnosis.evidence = self.evidence(&places);
        if !shown && diagnosis.confidence == Confidence::High {
            diagnosis.confidence = Confidence::Medium;
        }
        if self.message.weak {
            diagnosis.confidence =
                diagnosis.confidence.min(if shown { Confidence::High } else { Confidence::Low });
        }
        self.complete(diagnosis)
    }

    fn by_rule(&self, rule: &Rule) -> Diagnosis {
        let effective = match rule.effective {
            Some((code, name)) => Effective { code: Some(code), name: Some(name.to_owned()) },
            None => self.reported_as_effective(),
        };
        Diagnosis {
            rule: Some(rule.name),
            confidence: rule.confidence,
            effective,
            ..Diagnosis::from_cause(rule.cause)
        }
    }

    /// Returns the first wording within the message whose cause its code hides.
    fn hidden(&self) -> Option<Match> {
        let failed = self.decoded.outcome == BootstrapOutcome::Failed;
        let code = self.decoded.code.filter(|_| failed)?;
        self.matches().find(|found| found.wording.codes.contains(&code))
    }

    /// Returns the first wording that is more specific than the code or its absence.
    fn replaces_situation(&self) -> Option<Match> {
        let min_tier = match (self.decoded.outcome, self.decoded.situation) {
            (BootstrapOutcome::NoCode, Some(Situation::ArmCodeOnly)) => Tier::Wrapper,
            (BootstrapOutcome::NoCode, _) => Tier::Root,
            (BootstrapOutcome::Failed, _) if self.message.weak => Tier::Root,
            _ => return None,
        };
        self.matches().find(|found| found.wording.tier >= min_tier)
    }

    /// Returns the wordings within the message. A text with only an ARM error code may have any subject.
    fn matches(&self) -> impl Iterator<Item = Match> {
        let subject = match self.decoded.situation {
            Some(Situation::ArmCodeOnly) => Subject::Unknown,
            _ => Subject::Node,
        };
        wordings::matches(&self.text.bytes, &self.text.phrases, self.message.span.clone(), subject)
    }

    fn by_wording(&self, found: Match) -> Diagnosis {
        let mut diagnosis = from_wording(self.text, self.message, found);
        diagnosis.effective = self.reported_as_effective();
        let line = self.message.at.map(|at| quote(&self.text.bytes, self.message, at));
        let is_new = |line: &Evidence| {
            !line.line.is_empty() && !diagnosis.evidence[0].line.contains(&line.line)
        };
        if let Some(line) = line.filter(|line| self.decoded.code.is_some() && is_new(line)) {
            diagnosis.evidence.push(line);
        }
        diagnosis
    }

    fn by_row(&self, row: &'static ExitCode) -> Diagnosis {
        let mut diagnosis = from_catalog(row, &self.meanings);
        diagnosis.effective = self.reported_as_effective();
        diagnosis
    }

    fn reported_as_effective(&self) -> Effective {
        let name = self.meanings.first().map(|row| row.name.to_owned());
        Effective { code: self.decoded.code, name }
    }

    /// Names the running step for codes of a timeout.
    fn add_step(&self, diagnosis: &mut Diagnosis, places: &mut Vec<usize>) {
        let (Some(step), Some(at)) = (&self.decoded.step, self.message.step_at) else { return };
        if matches!(self.decoded.code, Some(124 | 137 | 2)) {
            let step: String = step.chars().filter(char::is_ascii_graphic).take(64).collect();
            diagnosis.summary.push_str(" Last step started: ");
            diagnosis.summary.push_str(&step);
            diagnosis.summary.push('.');
            places.push(at);
        }
    }

    fn same_line(&self, one: usize, other: usize) -> bool {
        let between = &self.text.bytes[one.min(other)..one.max(other)];
        memchr::memchr(b'\n', between).is_none()
    }

    fn evidence(&self, places: &[usize]) -> Vec<Evidence> {
        let mut evidence: Vec<Evidence> = Vec::new();
        for at in places.iter().take(MAX_EVIDENCE) {
            let line = quote(&self.text.bytes, self.message, *at);
            if !line.line.is_empty()
                && !evidence.iter().any(|other| other.line.contains(&line.line))
            {
                evidence.push(line);
            }
        }
        evidence
    }

    /// Adds the facts that every diagnosis has.
    fn complete(&self, diagnosis: Diagnosis) -> Diagnosis {
        let name = self.meanings.first().map(|row| row.name.to_owned());
        let mut summary = diagnosis.summary;
        summary.extend(self.decoded.status.as_ref().and_then(hotfix_sentence));
        Diagnosis {
            summary,
            os: self.os,
            outcome: self.decoded.outcome,
            situation: self.decoded.situation,
            reported: Reported {
                code: self.decoded.code,
                name: name.or_else(|| self.decoded.arm_code.clone()).or(diagnosis.reported.name),
                found_by: self.decoded.found_by,
            },
            image_version: self.decoded.image_version.clone(),
            extension: self.decoded.extension.clone(),
            ..diagnosis
        }
    }
}

/// Returns the agent and script versions of a report, if they are plain.
fn hotfix_sentence(status: &CseStatus) -> Option<String> {
    let text = status.hotfix.as_str();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" .=()-_".contains(&byte);
    let is_state = text.starts_with("binary=") && text.contains(" scripts=") && text.len() <= 120;
    (is_state && text.bytes().all(is_plain)).then(|| format!(" Hotfix in effect: {text}."))
}
