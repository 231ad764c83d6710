//! What stands around an anchor.

use crate::codes::{
    aks_name, arm_code, check_code, cse_error, execution, exit_code, trace_exit, windows_arm_code,
    windows_name,
};
use crate::extension::is_bootstrap_name;
use crate::message::{Found, Handler, Message, Opener, Silence};
use crate::read::Read;
use crate::scan::Anchor;
use crate::sentences;
use crate::surroundings::{extension_error, image, state, step, stream, target};
use crate::words::{follows, name, phrase, quoted_number, skip_gap, word_around};

/// What Linux and its shells can report; -1 is the handler's word for a killed command.
pub(crate) const LINUX_CODES: std::ops::RangeInclusive<i64> = -1..=255;

/// How far a key's company is looked for.
const NEAR: usize = 320;

/// Reads the fact around an anchor that stands from `at` to `end`.
pub(crate) fn read(read: &mut Read<'_>, anchor: Anchor, at: usize, end: usize) {
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
        Anchor::Enable => enable(read, at),
        Anchor::ExitCode => exit_code(read, at, end),
        Anchor::TraceExit => trace_exit(read, at, end),
        Anchor::CheckCode => check_code(read, at, end),
        Anchor::AksName => aks_name(read, at, end),
        Anchor::WindowsName => windows_name(read, at),
        Anchor::CseError => cse_error(read, at, end),
        Anchor::Execution => execution(read, at, end),
        Anchor::Executing if follows(text, at, "Finished") => {
            if phrase(text, end, "command").is_some() {
                let message = read.handler_message(at);
                message.handler = Handler::Lost;
                message.says_windows = true;
            }
        }
        Anchor::Interrupted => read.here().handler = Handler::Lost,
        Anchor::Stdout | Anchor::Stderr => stream(read, anchor, at),
        Anchor::Linux => read.here().says_linux = true,
        Anchor::Windows => {
            read.here().says_windows = true;
            windows_arm_code(read, at, end);
        }
        Anchor::AksNode => read.here().says_aks = true,
        Anchor::Step => step(read, at, end),
        Anchor::ExecDuration => {
            if let Some((seconds, _)) = value(text, end).and_then(|at| quoted_number(text, at)) {
                read.here().duration = u32::try_from(seconds).ok();
            }
            read.here().says_aks = true;
        }
        Anchor::State => state(read, end),
        Anchor::Target => target(read, end),
        Anchor::ExtensionError => extension_error(read, at),
        Anchor::Image => image(read, at, end),
        Anchor::Arm => arm_code(read, at, end),
        Anchor::RunCommand => {
            let message = read.here();
            message.run_command |= !message.in_streams();
        }
        Anchor::OperationError => operation_error(read, at, end),
        Anchor::Executing => {}
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

/// Where the value of a key starts: behind its closing quote and a colon or an equals sign.
pub(crate) fn value(text: &[u8], end: usize) -> Option<usize> {
    let at = end + usize::from(matches!(text.get(end), Some(b'"' | b'\'')));
    let at = skip_gap(text, at);
    matches!(text.get(at), Some(b':' | b'=')).then_some(at + 1)
}

pub(crate) fn owned(text: &[u8], range: std::ops::Range<usize>) -> String {
    String::from_utf8_lossy(&text[range]).trim_end_matches('.').to_owned()
}

/// `… when processing extension 'X'`.
fn processing(read: &mut Read<'_>, at: usize, end: usize) {
    let text = read.text;
    if let Some(range) = phrase(text, end, "extension").and_then(|at| name(text, at)) {
        read.open(Opener::Wrapper, at).extension = Some(owned(text, range));
    }
}

/// `Provisioning of VM extension X has timed out`.
fn timed_out(read: &mut Read<'_>, at: usize, end: usize) {
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
fn reported(read: &mut Read<'_>, at: usize, end: usize) {
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
fn operation_error(read: &mut Read<'_>, at: usize, end: usize) {
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

/// `(publisher 'P' and type 'T')`, or the same as JSON members.
fn publisher(read: &mut Read<'_>, end: usize) {
    let text = read.text;
    let Some(range) = name(text, value(text, end).unwrap_or(end)) else { return };
    let behind = range.end + 1;
    let kind = phrase(text, behind, "and type").and_then(|at| name(text, at));
    let message = read.here();
    if message.in_streams() || message.publisher.is_some() {
        return;
    }
    message.publisher = Some(owned(text, range));
    if let Some(kind) = kind {
        message.kind = Some(owned(text, kind));
    }
    message.says_linux |= message.publisher.as_deref() == Some("Microsoft.Azure.Extensions");
}

/// `"type": "Microsoft.Azure.Extensions.CustomScript"`, also without quotes; a type with a slash is a resource's.
fn kind(read: &mut Read<'_>, end: usize) {
    let text = read.text;
    let Some(range) = value(text, end).and_then(|at| name(text, at)) else { return };
    let kind = owned(text, range);
    let message = read.here();
    let fits = kind.starts_with("Microsoft.") || crate::extension::is_custom_script(&kind);
    if fits && !kind.contains('/') && message.kind.is_none() && message.opener != Opener::Wrapper {
        message.kind = Some(kind);
    }
}

/// `"name": "X"` in an instance view, as JSON, YAML or PowerShell's list; a name elsewhere is no extension's.
fn extension_name(read: &mut Read<'_>, end: usize) {
    let text = read.text;
    let Some(range) = value(text, end).and_then(|at| name(text, at)) else { return };
    let company = &text[range.end..text.len().min(range.end + NEAR)];
    let has = |word: &[u8]| memchr::memmem::find(company, word).is_some();
    let known = is_bootstrap_name(&owned(text, range.clone()));
    if known || has(b"ypeHandlerVersion") || has(b"tatuses") {
        read.close();
        read.loose = Message::new(Opener::Log, range.start);
        read.loose.extension = Some(owned(text, range));
    }
}

/// The name of a bootstrap's extension anywhere: better than none.
fn known_name(read: &mut Read<'_>, at: usize) {
    let word = word_around(read.text, at, b"-_");
    let name = owned(read.text, word);
    let message = read.here();
    if message.extension.is_none() && !message.in_streams() && is_bootstrap_name(&name) {
        message.extension = Some(name);
    }
}

/// `terminated with exit status=N`, or AKS's `vmssCSE exit status=N`.
fn exit_status(read: &mut Read<'_>, at: usize, end: usize) {
    let text = read.text;
    if !follows(text, at, "exit") {
        return;
    }
    let Some((code, behind)) = quoted_number(text, end) else { return };
    if !LINUX_CODES.contains(&code) {
        return;
    }
    let found = Some(Found { value: code, at });
    let waits = |m: &mut Message| m.opener == Opener::Summary && m.summary.is_none();
    let waits = read.current().is_some_and(waits);
    let summarised = summarised(text, at);
    let is_ours = summarised.as_deref().is_some_and(is_bootstrap_name);
    if let Some(name) = summarised.filter(|_| is_ours || waits) {
        let message = if waits { read.here() } else { read.open(Opener::Summary, at) };
        message.extension = Some(name);
        message.summary = found;
        message.says_linux = true;
        return;
    }
    let terminated = follows(text, at, "terminated with exit");
    let streams = phrase(text, behind, "[stdout]").is_some();
    if let Some(current) = read.current() {
        let open = !current.in_streams() && current.handler != Handler::Succeeded;
        let takes = matches!(current.opener, Opener::Wrapper | Opener::Handler);
        let repeats = current.outer.is_some_and(|outer| outer.value == code) && !streams;
        if current.outer.is_none() && open && takes {
            current.outer = found;
            current.handler = Handler::Failed;
            current.says_linux = true;
            return;
        }
        if repeats || !terminated {
            return;
        }
    }
    let begins = follows(text, at, "failed to execute command: command terminated with exit");
    if !streams && !begins && matches!(code, 0 | 1) {
        // The handler repeats its error at the end; here only that end is left.
        if read.current().is_none() {
            let message = read.open(Opener::Handler, at);
            message.silence = Some(Found { value: Silence::CodeLost, at });
            message.handler = Handler::Failed;
            message.says_linux = true;
        }
        return;
    }
    let message = read.open(Opener::Handler, at);
    message.outer = found;
    message.handler = Handler::Failed;
    message.says_linux = true;
}

/// The name before `exit status=`.
fn summarised(text: &[u8], at: usize) -> Option<String> {
    let before = text[..at].trim_ascii_end().strip_suffix(b"exit")?.trim_ascii_end();
    let word = word_around(before, before.len(), b"-_");
    (!word.is_empty()).then(|| owned(text, word))
}

/// `Enable failed: …`, `Enable succeeded: …`.
fn enable(read: &mut Read<'_>, at: usize) {
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
