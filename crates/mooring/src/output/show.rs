//! Output to stdout and stderr.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use mooring_redact::printable_lines;
use mooring_terminal::{Screen, Style, wrap_message};
use serde::Serialize;

use super::{AnswerFormat, is_quiet, message_style, style};
use crate::output::failure::CommandFailure;

/// Prints text to stdout, without terminal control characters, since much of it comes from elsewhere. A closed pipe is
/// not an error.
pub(crate) fn print(text: &[u8]) -> Result<(), CommandFailure> {
    print_raw(printable_lines(&String::from_utf8_lossy(text)).as_bytes())
}

/// Prints names to stdout, one per line.
pub(crate) fn print_names<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), CommandFailure> {
    let mut text = String::new();
    for name in names {
        text.push_str(name);
        text.push('\n');
    }
    print(text.as_bytes())
}

/// True if the reader of stdout has closed it.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns true if the reader of stdout has closed it, and does not wait for the answer.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// Prints binary data, or text that is already safe, to stdout.
pub(crate) fn print_raw(bytes: &[u8]) -> Result<(), CommandFailure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            IS_CLOSED.store(true, Ordering::Relaxed);
            Ok(())
        }
        written => Ok(written?),
    }
}

/// Prints a screen to stdout.
pub(crate) fn print_screen(screen: &Screen) -> Result<(), CommandFailure> {
    print_raw(with_commands(&screen.render(&style())).as_bytes())
}

/// Prints a screen as Markdown.
pub(crate) fn print_markdown(screen: &Screen) -> Result<(), CommandFailure> {
    print_raw(with_commands(&code_block(&screen.render(&Style::PIPE))).as_bytes())
}

/// Returns text as a code block of Markdown, which keeps its columns and hides markup in it.
pub(crate) fn code_block(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default().max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}

/// Prints an answer in a format: its screen, its document or its names. Markdown is the screen, or a text of its own.
pub(crate) fn print_answer<'a, D: Serialize>(
    format: AnswerFormat,
    screen: impl FnOnce(bool) -> Screen,
    markdown: Option<&dyn Fn() -> String>,
    document: impl FnOnce() -> D,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), CommandFailure> {
    match (format, markdown) {
        (AnswerFormat::Table | AnswerFormat::Wide, _) => {
            print_screen(&screen(format == AnswerFormat::Wide))
        }
        (AnswerFormat::Markdown, Some(markdown)) => print(markdown().as_bytes()),
        (AnswerFormat::Markdown, None) => print_markdown(&screen(false)),
        (AnswerFormat::Json | AnswerFormat::Yaml, _) => {
            print_document(&document(), format == AnswerFormat::Yaml)
        }
        (AnswerFormat::Name, _) => print_names(names),
    }
}

/// Prints a document as JSON or YAML.
pub(crate) fn print_document(
    document: &impl Serialize,
    is_yaml: bool,
) -> Result<(), CommandFailure> {
    let text = if is_yaml { yaml(document)? } else { json(document)? };
    print_raw(text.as_bytes())
}

/// Returns YAML with the same members as the JSON document.
pub(crate) fn yaml(document: &impl Serialize) -> Result<String, CommandFailure> {
    let text =
        serde_saphyr::to_string(document).map_err(|error| CommandFailure::io(error.to_string()))?;
    Ok(mooring_redact::printable_lines(&text))
}

/// Returns a message as stderr shows it: without terminal control characters, and wrapped on a terminal.
pub(crate) fn message(text: &str) -> String {
    wrap_message(&with_commands(&printable_lines(text)), &message_style())
}

/// Prints a message to stderr. Nobody is left to be told of a closed one.
pub(crate) fn print_note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", message(text));
}

pub(crate) fn print_warning(text: &str) {
    if is_quiet() {
        return;
    }
    print_note(&format!("warning: {text}"));
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, CommandFailure> {
    mooring_workflow::published::to_json(value)
        .map_err(|error| CommandFailure::io(error.to_string()))
}

pub(crate) use mooring_workflow::published::escape_hidden;

/// Returns true if this process is the plugin.
pub(crate) fn is_plugin() -> bool {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    called.file_name().is_some_and(|name| name == "kubectl-mooring")
}

/// Returns text whose commands begin with `kubectl mooring`, if this process is the plugin.
pub(crate) fn with_commands(text: &str) -> Cow<'_, str> {
    if is_plugin() { Cow::Owned(prefix_commands(text)) } else { Cow::Borrowed(text) }
}

/// A command is quoted, at the start of a line, or after two blanks.
fn prefix_commands(text: &str) -> String {
    let mut prefixed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("mooring ") {
        prefixed.push_str(before);
        let is_start = prefixed.is_empty();
        if is_start || ["`", "  ", "\n"].iter().any(|end| prefixed.ends_with(end)) {
            prefixed.push_str("kubectl ");
        }
        prefixed.push_str("mooring ");
        rest = after;
    }
    prefixed + rest
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{code_block, prefix_commands, yaml};

    #[test]
    fn fence_of_a_code_block_is_longer_than_any_in_its_text() {
        assert_eq!(code_block("a `b`\n"), "```text\na `b`\n```\n");
        assert_eq!(code_block("```\n"), "````text\n```\n````\n");
    }

    #[test]
    fn yaml_has_the_members_of_the_json_document() {
        let document = json!({
            "schema": "mooring.why/v1",
            "unknown": null,
            "list": [],
            "text": "yes: \"x\"\nno",
            "number": 1.5,
            "hidden": "a\u{1b}[2Jb",
        });
        let text = yaml(&document).unwrap();
        assert!(!text.contains('\u{1b}'), "{text}");
        let mut read: Value = serde_saphyr::from_str(&text).unwrap();
        let mut expected = document;
        for value in [&mut read, &mut expected] {
            value.as_object_mut().unwrap().remove("hidden");
        }
        assert_eq!(read, expected, "{text}");
    }

    #[test]
    fn commands_are_prefixed_and_other_words_are_not() {
        let text = "mooring why\nhint: `mooring doctor` or kubectl mooring x\nNext  mooring fleet  of mooring system\n";
        let expected = "kubectl mooring why\nhint: `kubectl mooring doctor` or kubectl mooring x\nNext  kubectl mooring fleet  of mooring system\n";
        assert_eq!(prefix_commands(text), expected);
        assert_eq!(prefix_commands("`mooring`"), "`mooring`");
    }
}
