//! Capabilities of an output.

/// `--color` and `--hyperlinks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    #[default]
    Auto,
    Always,
    Never,
}

/// Facts that decide a style: the stream, and variables of the environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalEnvironment {
    /// Columns of the terminal; none if the stream is not a terminal.
    pub terminal: Option<usize>,
    /// `COLUMNS`.
    pub columns: Option<String>,
    /// True if `NO_COLOR` is not empty.
    pub no_color: bool,
    /// True if `CLICOLOR_FORCE` is neither empty nor 0.
    pub force_color: bool,
    /// `TERM`.
    pub term: String,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is not empty.
    pub locale: String,
}

impl TerminalEnvironment {
    /// Reads variables with this function. `terminal` is the width, if the stream is a terminal.
    pub fn read(terminal: Option<usize>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self {
            terminal,
            columns: set("COLUMNS"),
            no_color: set("NO_COLOR").is_some(),
            force_color: set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            term: set("TERM").unwrap_or_default(),
            locale: ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default(),
        }
    }
}

/// Capabilities of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns; none for a pipe, which is never wrapped or truncated.
    pub width: Option<usize>,
    pub color: bool,
    /// False: marks and lines are ASCII.
    pub unicode: bool,
    /// OSC 8 links.
    pub links: bool,
}

impl Style {
    /// The style of a pipe.
    pub const PIPE: Self = Self { width: None, color: false, unicode: true, links: false };

    pub fn new(environment: &TerminalEnvironment, color: Choice, links: Choice) -> Self {
        let is_terminal = environment.terminal.is_some();
        let is_dumb = environment.term == "dumb";
        let capable = is_terminal && !is_dumb && !environment.no_color;
        let columns = environment.columns.as_ref().and_then(|text| text.parse().ok());
        Self {
            width: environment
                .terminal
                .map(|width| columns.unwrap_or(width))
                .filter(|width| *width > 0),
            color: match color {
                Choice::Always => true,
                Choice::Never => false,
                Choice::Auto => capable || (environment.force_color && !environment.no_color),
            },
            unicode: is_utf8(&environment.locale),
            links: match links {
                Choice::Always => true,
                Choice::Never => false,
                Choice::Auto => capable,
            },
        }
    }
}

/// Returns false only for a locale that names another encoding, or C and POSIX. Pipes of services have none.
fn is_utf8(locale: &str) -> bool {
    let lower = locale.to_ascii_lowercase();
    match lower.split_once('.') {
        Some((_, encoding)) => encoding.starts_with("utf-8") || encoding.starts_with("utf8"),
        None => !matches!(lower.as_str(), "c" | "posix"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(terminal: Option<usize>, variables: &[(&str, &str)]) -> TerminalEnvironment {
        TerminalEnvironment::read(terminal, |name| {
            variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn auto(terminal: Option<usize>, variables: &[(&str, &str)]) -> Style {
        Style::new(&environment(terminal, variables), Choice::Auto, Choice::Auto)
    }

    #[test]
    fn terminal_has_width_color_and_links() {
        let style = auto(Some(80), &[("TERM", "xterm"), ("LANG", "en_US.UTF-8")]);
        assert_eq!(style, Style { width: Some(80), color: true, unicode: true, links: true });
        assert_eq!(auto(Some(80), &[("COLUMNS", "120")]).width, Some(120));
        assert_eq!(auto(Some(80), &[("COLUMNS", "many")]).width, Some(80));
        assert_eq!(auto(Some(80), &[("COLUMNS", "0")]).width, None);
    }

    #[test]
    fn pipe_has_none_of_them() {
        assert_eq!(auto(None, &[("COLUMNS", "40")]), Style::PIPE);
    }

    #[test]
    fn variables_and_flags_decide_about_color() {
        for (variables, expected) in [
            (&[("NO_COLOR", "1")][..], false),
            (&[("NO_COLOR", "")], true),
            (&[("TERM", "dumb")], false),
            (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
        ] {
            assert_eq!(auto(Some(80), variables).color, expected, "{variables:?}");
        }
        assert!(auto(None, &[("CLICOLOR_FORCE", "1")]).color);
        assert!(!auto(None, &[("CLICOLOR_FORCE", "0")]).color);
        assert!(!auto(None, &[("CLICOLOR_FORCE", "1")]).links);
        let forced = environment(None, &[("NO_COLOR", "1")]);
        let style = Style::new(&forced, Choice::Always, Choice::Always);
        assert!(style.color && style.links);
        let style = Style::new(&environment(Some(80), &[]), Choice::Never, Choice::Never);
        assert!(!style.color && !style.links);
    }

    #[test]
    fn only_a_locale_of_another_encoding_is_ascii() {
        for (name, value, unicode) in [
            ("LC_ALL", "C", false),
            ("LC_ALL", "POSIX", false),
            ("LANG", "de_DE.ISO-8859-1", false),
            ("LC_ALL", "C.UTF-8", true),
            ("LC_CTYPE", "en_US.utf8", true),
            ("LANG", "", true),
        ] {
            assert_eq!(auto(Some(80), &[(name, value)]).unicode, unicode, "{name}={value}");
        }
    }
}
