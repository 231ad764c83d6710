//! Capabilities of an output.

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

    /// Returns the style of a stream with this width, if it is a terminal. Reads variables of the environment with this
    /// function. `color` and `links` are true for always, false for never.
    pub fn new(
        terminal: Option<usize>,
        variable: impl Fn(&str) -> Option<String>,
        color: Option<bool>,
        links: Option<bool>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let columns = set("COLUMNS").and_then(|text| text.parse().ok());
        let no_color = set("NO_COLOR").is_some();
        let force_color = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let is_dumb = set("TERM").is_some_and(|term| term == "dumb");
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let capable = terminal.is_some() && !is_dumb && !no_color;
        Self {
            width: terminal.map(|width| columns.unwrap_or(width)).filter(|width| *width > 0),
            color: color.unwrap_or(capable || (force_color && !no_color)),
            unicode: is_utf8(&locale.unwrap_or_default()),
            links: links.unwrap_or(capable),
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

    fn style(terminal: Option<usize>, variables: &[(&str, &str)], always: Option<bool>) -> Style {
        let variable = |name: &str| {
            variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
        };
        Style::new(terminal, variable, always, always)
    }

    fn auto(terminal: Option<usize>, variables: &[(&str, &str)]) -> Style {
        style(terminal, variables, None)
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
        let forced = style(None, &[("NO_COLOR", "1")], Some(true));
        assert!(forced.color && forced.links);
        let never = style(Some(80), &[], Some(false));
        assert!(!never.color && !never.links);
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
