//! Exit codes and error names.

use mooring_codes::{Os, by_name};

use crate::read::message::{ExtensionMessage, Handler, LINUX_CODES, Located, Opener};
use crate::read::reading::TextReading;
use crate::text::lexer::{
    follows, number, owned, phrase, quoted_number, skip_gap, value, word_around,
};

/// Limit of `CSE Error: NAME." Exit Code: N.`
const NEAR: usize = 240;

/// ARM error codes that are reported if nothing else is known.
const ARM_CODES: &[&str] = &[
    "VMExtensionProvisioningTimeout",
    "VMExtensionProvisioningError",
    "VMExtensionHandlerNonTransientError",
    "VMExtensionManagementInternalError",
    "OSProvisioningTimedOut",
    "VMStartTimedOut",
    "NoVMSSInstanceView",
    "VMAgentStatusCommunicationError",
    "TemplateDeploymentTimedoutError",
    "AgentPoolFailed",
];

/// Reads `"ExitCode": "N"` of a report, `exitCode=N` of a log, or `ExitCode: |N|` of Windows.
pub(crate) fn exit_code(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    if let Some(code) = windows_result(text, end) {
        let found = Some(Located { value: code, at });
        let takes = read.current().is_some_and(|message| message.windows_result.is_none());
        let message = if takes { read.here() } else { read.open(Opener::Report, at) };
        message.windows_result = found;
        message.is_windows = true;
        return;
    }
    let key = matches!(text.get(end), Some(b'"' | b'\''));
    let Some(start) = value(text, end) else { return };
    let assigned = text[start - 1] == b'=';
    let Some((code, after)) = quoted_number(text, start) else { return };
    if !(key || assigned) || !LINUX_CODES.contains(&code) {
        return;
    }
    let found = Located { value: code, at };
    if assigned || text[at] == b'e' {
        logged(read, found);
    } else {
        let quoted = matches!(text.get(after), Some(b'"' | b'\''));
        reported(read, found, quoted);
    }
}

/// `: |N|`
fn windows_result(text: &[u8], end: usize) -> Option<i64> {
    let rest = text.get(end..)?.strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"|")?;
    let (code, end) = number(rest, 0)?;
    (rest.get(end) == Some(&b'|')).then_some(code)
}

fn reported(read: &mut TextReading<'_>, found: Located<i64>, quoted: bool) {
    let known = read.from_aks_node;
    match read.current() {
        Some(message) if message.opener == Opener::Report && message.report.is_some() => {}
        Some(message) if message.opener == Opener::Sentence => {}
        Some(message) => {
            // The first is the report's; a later one is in the output of the node.
            message.report.get_or_insert(found);
            message.is_linux = true;
            return;
        }
        None => {}
    }
    // Files of other tools also have numbers with this name.
    if quoted || known {
        let message = read.open(Opener::Report, found.at);
        message.report = Some(found);
        message.is_linux = true;
    }
}

fn logged(read: &mut TextReading<'_>, found: Located<i64>) {
    if let Some(message) = log(read, found.at)
        && (found.value != 0 || message.slog.is_none())
    {
        message.slog = Some(found);
        message.is_linux = true;
    }
}

/// Returns the message of a log line.
fn log<'r>(read: &'r mut TextReading<'_>, at: usize) -> Option<&'r mut ExtensionMessage> {
    if read.current().is_some() {
        return read.current();
    }
    read.from_aks_node.then(|| read.open(Opener::Log, at))
}

/// Reads `+ exit N` of the script; `++ exit` is from a subshell, and zero is not a failure.
pub(crate) fn trace_exit(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    let before = at.checked_sub(1).map(|before| text[before]);
    let starts =
        before.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
    let blank = text.get(end).is_some_and(u8::is_ascii_whitespace);
    let code = number(text, end).map(|(code, _)| code);
    if let Some(code) = code
        && starts
        && blank
        && (1..=255).contains(&code)
        && let Some(message) = log(read, at)
    {
        message.trace = Some(Located { value: code, at });
        message.is_linux = true;
    }
}

/// Reads `local exit_code=N` in the script trace, unless `+ exit N` follows.
pub(crate) fn local_exit_code(read: &mut TextReading<'_>, at: usize, end: usize) {
    let code = number(read.text, end).map(|(code, _)| code);
    if let Some(code @ 1..=255) = code
        && let Some(message) = log(read, at)
        && message.trace.is_none()
    {
        message.trace = Some(Located { value: code, at });
        message.is_linux = true;
    }
}

/// Reads `API server connection check code: N`.
pub(crate) fn check_code(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    if !follows(text, at, "connection") {
        return;
    }
    let code = value(text, end).and_then(|at| number(text, at));
    if let Some((code @ 1..=255, _)) = code
        && let Some(message) = log(read, at)
    {
        message.trace = Some(Located { value: code, at });
        message.is_linux = true;
    }
}

/// Reads `VMExtensionError_Name`, `NameVMExtensionError`, or a link that ends in one.
pub(crate) fn aks_name(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    let joined = text.get(end) == Some(&b'-');
    let word =
        if joined { at..word_around(text, end, b"-").end } else { word_around(text, at, b"_") };
    read.add_name(&text[word], at);
}

/// Looks up `WINDOWS_CSE_ERROR_NAME` in the table of codes.
pub(crate) fn windows_name(read: &mut TextReading<'_>, at: usize) {
    let text = read.text;
    let known = read.current().is_some_and(|message| message.windows_name.is_some());
    if known || !read.may_look_up() {
        return;
    }
    let name = owned(text, word_around(text, at, b"_"));
    let row = by_name(&name).into_iter().find(|row| row.os == Os::Windows);
    if read.current().is_none() {
        read.open(Opener::Log, at);
    }
    let message = read.here();
    message.is_windows = true;
    message.windows_name = row.map(|row| Located { value: row.number.into(), at });
}

/// Reads `CSE Error: NAME." Exit Code: N.`
pub(crate) fn cse_error(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    let near = &text[end..text.len().min(end + NEAR)];
    let Some(label) = memchr::memmem::find(near, b"Exit Code:") else { return };
    if let Some((code, _)) = number(text, end + label + b"Exit Code:".len()) {
        if read.current().is_none() {
            read.open(Opener::Log, at);
        }
        let message = read.here();
        message.windows_error = Some(Located { value: code, at });
        message.is_windows = true;
    }
}

/// Reads `CSE exited with code N (NAME)` or `CSE exited with code N on node NODE: NAME`, which Mooring writes.
pub(crate) fn condition_code(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    let Some((code, after)) = number(text, end) else { return };
    let found = Some(Located { value: code, at });
    let near = &text[after..text.len().min(after + NEAR)];
    let near = near.split(|byte| *byte == b'.').next().unwrap_or_default();
    if memchr::memmem::find(near, b"WINDOWS_CSE_").is_some() {
        let message = read.open(Opener::Log, at);
        message.windows_error = found;
        message.is_windows = true;
    } else if LINUX_CODES.contains(&code) {
        let message = read.open(Opener::Summary, at);
        message.summary = found;
        message.is_linux = true;
    }
}

/// Reads `Command execution finished …` of Windows.
pub(crate) fn execution(read: &mut TextReading<'_>, at: usize, end: usize) {
    const FAILED: &str = "finished, but failed because it returned a non-zero exit code of:";
    let text = read.text;
    if !follows(text, at, "Command") || phrase(text, end, "finished").is_none() {
        return;
    }
    let failed = phrase(text, end, FAILED);
    let code = failed.and_then(|at| quoted_number(text, at));
    let cut = failed.is_none() && phrase(text, end, "finished,").is_some();
    let message = read.handler_message(at);
    message.is_windows = true;
    message.outer = code.map(|(value, _)| Located { value, at });
    message.handler = match (failed, cut) {
        (None, false) => Handler::Succeeded,
        _ => Handler::Failed,
    };
}

/// Reads an ARM error code and keeps its usual spelling.
pub(crate) fn arm_code(read: &mut TextReading<'_>, at: usize, end: usize) {
    let word = &read.text[at..end];
    let known = ARM_CODES.iter().find(|code| code.as_bytes().eq_ignore_ascii_case(word));
    if let Some(code) = known {
        let at = skip_gap(read.text, at);
        read.add_arm_code(code, at);
    }
}

/// Reads `VMExtensionProvisioningError_Windows`, which is a separate code.
pub(crate) fn windows_arm_code(read: &mut TextReading<'_>, at: usize, end: usize) {
    const CODE: &str = "VMExtensionProvisioningError_Windows";
    if read.text[at..end].eq_ignore_ascii_case(CODE.as_bytes()) {
        read.add_arm_code(CODE, at);
    }
}
