//! Facts around a message: extension, streams, instance, state, image, step.

use mooring_codes::image_date;

use crate::read::extension::{is_bootstrap_name, is_custom_script};
use crate::read::message::{ExtensionMessage, Located, Opener};
use crate::read::reading::TextReading;
use crate::text::lexer::{follows, name, owned, phrase, quoted_number, value, word_around};
use crate::text::scan::Anchor;

/// Search distance for other keys of the same object.
const NEAR: usize = 320;

/// Reads `(publisher 'P' and type 'T')`, or the same as JSON members.
pub(crate) fn publisher(read: &mut TextReading<'_>, end: usize) {
    let text = read.text;
    let Some(range) = name(text, value(text, end).unwrap_or(end)) else { return };
    let after = range.end + 1;
    let kind = phrase(text, after, "and type").and_then(|at| name(text, at));
    let message = read.here();
    if message.in_streams() || message.publisher.is_some() {
        return;
    }
    message.publisher = Some(owned(text, range));
    if let Some(kind) = kind {
        message.kind = Some(owned(text, kind));
    }
    message.is_linux |= message.publisher.as_deref() == Some("Microsoft.Azure.Extensions");
}

/// Reads `"type": "Microsoft.Azure.Extensions.CustomScript"`, with or without quotes; a slash means a resource type.
pub(crate) fn kind(read: &mut TextReading<'_>, end: usize) {
    let text = read.text;
    let Some(range) = value(text, end).and_then(|at| name(text, at)) else { return };
    let kind = owned(text, range);
    let message = read.here();
    let fits = kind.starts_with("Microsoft.") || is_custom_script(&kind);
    if fits && !kind.contains('/') && message.kind.is_none() && message.opener != Opener::Wrapper {
        message.kind = Some(kind);
    }
}

/// Reads `"name": "X"` in an instance view, as JSON, YAML or a PowerShell list; other names are not extensions.
pub(crate) fn extension_name(read: &mut TextReading<'_>, end: usize) {
    let text = read.text;
    let Some(range) = value(text, end).and_then(|at| name(text, at)) else { return };
    let near = &text[range.end..text.len().min(range.end + NEAR)];
    let has = |word: &[u8]| memchr::memmem::find(near, word).is_some();
    let known = is_bootstrap_name(&owned(text, range.clone()));
    let viewed = has(b"ypeHandlerVersion") || has(b"tatuses");
    if known || viewed {
        read.close();
        read.loose = ExtensionMessage::new(Opener::Log, range.start);
        read.loose.extension = Some(owned(text, range));
        read.loose.viewed = viewed;
    }
}

/// Reads the name of a bootstrap extension outside of known messages.
pub(crate) fn known_name(read: &mut TextReading<'_>, at: usize) {
    let word = word_around(read.text, at, b"-_");
    let name = owned(read.text, word);
    let message = read.here();
    if message.extension.is_none() && !message.in_streams() && is_bootstrap_name(&name) {
        message.extension = Some(name);
    }
}

/// Reads `[stdout]` and `[stderr]`. A text that starts with one has lost its head.
pub(crate) fn stream(read: &mut TextReading<'_>, anchor: Anchor, at: usize) {
    if read.current().is_none() {
        read.open(Opener::Handler, at);
    }
    let message = read.here();
    let place = if anchor == Anchor::Stdout { &mut message.stdout } else { &mut message.stderr };
    place.get_or_insert(at);
}

/// Reads `logs_to_events AKS.CSE.step`, the start of a step. `TaskName` of an event is a finished step.
pub(crate) fn step(read: &mut TextReading<'_>, at: usize, end: usize) {
    let text = read.text;
    let name = word_around(text, end, b"._").end;
    let begins = follows(text, at, "logs_to_events");
    if begins && name > end {
        read.here().step = Some(Located { value: owned(text, end..name), at });
    }
}

/// Reads `ProvisioningState/failed/0` or another state, which starts the next message of the extension.
pub(crate) fn state(read: &mut TextReading<'_>) {
    let ended = read.current().filter(|message| message.in_streams());
    let Some(extension) = ended.map(|message| message.extension.clone()) else { return };
    read.close();
    let next = &mut read.here().extension;
    *next = next.take().or(extension);
}

/// Reads `"target": "3"` before a message, or `Target="3"` after it.
pub(crate) fn target(read: &mut TextReading<'_>, end: usize) {
    let text = read.text;
    let Some(start) = value(text, end) else { return };
    let Some((instance, _)) = quoted_number(text, start) else { return };
    if text[start - 1] == b'=' {
        read.here().target = Some(instance);
    } else if !read.current().is_some_and(|message| message.opener == Opener::Report) {
        read.close();
        read.loose.target = Some(instance);
    }
}

/// Reads `instance 3 has extension error details : {`.
pub(crate) fn extension_error(read: &mut TextReading<'_>, at: usize) {
    let text = read.text;
    let before = text[..at].trim_ascii_end();
    let instance = before.strip_suffix(b"has").map(<[u8]>::trim_ascii_end).and_then(|before| {
        let word = word_around(before, before.len(), b"");
        std::str::from_utf8(&before[word]).ok()?.parse().ok()
    });
    let message = read.open(Opener::Summary, at);
    message.target = instance;
}

/// Reads the name or version of an image.
pub(crate) fn image(read: &mut TextReading<'_>, at: usize, end: usize) {
    if read.here().image.is_some() {
        return;
    }
    let text = read.text;
    let family = text[at..end].to_ascii_lowercase().starts_with(b"aks");
    let range = if family {
        Some(word_around(text, at, b"-._"))
    } else {
        name(text, value(text, end).unwrap_or(end))
    };
    let Some(image) = range.map(|range| owned(text, range)) else { return };
    if image_date(&image).is_ok() {
        read.here().image = Some(image);
    }
}
