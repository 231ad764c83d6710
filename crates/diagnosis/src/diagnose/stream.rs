//! Texts of any length in bounded memory.
//!
//! A text of up to [`MAX_WHOLE`] bytes is diagnosed as a whole. A longer one is read in windows of that size, each of
//! which repeats the end of the one before, so that a message at a border is whole in one of them. What several
//! windows report of the same failure is reported once, by the rules for repetitions within a text.

use crate::cause::wording::Tier;
use crate::decode::decoded::Outcome;
use crate::decode::decoded_message::DecodedMessage;
use crate::decode::merge::{is_same, trust};
use crate::diagnose::failures::{diagnose, diagnose_each, order};
use crate::diagnose::recognize::{Recognized, recognize};
use crate::diagnosis::{Diagnosis, Hints};

/// The longest text that is diagnosed as a whole, and the size of a window.
pub const MAX_WHOLE: usize = 4 << 20;
/// How much of a window is repeated in the next. A message with the node's report is about 4 KiB long.
const OVERLAP: usize = 256 << 10;
/// How much of a long text is kept to tell what it is.
const HEAD: usize = 64 << 10;
/// How many different failures of a long text are kept.
const MAX_KEPT: usize = 1_000;

/// Diagnoses a text that arrives in chunks.
#[derive(Debug)]
pub struct DiagnosisStream {
    hints: Hints,
    /// The size of a window, at least twice the overlap.
    size: usize,
    /// What has not been diagnosed, and the overlap.
    window: Vec<u8>,
    /// The failures in the windows before; `None` before the first border.
    kept: Option<Vec<(DecodedMessage, Diagnosis)>>,
    omitted: usize,
    /// The beginning of a long text.
    head: Vec<u8>,
}

#[derive(Debug)]
pub struct StreamDiagnoses {
    /// As [`diagnose`] returns them.
    pub diagnoses: Vec<Diagnosis>,
    /// How many more failures were found than are kept.
    pub omitted: usize,
    /// What the text is, where no failure was recognized.
    pub recognized: Recognized,
}

impl DiagnosisStream {
    /// Starts with an empty text.
    #[must_use]
    pub fn new(hints: Hints) -> Self {
        Self::with_windows(hints, MAX_WHOLE)
    }

    fn with_windows(hints: Hints, size: usize) -> Self {
        Self { hints, size, window: Vec::new(), kept: None, omitted: 0, head: Vec::new() }
    }

    /// Takes the next chunk of the text.
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
        // What a window has only as a symptom may have its cause in another.
        if kept.iter().any(|(told, _)| explains(told)) {
            kept.retain(|(told, _)| told.worded.is_none() || explains(told));
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
        for (told, diagnosis) in diagnose_each(&self.window[..end], self.hints) {
            match kept.iter().position(|(other, _)| is_same(other, &told)) {
                Some(at) if trust(&told) < trust(&kept[at].0) => kept[at] = (told, diagnosis),
                Some(_) => {}
                None if kept.len() < MAX_KEPT => kept.push((told, diagnosis)),
                None => self.omitted += 1,
            }
        }
    }
}

/// Whether a failure is a cause or has an exit code.
fn explains(told: &DecodedMessage) -> bool {
    match told.worded {
        Some(wording) => wording.tier == Tier::Root,
        None => told.decoded.outcome != Outcome::Succeeded,
    }
}

/// Where to cut at or shortly before `wanted`: behind a line, else behind a word. A number that is cut is another one.
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
    fn failure_is_found_wherever_it_is_in_a_long_text() {
        for end in ["\n", " "] {
            let noise = noise(MAX_WHOLE, end);
            let (first, middle, last) = (message(50, 1), message(211, 2), message(124, 3));
            let text = format!("{first}{end}{noise}{end}{noise}{middle}{end}{noise}{end}{last}");
            let stream = DiagnosisStream::new(Hints::default());
            assert_eq!(codes(stream, text.as_bytes(), 64 << 10), [Some(50), Some(124), Some(211)]);
        }
    }

    #[test]
    fn message_at_a_border_is_read_once_and_whole() {
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

    #[test]
    fn text_that_fits_a_window_is_diagnosed_as_a_whole() {
        let text = [message(50, 1), message(50, 1), message(211, 2)].join("\n");
        let mut stream = DiagnosisStream::new(Hints::default());
        text.as_bytes().chunks(3).for_each(|chunk| stream.push(chunk));
        assert_eq!(stream.finish().diagnoses, diagnose(text.as_bytes(), Hints::default()));
        assert!(DiagnosisStream::new(Hints::default()).finish().diagnoses.is_empty());
    }
}
