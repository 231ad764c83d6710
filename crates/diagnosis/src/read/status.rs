//! `exit status=N` in messages of the handler and of AKS.

use crate::read::extension::is_bootstrap_name;
use crate::read::message::{ExtensionMessage, Handler, LINUX_CODES, Located, Opener, Silence};
use crate::read::reading::TextReading;
use crate::text::lexer::{
    follows, halves, is_cut, owned, phrase, quoted_number, skip_gap, word_around,
};

/// Reads `terminated with exit status=N`, or `vmssCSE exit status=N` of AKS.
pub(crate) fn exit_status(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    if !follows(text, at, "exit") {
        return;
    }
    let begins_streams = |end: usize| phrase(text, end, "[stdout]").is_some();
    let number = halves(text, end, begins_streams).or_else(|| quoted_number(text, end));
    let Some((code, after)) = number else {
        return cut_status(read, at, end);
    };
    if !LINUX_CODES.contains(&code) {
        return;
    }
    let found = Some(Located { value: code, at });
    let waits = |m: &mut ExtensionMessage| m.opener == Opener::Summary && m.summary.is_none();
    let waits = read.current().is_some_and(waits);
    let name = summarized_name(text, at);
    let is_ours = name.as_deref().is_some_and(is_bootstrap_name);
    if let Some(name) = name.filter(|_| is_ours || waits) {
        let message = if waits { read.here() } else { read.open(Opener::Summary, at) };
        message.extension = Some(name);
        message.summary = found;
        message.is_linux = true;
        return;
    }
    let terminated = follows(text, at, "terminated with exit");
    let streams = begins_streams(after);
    if let Some(current) = read.current() {
        // The log of a failed handler may contain the code of the script.
        if terminated && current.shows_handler_log() {
            current.opener = Opener::Handler;
            current.silence = None;
            current.outer = found;
            current.handler = Handler::Failed;
            return;
        }
        let open = !current.in_streams() && current.handler != Handler::Succeeded;
        let takes = matches!(current.opener, Opener::Wrapper | Opener::Handler);
        let repeats = current.outer.is_some_and(|outer| outer.value == code) && !streams;
        if current.outer.is_none() && open && takes {
            current.outer = found;
            current.handler = Handler::Failed;
            current.is_linux = true;
            return;
        }
        if repeats || !terminated {
            return;
        }
    }
    let begins = follows(text, at, "failed to execute command: command terminated with exit");
    if !streams && !begins && matches!(code, 0 | 1) {
        // The handler repeats its error at the end; only that end is present.
        if read.current().is_none() {
            let message = read.open(Opener::Handler, at);
            message.silence = Some(Located { value: Silence::CodeLost, at });
            message.handler = Handler::Failed;
            message.is_linux = true;
        }
        return;
    }
    let message = read.open(Opener::Handler, at);
    message.outer = found;
    message.handler = Handler::Failed;
    message.is_linux = true;
}

/// Reads `exit status=N` in another language, if streams follow or within the message of an extension.
pub(crate) fn foreign_status(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    let Some((code, after)) = quoted_number(text, end) else { return };
    let streams = phrase(text, after, "[stdout]").is_some();
    let name = read.here().extension.clone();
    let is_ours = name.as_deref().is_some_and(is_bootstrap_name);
    if !LINUX_CODES.contains(&code) || !streams && !is_ours {
        return;
    }
    let takes = read.current().is_some_and(|current| {
        current.outer.is_none() && !current.in_streams() && current.handler != Handler::Succeeded
    });
    let message = if takes { read.here() } else { read.open(Opener::Handler, at) };
    if message.outer.is_none() {
        message.outer = Some(Located { value: code, at });
        message.handler = Handler::Failed;
        message.is_linux = true;
    }
}

/// Handles a status that was truncated within the number.
fn cut_status(read: &mut TextReading<'_>, at: usize, end: usize) {
    let rest = &read.text[skip_gap(read.text, end)..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if is_cut(rest, digits)
        && let Some(message) = read.current()
        && !message.in_streams()
    {
        message.silence = Some(Located { value: Silence::CodeLost, at });
    }
}

/// Returns the name before `exit status=`.
fn summarized_name(text: &[u8], at: usize) -> Option<String> {
    let before = text[..at].trim_ascii_end().strip_suffix(b"exit")?.trim_ascii_end();
    let word = word_around(before, before.len(), b"-_");
    (!word.is_empty()).then(|| owned(text, word))
}
