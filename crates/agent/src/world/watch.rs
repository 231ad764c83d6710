//! Waits for a change of a directory or the end of a process.

#[cfg(target_os = "linux")]
pub(super) use inotify::watch;
#[cfg(not(target_os = "linux"))]
pub(super) use polling::watch;

use std::io;
use std::path::Path;
use std::time::Duration;

pub trait Watch {
    /// Sleeps until a name appears or a file is written in a watched directory, `pid` ends, or `deadline` passes.
    fn wait(&mut self, pid: Option<u32>, deadline: Option<Duration>) -> io::Result<()>;
}

#[derive(Debug)]
pub enum WatchFailure {
    Create(io::Error),
    Folder(io::Error),
}

/// Linux: inotify and pidfd, without polling or threads.
#[cfg(target_os = "linux")]
mod inotify {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, OwnedFd};

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::super::process::{to_read, wait};
    use super::{Duration, Path, Watch, WatchFailure};

    struct Inotify {
        queue: OwnedFd,
    }

    pub(in super::super) fn watch(folders: &[&Path]) -> Result<Box<dyn Watch>, WatchFailure> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
            .map_err(|error| WatchFailure::Create(error.into()))?;
        // A file that custom data writes appears first, and is complete when it is closed.
        let changes = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::CLOSE_WRITE;
        for folder in folders {
            inotify::add_watch(&queue, *folder, changes)
                .map_err(|error| WatchFailure::Folder(error.into()))?;
        }
        Ok(Box::new(Inotify { queue }))
    }

    impl Watch for Inotify {
        fn wait(&mut self, pid: Option<u32>, deadline: Option<Duration>) -> io::Result<()> {
            let process = match pid.and_then(open_process) {
                // It has ended.
                Some(Err(Errno::SRCH)) => return Ok(()),
                // Kernels before 5.3 have no pidfd: the end of a process is noticed only with another event.
                process => process.and_then(Result::ok),
            };
            let ends = [to_read(Some(&self.queue)), to_read(process.as_ref())];
            let [has_changed, _] = wait(ends, deadline)?;
            if has_changed { self.drain() } else { Ok(()) }
        }
    }

    impl Inotify {
        /// Empties the queue. Which file changed does not matter, only that one did.
        fn drain(&mut self) -> io::Result<()> {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(self.queue.as_fd(), &mut buffer);
            loop {
                match events.next() {
                    Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => {
                        return Err(io::Error::other("fsnotify: queue or buffer overflow"));
                    }
                    Ok(_) => {}
                    Err(Errno::AGAIN) => return Ok(()),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    fn open_process(pid: u32) -> Option<Result<OwnedFd, Errno>> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        Some(pidfd_open(pid, PidfdFlags::empty()))
    }
}

/// Other systems: polls a few times a second.
#[cfg(not(target_os = "linux"))]
mod polling {
    use std::io;

    use super::super::process;
    use super::{Duration, Path, Watch, WatchFailure};

    const PERIOD: Duration = Duration::from_millis(200);

    struct Polling;

    pub(in super::super) fn watch(_folders: &[&Path]) -> Result<Box<dyn Watch>, WatchFailure> {
        Ok(Box::new(Polling))
    }

    impl Watch for Polling {
        fn wait(&mut self, pid: Option<u32>, deadline: Option<Duration>) -> io::Result<()> {
            if pid.is_none_or(|pid| process::start(pid).is_some()) {
                process::sleep(deadline.map_or(PERIOD, |left| left.min(PERIOD)));
            }
            Ok(())
        }
    }
}
