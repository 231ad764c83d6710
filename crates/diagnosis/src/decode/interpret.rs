//! Determines the operating system and the exit code of a message.

use mooring_codes::Os;

use crate::decode::decoded::{
    BootstrapOutcome, Decoded, DecodedMessage, FoundBy, ListPosition, Situation,
};
use crate::read::extension::is_bootstrap;
use crate::read::message::{ExtensionMessage, Handler, Located, Opener, Silence};
use crate::read::reading::TextReading;
use crate::read::report::{error_at, output_end_at, status};
use crate::text::lexer::follows_in_list;

pub(crate) fn interpret(read: &TextReading<'_>, message: &ExtensionMessage) -> DecodedMessage {
    let os = os(read, message);
    let selected = match os {
        Some(Os::Windows) => windows_code(message),
        _ => linux_code(message),
    };
    let none = Located { value: 0, at: message.span.start };
    let done = message.handler == Handler::Succeeded;
    let selected = selected.or(done.then_some((FoundBy::OuterStatus, none)));
    let bootstrap = is_bootstrap(message);
    let outcome = match selected {
        _ if !bootstrap => BootstrapOutcome::NotABootstrap,
        Some((_, Located { value: 0, .. })) if message.handler != Handler::Failed => {
            BootstrapOutcome::Succeeded
        }
        Some(_) => BootstrapOutcome::Failed,
        None => BootstrapOutcome::NoCode,
    };
    let silence = message.silence;
    let at = selected.map(|(_, found)| found.at).or(silence.map(|found| found.at));
    let code = selected.and_then(|(_, found)| i32::try_from(found.value).ok());
    DecodedMessage {
        decoded: Decoded {
            os,
            code,
            found_by: code.and(selected.map(|(by, _)| by)),
            outcome,
            situation: (outcome == BootstrapOutcome::NoCode).then(|| situation(message)),
            arm_code: None,
            status: status(read.text, message),
            extension: message.extension.clone(),
            instance: message.target,
            image_version: message.image.clone().or_else(|| read.loose.image.clone()),
            exec_duration: message.duration,
            step: message.step.as_ref().map(|step| step.value.clone()),
        },
        span: message.span.clone(),
        at: at.or(Some(message.at)),
        weak: matches!(
            selected,
            Some((FoundBy::OuterStatus | FoundBy::VmssStatus, Located { value: 0 | 1, .. }))
        ) && outcome == BootstrapOutcome::Failed,
        opener: message.opener,
        handler: message.handler,
        stdout: message.stdout,
        stderr: message.stderr,
        step_at: message.step.as_ref().map(|step| step.at),
        error_at: error_at(read.text, message),
        output_end_at: output_end_at(read.text, message),
        item: if message.viewed {
            ListPosition::Viewed
        } else if follows_in_list(read.text, message.span.start) {
            ListPosition::Listed
        } else {
            ListPosition::Alone
        },
        worded: None,
    }
}

/// Prefers evidence of Windows to evidence of Linux.
fn os(read: &TextReading<'_>, message: &ExtensionMessage) -> Option<Os> {
    let windows_code = message.windows_result.is_some()
        || message.windows_name.is_some()
        || message.windows_error.is_some();
    let kind = message.kind.as_deref().unwrap_or_default();
    let windows_kind = kind.ends_with("CustomScriptExtension");
    let name = message.extension.as_deref().unwrap_or_default();
    match (message.is_windows, message.is_linux) {
        _ if windows_code || windows_kind || name.starts_with("windows-") => Some(Os::Windows),
        (true, false) => Some(Os::Windows),
        (_, true) => Some(Os::Linux),
        (false, false) => match (read.loose.is_windows, read.loose.is_linux) {
            (true, false) => Some(Os::Windows),
            (false, true) => Some(Os::Linux),
            _ if name == "cse-agent-karpenter" => Some(Os::Linux),
            _ => None,
        },
    }
}

type SelectedCode = Option<(FoundBy, Located<i64>)>;

fn windows_code(message: &ExtensionMessage) -> SelectedCode {
    // Since the end of 2023 the outer status is always 1, and wrappers name the publisher.
    let old = message.opener == Opener::Wrapper && message.publisher.is_none();
    let outer = message.outer.filter(|outer| outer.value != 1 || old);
    first([
        (FoundBy::WindowsResult, message.windows_result),
        (FoundBy::WindowsName, message.windows_name),
        (FoundBy::WindowsError, message.windows_error),
        (FoundBy::OuterStatus, outer),
    ])
}

fn linux_code(message: &ExtensionMessage) -> SelectedCode {
    let failed = message.handler == Handler::Failed;
    let plausible = |found: &Located<i64>| found.value != 0 || !failed;
    let trusted = |found: &Located<i64>| !matches!(found.value, 0 | 1);
    first([
        (FoundBy::Json, message.report.filter(plausible)),
        (FoundBy::Slog, message.slog.filter(|found| found.value != 0)),
        (FoundBy::Trace, message.trace),
        (FoundBy::VmssStatus, message.summary.filter(trusted)),
        (FoundBy::OuterStatus, message.outer.filter(trusted)),
        (FoundBy::VmssStatus, message.summary),
        (FoundBy::OuterStatus, message.outer),
    ])
}

fn first<const N: usize>(codes: [(FoundBy, Option<Located<i64>>); N]) -> SelectedCode {
    codes.into_iter().find_map(|(by, found)| Some((by, found?)))
}

fn situation(message: &ExtensionMessage) -> Situation {
    match (message.silence.map(|found| found.value), message.handler) {
        (Some(Silence::TimedOut), _) => Situation::TimedOut,
        (Some(Silence::HandlerFailed), _) => Situation::HandlerFailed,
        (Some(Silence::AgentSilent), _) => Situation::AgentSilent,
        (None, Handler::Lost) => Situation::Interrupted,
        (None, Handler::Failed) if !message.in_streams() && !message.is_windows => {
            Situation::NeverStarted
        }
        (None | Some(Silence::CodeLost), _) => Situation::CodeLost,
    }
}
