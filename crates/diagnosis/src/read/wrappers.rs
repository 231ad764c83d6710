//! The sentences around a script: the compute provider's, the guest agent's and the handler's.

use crate::read::message::{Found, Handler, Message, Opener, Silence};
use crate::read::reading::Read;
use crate::text::words::{follows, name, owned, phrase, quoted_number};

/// How far behind its label the guest agent names the extension.
const NEAR: usize = 320;

/// `… when processing extension 'X'`.
pub(crate) fn processing(read: &mut Read<'_>, at: usize, end: usize) {
    let text = read.text;
    if let Some(range) = phrase(text, end, "extension").and_then(|at| name(text, at)) {
        read.open(Opener::Wrapper, at).extension = Some(owned(text, range));
    }
}

/// `Provisioning of VM extension X has timed out`.
pub(crate) fn timed_out(read: &mut Read<'_>, at: usize, end: usize) {
    let text = read.text;
    let Some(range) = phrase(text, end, "VM extension").and_then(|at| name(text, at)) else {
        return;
    };
    let behind = range.end + usize::from(matches!(text.get(range.end), Some(b'"' | b'\'')));
    if phrase(text, behind, "has timed out").is_some() {
        let message = read.open(Opener::Sentence, at);
        message.extension = Some(owned(text, range));
        message.silence = Some(Found { value: Silence::TimedOut, at });
    }
}

/// `has reported (terminal) failure for VM extension 'X'`, `has not reported status for VM agent`.
pub(crate) fn reported(read: &mut Read<'_>, at: usize, end: usize) {
    let text = read.text;
    if phrase(text, end, "status for VM agent").is_some() && follows(text, at, "not") {
        let message = read.open(Opener::Sentence, at);
        message.silence = Some(Found { value: Silence::AgentSilent, at });
        return;
    }
    let named = phrase(text, end, "terminal failure for VM extension")
        .or_else(|| phrase(text, end, "failure for VM extension"));
    if let Some(range) = named.and_then(|at| name(text, at)) {
        let message = read.open(Opener::Sentence, at);
        message.extension = Some(owned(text, range));
        message.silence = Some(Found { value: Silence::HandlerFailed, at });
    }
}

/// The guest agent's `[ExtensionOperationError] Timeout(300): …CustomScript…`, outside of a message.
pub(crate) fn operation_error(read: &mut Read<'_>, at: usize, end: usize) {
    let near = &read.text[end..read.text.len().min(end + NEAR)];
    let has = |word: &[u8]| memchr::memmem::find(near, word).is_some();
    if read.current().is_some() || !has(b"Microsoft.Azure.Extensions.CustomScript") {
        return;
    }
    let value = if has(b"Timeout(") { Silence::TimedOut } else { Silence::HandlerFailed };
    let message = read.open(Opener::Sentence, at);
    message.silence = Some(Found { value, at });
    message.says_linux = true;
}

/// `Enable failed: …`, `Enable succeeded: …`.
pub(crate) fn enable(read: &mut Read<'_>, at: usize) {
    let text = read.text;
    let starts = |word: &str| phrase(text, at, word).is_some();
    if starts("disable") {
        read.close();
        return;
    }
    let handler = if starts("enable succeeded") { Handler::Succeeded } else { Handler::Failed };
    if starts("enable failed") && !starts("enable failed: failed to execute") {
        // Within the sentence about a failed handler it is nothing new.
        let told = |message: &mut Message| message.silence.is_some() && !message.in_streams();
        if read.current().is_some_and(told) {
            return;
        }
    }
    let message = read.handler_message(at);
    message.handler = handler;
    message.says_linux = true;
}

/// `Error code: 'C'`: never an exit code, but the handler's word for why there is none.
pub(crate) fn clarification(read: &mut Read<'_>, end: usize) {
    let Some((code, _)) = quoted_number(read.text, end) else { return };
    let handler = match code {
        // Bad input, failed downloads, no identity: the script was never started.
        20..=30 | 50..=59 | 70..=72 => Handler::Failed,
        // The VM was shutting down.
        3 => Handler::Lost,
        _ => return,
    };
    if let Some(message) = silent_wrapper(read) {
        message.handler = handler;
    }
}

/// Settings refused or files not fetched. Newer handlers say so without `Enable failed`.
pub(crate) fn refused(read: &mut Read<'_>) {
    if let Some(message) = silent_wrapper(read) {
        message.handler = Handler::Failed;
    }
}

fn silent_wrapper<'r>(read: &'r mut Read<'_>) -> Option<&'r mut Message> {
    let waits = |m: &&mut Message| m.handler == Handler::Silent && !m.in_streams();
    read.current().filter(waits).filter(|message| message.opener == Opener::Wrapper)
}
