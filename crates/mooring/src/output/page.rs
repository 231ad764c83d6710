//! Pages about one subject: a sentence, then labels with texts.

use std::borrow::Cow;

use mooring_redact::{markdown as escape, markdown_code};
use mooring_terminal::{Mark, Screen, Text};

/// A page, shown as a screen or as Markdown.
#[derive(Debug, Default)]
pub(crate) struct TextPage {
    mark: Option<Mark>,
    sentence: Text,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    label: Cow<'static, str>,
    text: Text,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Prose,
    /// A command or evidence, which is never wrapped.
    Literal,
}

impl TextPage {
    pub(crate) fn new(sentence: Text) -> Self {
        Self { sentence, ..Self::default() }
    }

    #[must_use]
    pub(crate) fn marked(self, mark: Mark) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// Adds a text under a label. Texts with the same label follow each other.
    pub(crate) fn row(&mut self, label: impl Into<Cow<'static, str>>, text: Text) {
        self.rows.push(Row { label: label.into(), text, kind: Kind::Prose });
    }

    /// Adds a command or evidence under a label.
    pub(crate) fn literal(&mut self, label: &'static str, text: impl AsRef<str>) {
        let (label, text) = (label.into(), Text::new(text));
        self.rows.push(Row { label, text, kind: Kind::Literal });
    }

    /// Adds the page to a screen.
    pub(crate) fn show(&self, screen: &mut Screen) {
        match self.mark {
            Some(mark) => screen.marked(mark, self.sentence.clone()),
            None => screen.prose(0, self.sentence.clone()),
        }
        screen.blank();
        let mut shown = "";
        for Row { label, text, kind } in &self.rows {
            let first = if label == shown { "" } else { label };
            shown = label;
            match kind {
                Kind::Prose => screen.label(first, [text.clone()]),
                Kind::Literal => screen.commands(first, [(text.content().as_str(), "")]),
            }
        }
    }

    pub(crate) fn markdown(&self) -> String {
        let mut lines = vec![format!("### {}", escape(&self.sentence.content())), String::new()];
        for Row { label, text, kind } in &self.rows {
            let label = escape(label.trim_end_matches('?'));
            lines.push(match kind {
                Kind::Prose => format!("- **{label}:** {}", escape(&text.content())),
                Kind::Literal => format!("- **{label}:** {}", markdown_code(&text.content())),
            });
        }
        lines.join("\n") + "\n"
    }
}

/// Returns a screen with pages, separated by a blank line.
pub(crate) fn screen(pages: &[TextPage]) -> Screen {
    let mut screen = Screen::default();
    for (at, page) in pages.iter().enumerate() {
        if at > 0 {
            screen.blank();
        }
        page.show(&mut screen);
    }
    screen
}

pub(crate) fn markdown(pages: &[TextPage]) -> String {
    pages.iter().map(TextPage::markdown).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use mooring_terminal::Style;

    use super::*;

    fn page() -> TextPage {
        let mut page = TextPage::new(Text::new("The node failed.")).marked(Mark::Bad);
        page.row("Then", Text::new("one two three"));
        page.row("Then", Text::new("<b>"));
        page.literal("Evidence", "a line that is not wrapped");
        page
    }

    #[test]
    fn labels_are_shown_once_and_evidence_is_not_wrapped() {
        let text = screen(&[page()]).render(&Style { width: Some(22), ..Style::PIPE });
        assert_eq!(
            text,
            "✗ The node failed.\n\nThen        one two\n            three\n            <b>\n\
             Evidence    a line that is not wrapped\n"
        );
    }

    #[test]
    fn pages_are_separated_by_a_blank_line() {
        let one = screen(&[page()]).render(&Style::PIPE);
        let two = screen(&[page(), page()]).render(&Style::PIPE);
        assert_eq!(two, format!("{one}\n{one}"));
        assert_eq!(
            markdown(&[page(), page()]),
            [markdown(&[page()]), markdown(&[page()])].join("\n")
        );
    }

    #[test]
    fn markdown_is_escaped() {
        let text = markdown(&[page()]);
        assert!(text.starts_with("### The node failed.\n\n- **Then:** one two three\n"), "{text}");
        assert!(!text.contains("<b>"), "{text}");
        assert!(text.contains("- **Evidence:** `a line that is not wrapped`\n"), "{text}");
    }
}
