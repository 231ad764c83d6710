//! A connection on which nothing outlasts its time.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::super::clock::now;

pub trait Duplex: Read + Write {}

impl<T: Read + Write> Duplex for T {}

/// Deadlines of the request and of the current phase.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    total: Instant,
    phase: Rc<Cell<Instant>>,
}

impl Limits {
    pub(super) fn within(limit: Duration) -> Self {
        let total = now() + limit;
        Self { total, phase: Rc::new(Cell::new(total)) }
    }

    /// Sets the deadline of the phase that begins, within the total deadline.
    pub(super) fn phase(&self, limit: Duration) {
        self.phase.set(self.total.min(now() + limit));
    }

    /// Removes the deadline of the phase.
    pub(super) fn no_phase(&self) {
        self.phase.set(self.total);
    }

    pub(super) fn remaining(&self) -> io::Result<Duration> {
        let left = self.phase.get().saturating_duration_since(now());
        // A timeout of zero means none to the system.
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

/// A TCP connection with deadlines. The remaining time is set before each operation, so that a slow peer
/// cannot extend it.
#[derive(Debug)]
pub(super) struct Limited {
    pub(super) tcp: TcpStream,
    pub(super) limits: Limits,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.tcp.set_read_timeout(Some(self.limits.remaining()?))?;
        self.tcp.read(buffer).map_err(as_timed_out)
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tcp.set_write_timeout(Some(self.limits.remaining()?))?;
        self.tcp.write(bytes).map_err(as_timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

/// A socket's timeout is reported as "would block" on Unix.
fn as_timed_out(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_is_shorter_than_the_total_and_never_longer() {
        let limits = Limits::within(Duration::from_hours(2));
        limits.phase(Duration::from_hours(1));
        assert!(limits.remaining().unwrap() <= Duration::from_hours(1));
        limits.phase(Duration::from_hours(3));
        assert_eq!(limits.phase.get(), limits.total);
        limits.phase(Duration::ZERO);
        assert_eq!(limits.remaining().unwrap_err().kind(), io::ErrorKind::TimedOut);
        limits.no_phase();
        assert_eq!(limits.phase.get(), limits.total);
    }
}
