//! Commands on a pseudoterminal.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A terminal of this many columns. Output of the command is not translated by the terminal except for line ends.
pub(crate) struct Terminal {
    controller: File,
    terminal: File,
}

impl Terminal {
    pub(crate) fn new(columns: u16) -> Self {
        let controller: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).unwrap();
        let path = name.to_str().unwrap();
        let terminal = OpenOptions::new().read(true).write(true).open(path).unwrap();
        Self { controller: controller.into(), terminal }
    }

    /// Starts a command whose streams are the terminal.
    pub(crate) fn spawn(&self, command: &mut Command) -> Child {
        let stream = || self.terminal.try_clone().unwrap();
        command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("COLUMNS");
        command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap()
    }

    pub(crate) fn type_text(&mut self, text: &str) {
        self.controller.write_all(text.as_bytes()).unwrap();
    }

    /// Waits for the command, and returns its exit code and all output.
    pub(crate) fn finish(self, mut child: Child) -> (Option<i32>, String) {
        let Self { mut controller, terminal } = self;
        // The controller's side reads an error after the last stream of the terminal is closed.
        drop(terminal);
        let mut output = Vec::new();
        let _ = controller.read_to_end(&mut output);
        let status = child.wait().unwrap();
        (status.code(), String::from_utf8_lossy(&output).replace("\r\n", "\n"))
    }
}
