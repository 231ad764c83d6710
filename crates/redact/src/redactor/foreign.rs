//! Secrets that the caller does not know, in text of other systems.
//!
//! A script under `set -x` prints tokens and passwords that are in no config. They are found by heuristics
//! ([`secret_ranges`]), which need whole lines, because the label of a secret precedes it. A line is held
//! back until it ends; of a line without an end, only its last part.

use std::fmt;
use std::ops::Range;

use memchr::memmem::find;

use super::{Redactor, Stream};
use crate::{MASK, lossy, secret_ranges};

/// A longer line is written in parts.
const MAX_LINE: usize = 64 * 1024;
/// Length of the context that is kept around the end of a part.
const CONTEXT: usize = 4 * 1024;
/// A value in quotes, or a private key, may continue on this many lines. A quote that is never closed ends here.
const MAX_CONTINUATION: u32 = 64;

/// Redacts foreign text that arrives in chunks, cut anywhere: first known secrets, then likely ones.
pub struct ForeignStream<'r> {
    known: Stream<'r>,
    lines: Lines,
}

impl<'r> ForeignStream<'r> {
    pub(super) fn new(redactor: &'r Redactor) -> Self {
        Self { known: redactor.stream(), lines: Lines::new(redactor.mask) }
    }

    /// Appends to `out` the text that is safe to print.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let mut known = Vec::with_capacity(chunk.len());
        self.known.push(chunk, &mut known);
        self.lines.push(&known, out);
    }

    /// Appends to `out` the rest of the text.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        let mut known = Vec::new();
        self.known.finish(&mut known);
        self.lines.push(&known, out);
        self.lines.finish(out);
    }
}

impl fmt::Debug for ForeignStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Redactor {
    pub fn foreign_stream(&self) -> ForeignStream<'_> {
        ForeignStream::new(self)
    }

    /// Returns foreign text with a mask in place of every known and every likely secret.
    pub fn redact_foreign(&self, text: &str) -> String {
        self.mask_likely(&self.redact(text))
    }

    /// Returns foreign text with a mask in place of every likely secret, which may continue on the next lines.
    pub fn mask_likely(&self, text: &str) -> String {
        let mut lines = Lines::new(self.mask);
        let mut out = Vec::with_capacity(text.len());
        lines.push(text.as_bytes(), &mut out);
        lines.finish(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// Masks likely secrets line by line.
struct Lines {
    mask: &'static str,
    /// The line so far; of a long one, its last part and some of what was written before.
    line: Vec<u8>,
    /// The length of `line` that is written.
    written: usize,
    /// True if the last output is a mask.
    ends_masked: bool,
    /// True if the start of the line was dropped.
    is_part: bool,
    continuation: Option<Continuation>,
}

/// A secret that continues on the next line.
#[derive(Clone, Copy)]
struct Continuation {
    end: &'static [u8],
    lines_left: u32,
}

impl Lines {
    fn new(mask: &'static str) -> Self {
        Self {
            mask,
            line: Vec::new(),
            written: 0,
            ends_masked: false,
            is_part: false,
            continuation: None,
        }
    }

    fn push(&mut self, text: &[u8], out: &mut Vec<u8>) {
        for piece in text.split_inclusive(|&byte| matches!(byte, b'\n' | b'\r')) {
            match piece.split_last() {
                Some((&end @ (b'\n' | b'\r'), content)) => {
                    self.line.extend_from_slice(content);
                    self.finish(out);
                    out.push(end);
                }
                _ => self.line.extend_from_slice(piece),
            }
            if self.line.len() - self.written > MAX_LINE {
                self.write_part(out);
            }
        }
    }

    /// Writes the rest of the line, which has ended.
    fn finish(&mut self, out: &mut Vec<u8>) {
        let secrets = self.secrets();
        self.write(&secrets, self.line.len(), out);
        self.continuation = self.continued(&secrets);
        self.line.clear();
        self.written = 0;
        self.ends_masked = false;
        self.is_part = false;
    }

    /// Writes a line without an end, as far as more text cannot change the result.
    fn write_part(&mut self, out: &mut Vec<u8>) {
        let secrets = self.secrets();
        let mut until = self.line.len() - CONTEXT;
        let across = secrets.iter().find(|range| range.start < until && until < range.end);
        if let Some(across) = across.filter(|across| across.start > self.written) {
            until = across.start;
        }
        self.write(&secrets, until, out);
        let dropped = until.saturating_sub(CONTEXT);
        self.line.drain(..dropped);
        self.written = until - dropped;
        self.is_part = true;
    }

    fn write(&mut self, secrets: &[Range<usize>], until: usize, out: &mut Vec<u8>) {
        let mut at = self.written;
        let from = at;
        for range in secrets.iter().filter(|range| range.end > from && range.start < until) {
            if range.start > at || !self.ends_masked {
                out.extend_from_slice(&self.line[at..range.start.max(at)]);
                out.extend_from_slice(self.mask.as_bytes());
            }
            at = range.end.min(until);
            self.ends_masked = true;
        }
        self.ends_masked &= at == until;
        out.extend_from_slice(&self.line[at..until]);
    }

    /// Returns the likely secrets in the line, sorted.
    fn secrets(&self) -> Vec<Range<usize>> {
        // Offsets in the text are those in the line.
        let mut secrets = secret_ranges(&lossy(&self.line, '\u{1}'));
        if let Some(Continuation { end, .. }) = self.continuation {
            add(&mut secrets, 0..find(&self.line, end).unwrap_or(self.line.len()));
        }
        // A key whose lines were joined.
        let mut from = 0;
        while let Some(length) = private_key(&self.line[from..]) {
            let start = from + length;
            from = find(&self.line[start..], END_OF_KEY).map_or(self.line.len(), |at| start + at);
            add(&mut secrets, start..from);
        }
        secrets
    }

    /// Decides whether a secret of this line continues on the next one.
    fn continued(&self, secrets: &[Range<usize>]) -> Option<Continuation> {
        let begun = |end| Some(Continuation { end, lines_left: MAX_CONTINUATION });
        if self.is_part {
            return None;
        }
        if let Some(Continuation { end, lines_left }) = self.continuation
            && find(&self.line, end).is_none()
        {
            let lines_left = lines_left.checked_sub(1)?;
            return Some(Continuation { end, lines_left });
        }
        if let Some(start) = private_key(&self.line)
            && find(&self.line[start..], END_OF_KEY).is_none()
        {
            return begun(END_OF_KEY);
        }
        let last = secrets.last().filter(|last| last.end == self.line.len() && last.start > 0)?;
        let quote: &'static [u8] = match self.line[last.start - 1] {
            b'\'' => b"'",
            b'"' => b"\"",
            _ => return None,
        };
        let inside = &self.line[last.start..];
        let is_quote = |at: usize| inside[at] == quote[0] && (at == 0 || inside[at - 1] != b'\\');
        let quotes = (0..inside.len()).filter(|&at| is_quote(at)).count();
        if quotes % 2 == 0 { begun(quote) } else { None }
    }
}

const END_OF_KEY: &[u8] = b"-----END";

/// Returns the start of the content of a private key.
fn private_key(text: &[u8]) -> Option<usize> {
    const HEAD: &[u8] = b"PRIVATE KEY-----";
    let begin = find(text, b"-----BEGIN")?;
    Some(begin + find(&text[begin..], HEAD)? + HEAD.len())
}

/// Adds a range to sorted, disjoint ranges.
fn add(ranges: &mut Vec<Range<usize>>, mut added: Range<usize>) {
    if added.is_empty() {
        return;
    }
    let touches = |range: &Range<usize>| range.start <= added.end && added.start <= range.end;
    let first = ranges.partition_point(|range| range.end < added.start);
    let count = ranges[first..].iter().take_while(|range| touches(range)).count();
    if let [one, ..] = &ranges[first..first + count]
        && let Some(last) = ranges[first..first + count].last()
    {
        added = added.start.min(one.start)..added.end.max(last.end);
    }
    ranges.splice(first..first + count, [added]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        Redactor::new(["known-secret-value"])
    }

    fn in_chunks(text: &[u8], length: usize) -> String {
        let redactor = redactor();
        let mut stream = redactor.foreign_stream();
        let mut out = Vec::new();
        for chunk in text.chunks(length) {
            stream.push(chunk, &mut out);
        }
        stream.finish(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn unknown_secret_is_masked_across_chunks() {
        let text = "+ az login -p hunter-two\r\n+ TOKEN=known-secret-value curl\nAuthorization: Bearer hunter-three\nplain é\n+ PASSWORD='two words";
        let expected = "+ az login -p [secret]\r\n+ TOKEN=[secret] curl\nAuthorization: Bearer [secret]\nplain é\n+ PASSWORD='[secret]";
        for length in 1..=text.len() {
            assert_eq!(in_chunks(text.as_bytes(), length), expected, "chunks of {length}");
        }
    }

    #[test]
    fn multiline_values_and_private_keys_are_masked_to_their_end() {
        let text = "+ DB_PASSWORD='one\ntwo\nthree' next\nplain\n";
        assert_eq!(
            in_chunks(text.as_bytes(), 5),
            "+ DB_PASSWORD='[secret]\n[secret]\n[secret]' next\nplain\n"
        );
        let text =
            "-----BEGIN EC PRIVATE KEY-----\nMHc\n\nAQ==\n-----END EC PRIVATE KEY-----\nplain\n";
        let shown = in_chunks(text.as_bytes(), 7);
        assert!(!shown.contains("MHc") && !shown.contains("AQ=="), "{shown}");
        assert!(shown.ends_with("-----END EC PRIVATE KEY-----\nplain\n"), "{shown}");
        let text = text.replace('\n', " ");
        let joined = "-----BEGIN EC PRIVATE KEY-----[secret]-----END EC PRIVATE KEY----- plain ";
        assert_eq!(in_chunks(text.as_bytes(), 7), joined);
        let unclosed = format!("+ DB_PASSWORD='one\n{}", "line\n".repeat(100));
        assert!(in_chunks(unclosed.as_bytes(), 100).ends_with("line\nline\n"), "it ends");
    }

    #[test]
    fn line_without_end_is_written_in_parts_and_masked_across_them() {
        for filler in ["x".repeat(3 * MAX_LINE), "word ".repeat(MAX_LINE)] {
            for before in [0, 1, CONTEXT - 20, CONTEXT, CONTEXT + 20] {
                let text = format!("{}\u{20}--token hunter-two {filler}", &filler[before..]);
                let shown = in_chunks(text.as_bytes(), 16 * 1024);
                assert!(!shown.contains("hunter"), "{before}");
                assert_eq!(shown.len() + "hunter-two".len(), text.len() + MASK.len(), "{before}");
            }
        }
        let blob = "Ab0+".repeat(MAX_LINE);
        assert_eq!(in_chunks(format!("cert {blob} end").as_bytes(), 1000), "cert [secret] end");
    }

    #[test]
    fn bytes_that_are_not_text_are_unchanged() {
        let redactor = redactor();
        let mut stream = redactor.foreign_stream();
        let mut out = Vec::new();
        stream.push(b"\xff\xfe a\xc3 PASSWORD=\xffhunter b\xe2\x82\n\x80", &mut out);
        stream.finish(&mut out);
        assert_eq!(out, b"\xff\xfe a\xc3 PASSWORD=[secret] b\xe2\x82\n\x80");
    }
}
