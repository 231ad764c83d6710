//! The log: one JSON object a line, in a file and on standard error.

use std::io::ErrorKind;
use std::path::PathBuf;

use mooring_contract::json::{Escape, JsonLayout, Writer};
use mooring_redact::Redactor;

use super::paths::{FALLBACK_LOG_FILE, LOG_FILE, Layout};
use crate::format::go_text::path_error;
use crate::format::json::write_member;
use crate::format::time::TimeFormat;
use crate::world::{Stream, World};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warn,
    Error,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum LogValue<'a> {
    Text(&'a str),
    Number(i64),
    Null,
}

pub(crate) struct Log {
    /// `None` if something other than a regular file has the log's name: then records go to standard error alone.
    file: Option<PathBuf>,
}

impl Log {
    /// Opens the log; the error is for users.
    pub(crate) fn open(world: &mut dyn World, layout: &Layout) -> Result<Self, String> {
        let wanted = layout.at(LOG_FILE);
        let folder = wanted.parent().unwrap_or(&wanted);
        let file = match world.create_dir_all(folder) {
            Ok(()) => wanted.clone(),
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                return Ok(Self { file: None });
            }
            Err(_) => PathBuf::from(FALLBACK_LOG_FILE),
        };
        // Nothing is written, but the file is created, with the mode it must have.
        match world.append(&file, b"") {
            Ok(()) => Ok(Self { file: Some(file) }),
            // A link or a FIFO must not stop the boot.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(Self { file: None }),
            Err(error) => {
                let shown = if file == wanted { LOG_FILE } else { FALLBACK_LOG_FILE };
                let error = path_error("open", shown.as_ref(), &error);
                Err(format!("failed to open log file: {error}"))
            }
        }
    }

    pub(crate) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes a record, also to standard error. A full disk must not end a bootstrap.
    pub(crate) fn write(
        &self,
        world: &mut dyn World,
        clock: &TimeFormat,
        redactor: &Redactor,
        level: Level,
        message: &str,
        attributes: &[(&str, LogValue<'_>)],
    ) {
        let mut record = Writer::new(JsonLayout::Compact, Escape::Log);
        record.open_object();
        write_member(&mut record, "time", &clock.log_stamp(world.now()));
        write_member(&mut record, "level", level.as_str());
        write_member(&mut record, "msg", &redactor.redact(message));
        for (name, value) in attributes {
            record.name(name);
            match value {
                LogValue::Text(text) => record.string(&redactor.redact(text)),
                LogValue::Number(number) => record.integer(*number),
                LogValue::Null => record.raw("null"),
            }
        }
        record.close_object();
        let line = record.finish() + "\n";
        if let Some(file) = &self.file {
            let _ = world.append(file, line.as_bytes());
        }
        world.print(Stream::Err, line.as_bytes());
    }
}
