//! Output of the bootstrap: printed line by line, with its end kept for the report. Known and likely secrets are
//! removed.

use mooring_contract::json::lossy;
use mooring_redact::Redactor;

use crate::world::{OutputFilter, Stream};

/// Size of the tail of each stream: twice the extension's limit, so that the report decides what to drop,
/// and memory is bounded.
const MAX_TAIL: usize = 8 * 1024;

/// Both streams of the bootstrap.
pub(super) struct Output<'r> {
    out: OutputTail<'r>,
    err: OutputTail<'r>,
    /// What is done with the number of the process.
    on_start: Option<Box<dyn FnOnce(u32) + 'r>>,
}

impl<'r> Output<'r> {
    pub(super) fn new(redactor: &'r Redactor, on_start: Option<Box<dyn FnOnce(u32) + 'r>>) -> Self {
        Self { out: OutputTail::new(redactor), err: OutputTail::new(redactor), on_start }
    }

    /// The ends of standard output and standard error.
    pub(super) fn tails(self) -> (String, String) {
        (self.out.tail(), self.err.tail())
    }

    fn stream(&mut self, stream: Stream) -> &mut OutputTail<'r> {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }
}

impl OutputFilter for Output<'_> {
    fn started(&mut self, pid: u32) {
        if let Some(on_start) = self.on_start.take() {
            on_start(pid);
        }
    }

    fn push(&mut self, stream: Stream, piece: &[u8], printed: &mut Vec<u8>) {
        let kept = self.stream(stream);
        if let Some(redacted) = &mut kept.redacted {
            redacted.push(piece, printed);
        }
        kept.keep(printed);
    }

    fn finish(&mut self, stream: Stream, printed: &mut Vec<u8>) {
        let kept = self.stream(stream);
        if let Some(redacted) = kept.redacted.take() {
            redacted.finish(printed);
        }
        kept.keep(printed);
    }
}

struct OutputTail<'r> {
    /// Taken at the end of the stream.
    redacted: Option<mooring_redact::ForeignStream<'r>>,
    end: Vec<u8>,
    cut: bool,
}

impl<'r> OutputTail<'r> {
    fn new(redactor: &'r Redactor) -> Self {
        Self { redacted: Some(redactor.foreign_stream()), end: Vec::new(), cut: false }
    }

    fn keep(&mut self, printed: &[u8]) {
        self.end.extend_from_slice(&printed[printed.len().saturating_sub(MAX_TAIL)..]);
        if self.end.len() > MAX_TAIL {
            self.end.drain(..self.end.len() - MAX_TAIL);
            self.cut = true;
        }
    }

    /// Returns the end as text, without a truncated first character.
    fn tail(&self) -> String {
        let is_rest = |byte: &&u8| self.cut && **byte & 0xC0 == 0x80;
        let rest = self.end.iter().take(3).take_while(is_rest).count();
        lossy(&self.end[rest..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_each_stream_is_kept_without_half_a_character() {
        const KEPT: usize = 8192;
        let redactor = Redactor::new([""; 0]);
        let mut output = Output::new(&redactor, None);
        let mut push = |stream, text: &str| {
            output.push(stream, text.as_bytes(), &mut Vec::new());
        };
        let line = |letters: usize| format!("{}\n", ".".repeat(letters));
        push(Stream::Out, "begin\n");
        push(Stream::Out, &line(KEPT - 6));
        // The letter has two bytes; the first of them is cut off.
        push(Stream::Err, &format!("{}é\n", ".".repeat(100)));
        push(Stream::Err, &line(KEPT - 3));
        for stream in [Stream::Out, Stream::Err] {
            output.finish(stream, &mut Vec::new());
        }
        let (out, err) = output.tails();
        assert_eq!(out, format!("egin\n{}", line(KEPT - 6)));
        assert_eq!(err, format!("\n{}", line(KEPT - 3)));

        // Nothing is removed from the beginning of output that is kept whole.
        let mut output = Output::new(&redactor, None);
        output.push(Stream::Out, b"\x80a\n", &mut Vec::new());
        output.finish(Stream::Out, &mut Vec::new());
        assert_eq!(output.tails(), ("\u{fffd}a\n".to_owned(), String::new()));
    }
}
