//! Messages of the compute provider, the guest agent and the handler around a script.

use crate::read::message::{ExtensionMessage, Handler, Located, Opener, Silence};
use crate::read::reading::TextReading;
use crate::text::lexer::{follows, name, owned, phrase, quoted_number};

/// Search distance from the guest agent's label to the extension name.
const NEAR: usize = 320;

/// Reads `… when processing extension 'X'`.
pub(crate) fn processing(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    if let Some(range) = phrase(text, end, "extension").and_then(|at| name(text, at)) {
        read.open(Opener::Wrapper, at).extension = Some(owned(text, range));
    }
}

/// Reads `Provisioning of VM extension X has timed out`.
pub(crate) fn timed_out(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    let Some(range) = phrase(text, end, "VM extension").and_then(|at| name(text, at)) else {
        return;
    };
    let after = range.end + usize::from(matches!(text.get(range.end), Some(b'"' | b'\'')));
    if phrase(text, after, "has timed out").is_some() {
        let message = read.open(Opener::Sentence, at);
        message.extension = Some(owned(text, range));
        message.silence = Some(Located { value: Silence::TimedOut, at });
    }
}

/// Reads `has reported (terminal) failure for VM extension 'X'`, `has not reported status for VM agent`.
pub(crate) fn reported(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    if phrase(text, end, "status for VM agent").is_some() && follows(text, at, "not") {
        let message = read.open(Opener::Sentence, at);
        message.silence = Some(Located { value: Silence::AgentSilent, at });
        return;
    }
    let named = phrase(text, end, "terminal failure for VM extension")
        .or_else(|| phrase(text, end, "failure for VM extension"));
    if let Some(range) = named.and_then(|at| name(text, at)) {
        let message = read.open(Opener::Sentence, at);
        message.extension = Some(owned(text, range));
        message.silence = Some(Located { value: Silence::HandlerFailed, at });
    }
}

/// Reads `[ExtensionOperationError] Timeout(300): …CustomScript…` of the guest agent, outside of a message.
pub(crate) fn operation_error(read: &mut TextReading<'_>, at: usize, end: usize) {
    let near = &read.text[end..read.text.len().min(end + NEAR)];
    let has = |word: &[u8]| memchr::memmem::find(near, word).is_some();
    if read.current().is_some() || !has(b"Microsoft.Azure.Extensions.CustomScript") {
        return;
    }
    let value = if has(b"Timeout(") { Silence::TimedOut } else { Silence::HandlerFailed };
    let message = read.open(Opener::Sentence, at);
    message.silence = Some(Located { value, at });
    message.is_linux = true;
}

/// Reads `Enable failed: …`, `Enable succeeded: …`.
pub(crate) fn enable(read: &mut TextReading<'_>, at: usize) {
    let text = read.text;
    let starts = |word: &str| phrase(text, at, word).is_some();
    if starts("disable") {
        read.close();
        return;
    }
    let handler = if starts("enable succeeded") { Handler::Succeeded } else { Handler::Failed };
    if starts("enable failed") && !starts("enable failed: failed to execute") {
        // Repeats the message about a failed handler.
        let is_known =
            |message: &mut ExtensionMessage| message.silence.is_some() && !message.in_streams();
        if read.current().is_some_and(is_known) {
            return;
        }
    }
    let message = read.handler_message(at);
    message.handler = handler;
    message.is_linux = true;
}

/// Reads `Error code: 'C'`: not an exit code, but the handler's reason for its absence.
pub(crate) fn clarification(read: &mut TextReading<'_>, end: usize) {
    let Some((code, _)) = quoted_number(read.text, end) else { return };
    let handler = match code {
        // Invalid input, failed downloads, no identity: the script did not start.
        20..=30 | 50..=59 | 70..=72 => Handler::Failed,
        // The VM was shutting down.
        3 => Handler::Lost,
        _ => return,
    };
    if let Some(message) = silent_wrapper(read) {
        message.handler = handler;
    }
}

/// Handles rejected settings and failed downloads, which newer handlers report without `Enable failed`.
pub(crate) fn refused(read: &mut TextReading<'_>) {
    if let Some(message) = silent_wrapper(read) {
        message.handler = Handler::Failed;
    }
}

fn silent_wrapper<'r>(read: &'r mut TextReading<'_>) -> Option<&'r mut ExtensionMessage> {
    let waits = |m: &&mut ExtensionMessage| m.handler == Handler::Silent && !m.in_streams();
    read.current().filter(waits).filter(|message| message.opener == Opener::Wrapper)
}
