//! Other processes, and the clock.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Data in `/proc` of a running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) pid: u32,
    pub(super) parent: u32,
    /// Start time in ticks since the boot.
    pub(super) start: u64,
    /// The program's name, cut to 15 bytes by the kernel.
    pub(super) name: String,
}

pub(super) fn stat(pid: u32) -> Option<Stat> {
    read_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the start time of a process in ticks since the boot.
#[cfg(target_os = "linux")]
pub(super) fn start(pid: u32) -> Option<u64> {
    Some(stat(pid)?.start)
}

/// Without `/proc`, only the existence of a process is known.
#[cfg(not(target_os = "linux"))]
pub(super) fn start(pid: u32) -> Option<u64> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::test_kill_process(pid).is_ok().then_some(0)
}

/// Reads `/proc/PID/stat`; nothing for a process that has ended and is not yet reaped. The second field is the program's
/// name in brackets, which may hold blanks, brackets and any byte itself.
fn read_stat(stat: &[u8]) -> Option<Stat> {
    let stat = String::from_utf8_lossy(stat);
    let (head, tail) = stat.rsplit_once(')')?;
    let (pid, name) = head.split_once(" (")?;
    let mut fields = tail.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    Some(Stat {
        pid: pid.parse().ok()?,
        parent: fields.next()?.parse().ok()?,
        start: fields.nth(17)?.parse().ok()?,
        name: name.to_owned(),
    })
}

/// Returns a descriptor that becomes readable when a child ends; none on kernels before 5.3.
#[cfg(target_os = "linux")]
pub(super) fn handle(child: u32) -> Option<std::os::fd::OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    pidfd_open(Pid::from_raw(i32::try_from(child).ok()?)?, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn handle(_: u32) -> Option<std::os::fd::OwnedFd> {
    None
}

/// An open end to read from.
pub(super) fn to_read<S: AsFd>(source: Option<&S>) -> Option<(BorrowedFd<'_>, PollFlags)> {
    source.map(|source| (source.as_fd(), PollFlags::IN))
}

/// Sleeps until one of these ends is ready, a signal arrives or the time is up; tells which ends are ready.
pub(super) fn wait<const N: usize>(
    ends: [Option<(BorrowedFd<'_>, PollFlags)>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let timeout = timeout.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
    let open = ends.iter().flatten();
    let mut open: Vec<_> = open.map(|end| PollFd::from_borrowed_fd(end.0, end.1)).collect();
    match poll(&mut open, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut ready = open.iter().map(|end| !end.revents().is_empty());
    Ok(ends.map(|end| end.is_some() && ready.next().unwrap_or_default()))
}

pub(super) fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

#[expect(clippy::disallowed_methods, reason = "this is the seam through which others see time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the seam through which others wait")]
pub(super) fn sleep(pause: Duration) {
    thread::sleep(pause);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_program_name_does_not_shift_the_fields() {
        let tail = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20";
        let read = |text: &str| read_stat(text.as_bytes());
        let expected = Stat { pid: 7, parent: 1, start: 4242, name: "a) b 9 (c".to_owned() };
        assert_eq!(read(&format!("7 (a) b 9 (c) {tail}")), Some(expected));
        assert_eq!(read(&format!("7 (sh) {}", tail.replace('S', "Z"))), None);
        assert_eq!(read("7 (sh) S 1"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn this_process_has_a_start_and_an_unlikely_one_has_none() {
        assert!(start(std::process::id()).is_some());
        assert_eq!(start(u32::MAX), None);
    }
}
