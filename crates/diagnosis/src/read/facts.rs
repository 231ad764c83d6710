//! Reads the fact around each anchor, in the order of the text.

use mooring_codes::Os;

use crate::hints::{Hints, Origin};
use crate::read::codes::{
    aks_name, arm_code, check_code, condition_code, cse_error, execution, exit_code,
    local_exit_code, trace_exit, windows_arm_code, windows_name,
};
use crate::read::context::{
    extension_error, extension_name, image, kind, known_name, publisher, state, step, stream,
    target,
};
use crate::read::envelopes::{
    clarification, enable, operation_error, processing, refused, reported, timed_out,
};
use crate::read::message::{Handler, Located, Opener};
use crate::read::reading::TextReading;
use crate::read::sentences;
use crate::read::status::{exit_status, foreign_status};
use crate::text::lexer::{follows, phrase, quoted_number, value};
use crate::text::scan::Clue;
use crate::text::scan::{Anchor, Hit, TextMark};

pub(crate) fn gather<'a>(text: &'a [u8], hits: &[Hit], given: Hints) -> TextReading<'a> {
    let aks = [TextMark::Anchor(Anchor::AksNode), TextMark::Anchor(Anchor::Step)];
    let mut read = TextReading::new(text, hits.iter().any(|hit| aks.contains(&hit.mark)));
    open_origin(&mut read, given);
    for hit in hits {
        match hit.mark {
            TextMark::Anchor(anchor) => read_fact(&mut read, anchor, hit.start(), hit.end()),
            TextMark::Clue(Clue::ConfigRefused | Clue::DownloadRefused) => refused(&mut read),
            TextMark::Clue(_) => {}
        }
        if read.full {
            break;
        }
    }
    read.close_spans();
    read
}

/// Starts the message whose beginning the text lacks.
fn open_origin(read: &mut TextReading<'_>, Hints { os, origin, .. }: Hints) {
    match origin {
        Origin::Unknown => {}
        Origin::Extension => {
            let message = read.open(Opener::Wrapper, 0);
            message.extension = Some("vmssCSE".to_owned());
            message.is_linux = os == Some(Os::Linux);
            message.is_windows = os == Some(Os::Windows);
        }
        Origin::Report { exit_code } => {
            let message = read.open(Opener::Handler, 0);
            message.report = Some(Located { value: exit_code.into(), at: 0 });
            message.handler = if exit_code == 0 { Handler::Silent } else { Handler::Failed };
            message.is_linux = true;
            message.stdout = Some(0);
        }
    }
}

/// Reads the fact around an anchor from `at` to `end`.
fn read_fact(read: &mut TextReading<'_>, anchor: Anchor, at: usize, end: usize) {
    let text = read.text;
    match anchor {
        Anchor::Processing => processing(read, at, end),
        Anchor::Provisioning => timed_out(read, at, end),
        Anchor::Reported => reported(read, at, end),
        Anchor::Publisher => publisher(read, end),
        Anchor::Type => kind(read, end),
        Anchor::Name => extension_name(read, end),
        Anchor::KnownName => known_name(read, at),
        Anchor::Status => exit_status(read, at, end),
        Anchor::ForeignStatus => foreign_status(read, at, end),
        Anchor::LocalExitCode => local_exit_code(read, at, end),
        Anchor::Enable => enable(read, at),
        Anchor::ExitCode => exit_code(read, at, end),
        Anchor::TraceExit => trace_exit(read, at, end),
        Anchor::CheckCode => check_code(read, at, end),
        Anchor::AksName => aks_name(read, at, end),
        Anchor::WindowsName => windows_name(read, at),
        Anchor::CseError => cse_error(read, at, end),
        Anchor::ConditionCode => condition_code(read, at, end),
        Anchor::Execution => execution(read, at, end),
        Anchor::Executing if follows(text, at, "Finished") => {
            if phrase(text, end, "command").is_some() {
                let message = read.handler_message(at);
                message.handler = Handler::Lost;
                message.is_windows = true;
            }
        }
        Anchor::Interrupted => read.here().handler = Handler::Lost,
        Anchor::Stdout | Anchor::Stderr => stream(read, anchor, at),
        Anchor::Linux => read.here().is_linux = true,
        Anchor::Windows => {
            read.here().is_windows = true;
            windows_arm_code(read, at, end);
        }
        Anchor::Step => step(read, at, end),
        Anchor::ExecDuration => {
            if let Some((seconds, _)) = value(text, end).and_then(|at| quoted_number(text, at)) {
                let message = read.here();
                message.duration = u32::try_from(seconds).ok();
                // Windows reports no duration.
                message.is_linux = true;
            }
        }
        Anchor::State => state(read),
        Anchor::Target => target(read, end),
        Anchor::ExtensionError => extension_error(read, at),
        Anchor::Image => image(read, at, end),
        Anchor::Arm => arm_code(read, at, end),
        // `disableRunCommand`, a property of every cluster.
        Anchor::RunCommand if follows(text, at, "disable") => {}
        Anchor::RunCommand => {
            let message = read.here();
            message.run_command |= !message.in_streams();
        }
        Anchor::OperationError => operation_error(read, at, end),
        Anchor::ErrorCode => clarification(read, end),
        Anchor::AksNode | Anchor::Executing => {}
        Anchor::Establish
        | Anchor::Resolve
        | Anchor::Registry
        | Anchor::Endpoint
        | Anchor::Downloading
        | Anchor::NoSuchHost => {
            if let Some(code) = sentences::code(text, anchor, at, end) {
                read.add_sentence(code, at);
            }
        }
    }
}
