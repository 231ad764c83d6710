//! Diagnoses texts of any length in bounded memory.
//!
//! A text of up to [`MAX_WHOLE`] bytes is diagnosed as a whole. A longer one is read in windows of that size, which
//! overlap, so that a message at a border is complete in one of them. A failure in several windows is reported once.

use crate::cause::wording::Tier;
use crate::decode::merge::{is_same, trust};
use crate::decode::{BootstrapOutcome, DecodedMessage};
use crate::diagnose::failures::{diagnose, diagnose_each, order};
use crate::diagnose::recognize::{Recognized, recognize};
use crate::diagnosis::Diagnosis;
use crate::hints::Hints;

/// Maximum length of a text that is diagnosed as a whole, and the size of a window.
pub const MAX_WHOLE: usize = 4 << 20;
/// Overlap of two windows. A message with the node's report has about 4 KiB.
const OVERLAP: usize = 256 << 10;
/// Part of a long text that is kept for [`recognize`].
const HEAD: usize = 64 << 10;
const MAX_KEPT: usize = 1_000;

/// Diagnoses a text that arrives in chunks.
#[derive(Debug)]
pub struct DiagnosisStream {
    hints: Hints,
    /// Size of a window, at least twice the overlap.
    size: usize,
    /// Overlap and text that is not yet diagnosed.
    window: Vec<u8>,
    /// Failures in earlier windows; `None` before the first border.
    kept: Option<Vec<(DecodedMessage, Diagnosis)>>,
    omitted: usize,
    head: Vec<u8>,
}

#[derive(Debug)]
pub struct StreamDiagnoses {
    pub diagnoses: Vec<Diagnosis>,
    /// Number of failures that were found but not kept.
    pub omitted: usize,
    /// Kind of the text, if it has no known failure.
    pub recognized: Recognized,
}

impl DiagnosisStream {
    #[must_use]
    pub fn new(hints: Hints) -> Self {
        Self::with_windows(hints, MAX_WHOLE)
    }

    fn with_windows(hints: Hints, size: usize) -> Self {
        Self { hints, size, window: Vec::new(), kept: None, omitted: 0, head: Vec::new() }
    }

    pub fn push(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            if self.window.len() == self.size {
                self.close_window();
            }
            let (now, later) = chunk.split_at(chunk.len().min(self.size - self.window.len()));
            self.window.extend_from_slice(now);
            chunk = later;
        }
    }

    /// Returns the diagnoses of the text, in the order of [`diagnose`].
    pub fn finish(mut self) -> StreamDiagnoses {
        if self.kept.is_none() {
            let diagnoses = diagnose(&self.window, self.hints);
            let recognized =
                if diagnoses.is_empty() { recognize(&self.window) } else { Recognized::default() };
            return StreamDiagnoses { diagnoses, omitted: 0, recognized };
        }
        self.read(self.window.len());
        let mut kept = self.kept.unwrap_or_default();
        // A line or a code says less than a rule in another window.
        let best = kept.iter().map(|(_, diagnosis)| diagnosis.rung).min();
        kept.retain(|(_, diagnosis)| Some(diagnosis.rung) == best);
        // The cause of a symptom may be in another window.
        if kept.iter().any(|(message, _)| explains(message)) {
            kept.retain(|(message, _)| message.worded.is_none() || explains(message));
        }
        let mut diagnoses: Vec<Diagnosis> =
            kept.into_iter().map(|(_, diagnosis)| diagnosis).collect();
        diagnoses.sort_by_key(order);
        let recognized =
            if diagnoses.is_empty() { recognize(&self.head) } else { Recognized::default() };
        StreamDiagnoses { diagnoses, omitted: self.omitted, recognized }
    }

    /// Diagnoses a full window and keeps its end for the next one.
    fn close_window(&mut self) {
        let end = border(&self.window, self.window.len());
        if self.head.is_empty() {
            self.head = self.window[..HEAD].to_vec();
        }
        self.read(end);
        let start = border(&self.window, end - OVERLAP);
        self.window.drain(..start);
    }

    /// Diagnoses the window up to `end`.
    fn read(&mut self, end: usize) {
        let kept = self.kept.get_or_insert_default();
        for (message, diagnosis) in diagnose_each(&self.window[..end], self.hints) {
            let same = |(other, known): &(DecodedMessage, Diagnosis)| {
                known.rung == diagnosis.rung && is_same(other, &message)
            };
            match kept.iter().position(same) {
                Some(at) if trust(&message) < trust(&kept[at].0) => kept[at] = (message, diagnosis),
                Some(_) => {}
                None if kept.len() < MAX_KEPT => kept.push((message, diagnosis)),
                None => self.omitted += 1,
            }
        }
    }
}

/// Returns true for a root cause or a failure with a message.
fn explains(message: &DecodedMessage) -> bool {
    match message.worded {
        Some(wording) => wording.tier == Tier::Root,
        None => message.decoded.outcome != BootstrapOutcome::Succeeded,
    }
}

/// Returns a border at or shortly before `wanted`, after a line or a word, so that no number is split.
fn border(text: &[u8], wanted: usize) -> usize {
    let from = wanted - OVERLAP / 2;
    let near = &text[from..wanted];
    let blank = || near.iter().rposition(u8::is_ascii_whitespace);
    memchr::memrchr(b'\n', near).or_else(blank).map_or(wanted, |at| from + at + 1)
}

/// Diagnoses a text like [`diagnose`], a long one in bounded memory.
pub fn diagnose_bounded(input: &[u8], hints: Hints) -> Vec<Diagnosis> {
    if input.len() <= MAX_WHOLE {
        return diagnose(input, hints);
    }
    let mut stream = DiagnosisStream::new(hints);
    stream.push(input);
    stream.finish().diagnoses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(code: u32, instance: u32) -> String {
        format!(
            "VM has reported a failure when processing extension 'vmssCSE' (instance {instance}). Error message: \"Enable \
             failed: failed to execute command: command terminated with exit status={code}\\n[stdout]\\n\
             {{ \"ExitCode\": \"{code}\", \"Output\": \"+ exit {code}\", \"Error\": \"\" }}\\n\\n[stderr]\\n\""
        )
    }

    fn codes(mut stream: DiagnosisStream, text: &[u8], chunk: usize) -> Vec<Option<i32>> {
        for chunk in text.chunks(chunk) {
            stream.push(chunk);
        }
        let mut codes: Vec<_> =
            stream.finish().diagnoses.iter().map(|one| one.reported.code).collect();
        codes.sort_unstable();
        codes
    }

    fn noise(bytes: usize, end: &str) -> String {
        format!(
            "2026-01-01T00:00:00Z systemd[1]: Started a unit whose name is of no interest.{end}"
        )
        .repeat(bytes / 70)
    }

    #[test]
    fn failure_is_found_anywhere_in_a_long_text() {
        for end in ["\n", " "] {
            let noise = noise(MAX_WHOLE, end);
            let (first, middle, last) = (message(50, 1), message(211, 2), message(124, 3));
            let text = format!("{first}{end}{noise}{end}{noise}{middle}{end}{noise}{end}{last}");
            let stream = DiagnosisStream::new(Hints::default());
            assert_eq!(codes(stream, text.as_bytes(), 64 << 10), [Some(50), Some(124), Some(211)]);
        }
    }

    #[test]
    fn message_at_a_border_is_read_once_and_completely() {
        let size = 2 * OVERLAP;
        for end in ["\n", " "] {
            let noise = noise(size + (64 << 10), end);
            let message = message(211, 2);
            for before in (0..3 * message.len()).step_by(37) {
                let before = size - 2 * message.len() + before;
                let text = format!("{}{end}{message}{end}{noise}", &noise[..before]);
                let stream = DiagnosisStream::with_windows(Hints::default(), size);
                assert_eq!(
                    codes(stream, text.as_bytes(), 1 << 20),
                    [Some(211)],
                    "after {before} bytes"
                );
            }
        }
    }

    fn windows(parts: &[&str]) -> StreamDiagnoses {
        let size = 2 * OVERLAP;
        let noise = noise(size, "\n");
        let mut stream = DiagnosisStream::with_windows(Hints::default(), size);
        for part in parts {
            stream.push(part.as_bytes());
            stream.push(noise.as_bytes());
            assert!(stream.window.len() <= size);
        }
        stream.finish()
    }

    fn codes_of(found: &StreamDiagnoses) -> Vec<Option<i32>> {
        found.diagnoses.iter().map(|one| one.reported.code).collect()
    }

    #[test]
    fn better_code_of_a_failure_may_be_in_another_window() {
        let weak = message(1, 2).replace("\"ExitCode\": \"1\"", "").replace("+ exit 1", "");
        let strong = message(211, 2);
        assert_eq!(codes_of(&windows(&[&weak, &strong])), [Some(211)]);
        assert_eq!(codes_of(&windows(&[&strong, &weak])), [Some(211)]);
        // Of two equal ones, the first counts.
        let first = strong.replace("+ exit 211", "+ exit 211 (first)");
        for (parts, is_first) in [([&first, &strong], true), ([&strong, &first], false)] {
            let found = windows(&parts.map(String::as_str));
            let [diagnosis] = found.diagnoses.as_slice() else { panic!("{found:?}") };
            let has_first = diagnosis.evidence.iter().any(|one| one.line.contains("(first)"));
            assert_eq!(has_first, is_first, "{:?}", diagnosis.evidence);
        }
    }

    #[test]
    fn symptom_is_dropped_if_another_window_explains_it() {
        let symptom = "aks-np1-vmss000000 kubelet: container runtime is down\n";
        let root =
            "Failed to create agent pool np1: Version 1.22.4 is not supported in this region.\n";
        let reasons = |parts: &[&str]| -> Vec<String> {
            windows(parts).diagnoses.into_iter().map(|one| one.reason).collect()
        };
        let alone = reasons(&[symptom]);
        assert_eq!(alone, ["ContainerRuntimeDown"]);
        let root_alone = reasons(&[root]);
        assert_eq!(root_alone.len(), 1);
        assert_eq!(reasons(&[symptom, root]), root_alone);
        let both = reasons(&[root, &message(50, 1)]);
        assert_eq!(both.len(), 2, "{both:?}");
        assert!(both.contains(&root_alone[0]));
    }

    #[test]
    fn failures_beyond_the_limit_are_counted() {
        let failure = |target: usize| {
            format!(
                "\"target\": \"{target}\" failed to execute command: command terminated with exit status=50\n[stdout]\n"
            )
        };
        let all = |count: usize| windows(&[&(0..count).map(failure).collect::<String>()]);
        let (most, more) = (all(MAX_KEPT), all(MAX_KEPT + 2));
        assert_eq!((most.diagnoses.len(), most.omitted), (MAX_KEPT, 0));
        assert_eq!((more.diagnoses.len(), more.omitted), (MAX_KEPT, 2));
    }

    #[test]
    fn long_text_without_a_failure_is_recognized_by_its_head() {
        let found = windows(&["Nov 1 kubelet[7]: started\n"]);
        assert_eq!(found.diagnoses, []);
        assert_eq!(found.recognized.parts, ["a kubelet log"]);
        assert_eq!(windows(&[&message(50, 1)]).recognized, Recognized::default());
    }

    #[test]
    fn border_is_after_a_line_or_a_word_near_the_wanted_place() {
        let (wanted, first) = (OVERLAP, OVERLAP / 2);
        let with = |marks: &[(usize, u8)]| {
            let mut text = vec![b'x'; OVERLAP + 10];
            for (at, byte) in marks {
                text[*at] = *byte;
            }
            border(&text, wanted)
        };
        assert_eq!(with(&[]), wanted);
        assert_eq!(with(&[(wanted, b'\n'), (first - 1, b'\n')]), wanted);
        assert_eq!(with(&[(wanted - 1, b'\n')]), wanted);
        assert_eq!(with(&[(first, b'\n')]), first + 1);
        assert_eq!(with(&[(first, b'\n'), (first + 7, b' ')]), first + 1, "lines precede words");
        assert_eq!(with(&[(first, b' '), (first + 7, b'\t')]), first + 8);
    }

    #[test]
    fn short_text_is_diagnosed_as_a_whole() {
        let text = message(50, 1);
        let found = diagnose_bounded(text.as_bytes(), Hints::default());
        assert_eq!(found, diagnose(text.as_bytes(), Hints::default()));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn text_that_fits_a_window_is_diagnosed_as_a_whole() {
        let text = [message(50, 1), message(50, 1), message(211, 2)].join("\n");
        let mut stream = DiagnosisStream::new(Hints::default());
        text.as_bytes().chunks(3).for_each(|chunk| stream.push(chunk));
        assert_eq!(stream.finish().diagnoses, diagnose(text.as_bytes(), Hints::default()));
        assert!(DiagnosisStream::new(Hints::default()).finish().diagnoses.is_empty());
    }
}
