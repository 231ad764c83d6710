//! Running the bootstrap, and being there until it has really ended.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::world::process::{now, to_read, wait};
use crate::world::tree::{self, Stop};
use crate::world::{ChildEnd, ChildSpec, ChildStatus, OutputFilter, Scope, Signal, Stream};

/// Time for which a leftover process may keep the output open after the end of the bootstrap. Long enough for a last
/// line, short enough not to delay the result.
const GRACE: Duration = Duration::from_secs(5);
/// Number of reads of both streams after that: data in the pipes is not lost even if this process is late, and
/// endless output does not delay the result.
const MAX_LAST_READS: u32 = 8;

/// The caught signals, each with a socket that becomes readable when it arrives.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: UnixStream,
    interrupt: UnixStream,
    child_ended: UnixStream,
}

impl Signals {
    pub(super) fn catch() -> io::Result<Self> {
        use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
        let arrivals = |signal| {
            let (ours, handlers) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            signal_hook::low_level::pipe::register(signal, handlers)?;
            Ok::<_, io::Error>(ours)
        };
        Ok(Self {
            terminate: arrivals(SIGTERM)?,
            interrupt: arrivals(SIGINT)?,
            child_ended: arrivals(SIGCHLD)?,
        })
    }

    /// SIGTERM or SIGINT, if one has arrived since the last time.
    pub(super) fn take(&mut self) -> Option<Signal> {
        if arrived(&mut self.terminate) {
            Some(Signal::Terminate)
        } else if arrived(&mut self.interrupt) {
            Some(Signal::Interrupt)
        } else {
            None
        }
    }
}

fn arrived(socket: &mut UnixStream) -> bool {
    let mut bytes = [0; 64];
    let mut any = false;
    while socket.read(&mut bytes).is_ok_and(|count| count > 0) {
        any = true;
    }
    any
}

/// Runs a command, with its output through `filter`. A signal stops it with all of its descendants. With
/// `adopts`, this process adopts orphans.
pub(super) fn run(
    spec: &ChildSpec,
    signals: &mut Signals,
    adopts: bool,
    filter: &mut dyn OutputFilter,
    print: &mut dyn FnMut(Stream, &[u8]),
) -> io::Result<ChildEnd> {
    if adopts {
        tree::adopt();
    }
    let mut child = Command::new(spec.program)
        .args(&spec.arguments)
        .envs(spec.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A separate group, so that a terminal's signals reach only this process, which forwards them.
        .process_group(0)
        .spawn()?;
    filter.started(child.id());
    let mut out = Pipe { source: child.stdout.take(), stream: Stream::Out };
    let mut err = Pipe { source: child.stderr.take(), stream: Stream::Err };
    let mut ended: Option<(ExitStatus, Instant)> = None;
    let mut stop: Option<Stop> = None;
    let scope = if adopts && cfg!(target_os = "linux") {
        Scope::Children(std::process::id())
    } else {
        Scope::Process(child.id())
    };
    let mut last_looks = 0;
    loop {
        if let Some(signal) = signals.take() {
            match &mut stop {
                None => stop = Some(Stop::begin(signal, scope, now())),
                // A second signal kills at once.
                Some(stop) => stop.hurry(now()),
            }
        }
        if arrived(&mut signals.child_ended) && adopts {
            tree::reap_orphans(child.id());
        }
        if ended.is_none() {
            ended = child.try_wait()?.map(|status| (status, now() + GRACE));
        }
        let all_read = out.source.is_none() && err.source.is_none();
        let patience = ended.map(|(_, until)| until.saturating_duration_since(now()));
        let is_stopped = stop.as_mut().is_none_or(|stop| stop.proceed(now()));
        if let Some((status, _)) = ended
            && is_stopped
            && (all_read || last_looks == MAX_LAST_READS)
        {
            out.close(filter, print);
            err.close(filter, print);
            let status = child_status(status);
            let stopped = stop.map(Stop::end);
            return Ok(ChildEnd { status, stopped, output_left_open: !all_read });
        }
        last_looks += u32::from(patience.is_some_and(|left| left.is_zero()));
        let pause = match (&stop, patience) {
            (Some(_), Some(patience)) => Some(patience.min(tree::PERIOD)),
            (Some(_), None) => Some(tree::PERIOD),
            (None, patience) => patience,
        };
        let [_, _, _, out_ready, err_ready] = wait(
            [
                to_read(Some(&signals.terminate)),
                to_read(Some(&signals.interrupt)),
                to_read(Some(&signals.child_ended)),
                to_read(out.source.as_ref()),
                to_read(err.source.as_ref()),
            ],
            pause,
        )?;
        if out_ready {
            out.read(filter, print);
        }
        if err_ready {
            err.read(filter, print);
        }
    }
}

/// One stream of the program's output, until it is closed.
struct Pipe<S> {
    source: Option<S>,
    stream: Stream,
}

impl<S: io::Read> Pipe<S> {
    fn read(&mut self, filter: &mut dyn OutputFilter, print: &mut dyn FnMut(Stream, &[u8])) {
        let Some(source) = &mut self.source else { return };
        let mut piece = [0; 16 * 1024];
        match source.read(&mut piece) {
            Ok(0) => self.close(filter, print),
            Ok(count) => {
                let mut printed = Vec::new();
                filter.push(self.stream, &piece[..count], &mut printed);
                print(self.stream, &printed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.close(filter, print),
        }
    }

    fn close(&mut self, filter: &mut dyn OutputFilter, print: &mut dyn FnMut(Stream, &[u8])) {
        if self.source.take().is_some() {
            let mut printed = Vec::new();
            filter.finish(self.stream, &mut printed);
            print(self.stream, &printed);
        }
    }
}

pub(super) fn child_status(status: ExitStatus) -> ChildStatus {
    match (status.code(), status.signal()) {
        (Some(code), _) => ChildStatus::Exited(code),
        (None, number) => ChildStatus::Signaled {
            number: number.unwrap_or_default(),
            core_dumped: status.core_dumped(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Reads the pieces of a list.
    struct Reads(Vec<io::Result<&'static [u8]>>);

    impl io::Read for Reads {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.remove(0)?;
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    /// Signals that arrive when something is written to these sockets, in the order of the fields.
    fn signals() -> (Signals, [UnixStream; 3]) {
        let [terminate, interrupt, child_ended] = std::array::from_fn(|_| {
            let (ours, theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            (ours, theirs)
        });
        let senders = [terminate.1, interrupt.1, child_ended.1];
        let signals =
            Signals { terminate: terminate.0, interrupt: interrupt.0, child_ended: child_ended.0 };
        (signals, senders)
    }

    #[test]
    fn caught_signals_are_taken_once() {
        let (mut signals, mut senders) = signals();
        assert_eq!(signals.take(), None);
        for sender in &mut senders {
            sender.write_all(&[0; 100]).unwrap();
        }
        assert_eq!(signals.take(), Some(Signal::Terminate));
        assert_eq!(signals.take(), Some(Signal::Interrupt));
        assert_eq!(signals.take(), None);
        assert!(arrived(&mut signals.child_ended) && !arrived(&mut signals.child_ended));
        // A closed socket is not a signal.
        drop(senders);
        assert_eq!(signals.take(), None);
    }

    struct EndMark;

    impl OutputFilter for EndMark {
        fn push(&mut self, _: Stream, piece: &[u8], printed: &mut Vec<u8>) {
            printed.extend(piece);
        }

        fn finish(&mut self, _: Stream, printed: &mut Vec<u8>) {
            printed.extend(b"|");
        }
    }

    #[test]
    fn output_is_read_until_its_end_or_a_failure() {
        let interrupted = || Err(io::ErrorKind::Interrupted.into());
        for end in [Ok(&b""[..]), Err(io::ErrorKind::BrokenPipe.into())] {
            let reads = vec![Ok(&b"a"[..]), interrupted(), Ok(b"b"), end];
            let mut pipe = Pipe { source: Some(Reads(reads)), stream: Stream::Err };
            let mut seen = Vec::new();
            // One read more than the list has: a closed pipe is not read.
            for _ in 0..5 {
                pipe.read(&mut EndMark, &mut |stream, bytes| seen.push((stream, bytes.to_vec())));
            }
            assert!(pipe.source.is_none());
            assert_eq!(seen, ["a", "b", "|"].map(|text| (Stream::Err, text.into())));
        }
    }
}
