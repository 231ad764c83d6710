//! What the bootstrap prints: shown line by line, and its end kept for the report. Never a secret, also none that only
//! looks like one.

use mooring_contract::json::lossy;
use mooring_redact::Redactor;

use crate::paths::Layout;
use crate::running::Running;
use crate::world::{OutputFilter, Stream, World};

/// What is kept of each stream: twice what the extension's window can show, so that the report
/// decides what to drop, and memory stays the same whatever the bootstrap prints.
const KEPT: usize = 8 * 1024;

/// Both streams of the bootstrap.
pub(super) struct Output<'r> {
    out: Kept<'r>,
    err: Kept<'r>,
    start: Option<Start<'r>>,
}

/// Where the start of the bootstrap is recorded; by a world of its own, since the agent's is busy with the bootstrap.
struct Start<'r> {
    world: Box<dyn World + Send>,
    layout: Layout,
    record: &'r mut Running,
}

impl<'r> Output<'r> {
    pub(super) fn new(redactor: &'r Redactor) -> Self {
        Self { out: Kept::new(redactor), err: Kept::new(redactor), start: None }
    }

    /// Records the start of the bootstrap when it comes.
    pub(super) fn record_start(
        &mut self,
        world: Box<dyn World + Send>,
        layout: Layout,
        record: &'r mut Running,
    ) {
        self.start = Some(Start { world, layout, record });
    }

    /// The ends of standard output and standard error.
    pub(super) fn tails(&self) -> (String, String) {
        (self.out.tail(), self.err.tail())
    }

    fn stream(&mut self, stream: Stream) -> &mut Kept<'r> {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }
}

impl OutputFilter for Output<'_> {
    fn started(&mut self, pid: u32) {
        if let Some(Start { mut world, layout, record }) = self.start.take() {
            // Without it, those who wait know less, and the scripts run all the same.
            let _ = record.scripts_started(&mut *world, &layout, pid);
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

struct Kept<'r> {
    /// Until the stream is over.
    redacted: Option<mooring_redact::ForeignStream<'r>>,
    end: Vec<u8>,
    cut: bool,
}

impl<'r> Kept<'r> {
    fn new(redactor: &'r Redactor) -> Self {
        Self { redacted: Some(redactor.foreign_stream()), end: Vec::new(), cut: false }
    }

    fn keep(&mut self, printed: &[u8]) {
        self.end.extend_from_slice(&printed[printed.len().saturating_sub(KEPT)..]);
        if self.end.len() > KEPT {
            self.end.drain(..self.end.len() - KEPT);
            self.cut = true;
        }
    }

    /// The end as text. A cut may have gone through a character, whose rest says nothing.
    fn tail(&self) -> String {
        let is_rest = |byte: &&u8| self.cut && **byte & 0xC0 == 0x80;
        let rest = self.end.iter().take(3).take_while(is_rest).count();
        lossy(&self.end[rest..]).into_owned()
    }
}
