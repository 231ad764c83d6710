//! Commands as the kubectl plugin takes them.

use std::borrow::Cow;
use std::path::PathBuf;

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
    use super::prefix_commands;

    #[test]
    fn commands_are_prefixed_and_other_words_are_not() {
        let text = "mooring why\nhint: `mooring doctor` or kubectl mooring x\nNext  mooring fleet  of mooring system\n";
        let expected = "kubectl mooring why\nhint: `kubectl mooring doctor` or kubectl mooring x\nNext  kubectl mooring fleet  of mooring system\n";
        assert_eq!(prefix_commands(text), expected);
        assert_eq!(prefix_commands("`mooring`"), "`mooring`");
    }
}
