//! Screens: sentences, labels, commands and tables.

use crate::style::Style;
use crate::table::Table;
use crate::text::{Mark, Text, adapt};

/// Columns of a label.
pub const LABEL: usize = 12;

/// Sentences wrap here, also on wider terminals.
pub(crate) const PROSE: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Block {
    /// A line that is never wrapped.
    Line(Text),
    /// Wrapped, with a hanging indent.
    Prose {
        indent: usize,
        hanging: usize,
        text: Text,
    },
    /// Two texts at both ends of the line.
    Ends(Text, Text),
    /// A rule with a caption.
    Rule(String),
    Table {
        indent: usize,
        table: Table,
    },
}

/// Human-readable output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screen {
    blocks: Vec<Block>,
}

impl Screen {
    /// Adds a line that is never wrapped or truncated: a command or evidence.
    pub fn line(&mut self, text: Text) {
        self.blocks.push(Block::Line(text));
    }

    pub fn blank(&mut self) {
        self.line(Text::default());
    }

    /// Adds a marked sentence; further lines are aligned with its words.
    pub fn sentence(&mut self, mark: Mark, text: impl AsRef<str>) {
        self.marked(mark, Text::new(text));
    }

    /// Adds a mark and a text with looks.
    pub fn marked(&mut self, mark: Mark, text: Text) {
        let mut marked = Text::default().mark(mark).plain(" ");
        marked.append(text);
        self.hanging(0, 2, marked);
    }

    /// Adds wrapped text; further lines have the same indent.
    pub fn prose(&mut self, indent: usize, text: Text) {
        self.hanging(indent, 0, text);
    }

    /// Adds wrapped text whose further lines are indented by `hanging` more columns.
    pub fn hanging(&mut self, indent: usize, hanging: usize, text: Text) {
        self.blocks.push(Block::Prose { indent, hanging, text });
    }

    /// Adds the lines of another screen.
    pub fn append(&mut self, screen: Self) {
        self.blocks.extend(screen.blocks);
    }

    /// Adds texts under a label of 12 columns. Each is wrapped.
    pub fn label(&mut self, label: &str, texts: impl IntoIterator<Item = Text>) {
        self.labeled(0, LABEL, label, texts);
    }

    /// Adds texts under a label of `width` columns at an indent.
    pub fn labeled(
        &mut self,
        indent: usize,
        width: usize,
        label: &str,
        texts: impl IntoIterator<Item = Text>,
    ) {
        for (at, text) in texts.into_iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let gap = if crate::width(label) < width { "" } else { " " };
            let mut line = Text::new(format!("{label:<width$}{gap}"));
            line.append(text);
            self.hanging(indent, width, line);
        }
    }

    /// Adds commands under a label, with their purposes in a column. Commands are never wrapped.
    pub fn commands<'a>(
        &mut self,
        label: &str,
        commands: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let commands: Vec<_> = commands.into_iter().collect();
        let longest = commands.iter().filter(|(_, purpose)| !purpose.is_empty());
        let longest = longest.map(|(command, _)| crate::width(command)).max().unwrap_or(0);
        for (at, (command, purpose)) in commands.into_iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let line = Text::new(format!("{label:<LABEL$}")).bold(command);
            self.line(match purpose {
                "" => line,
                purpose => {
                    let gap = longest.saturating_sub(crate::width(command)) + 3;
                    line.plain(" ".repeat(gap)).plain(purpose)
                }
            });
        }
    }

    /// Adds a line with a text at its start and another at the end of the terminal.
    pub fn ends(&mut self, start: Text, end: Text) {
        self.blocks.push(Block::Ends(start, end));
    }

    /// Adds a line across the terminal with a caption.
    pub fn rule(&mut self, caption: &str) {
        self.blocks.push(Block::Rule(caption.to_owned()));
    }

    pub fn table(&mut self, table: Table) {
        self.indented_table(0, table);
    }

    pub fn indented_table(&mut self, indent: usize, table: Table) {
        self.blocks.push(Block::Table { indent, table });
    }

    /// Renders the lines for a style. Only commands and evidence may be wider than the terminal.
    pub fn render(&self, style: &Style) -> String {
        let mut lines = Vec::new();
        for block in &self.blocks {
            match block {
                Block::Line(text) => lines.push(text.render(style)),
                Block::Prose { indent, hanging, text } => {
                    lines.extend(prose(*indent, *hanging, text, style));
                }
                Block::Ends(start, end) => lines.extend(ends(start, end, style)),
                Block::Rule(caption) => lines.push(rule(caption, style)),
                Block::Table { indent, table } => {
                    let inner = Style {
                        width: style.width.map(|width| width.saturating_sub(*indent)),
                        ..*style
                    };
                    let space = " ".repeat(*indent);
                    lines.extend(
                        table.render(&inner).into_iter().map(|line| format!("{space}{line}")),
                    );
                }
            }
        }
        let mut text = String::new();
        for line in &lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

fn prose(indent: usize, hanging: usize, text: &Text, style: &Style) -> Vec<String> {
    let space = " ".repeat(indent);
    let Some(width) = style.width else {
        return vec![format!("{space}{}", text.render(style))];
    };
    let first = width.min(PROSE).saturating_sub(indent);
    if text.width(style) <= first {
        return vec![format!("{space}{}", text.render(style))];
    }
    let (head, body) = text.split(hanging);
    let rest = first.saturating_sub(hanging);
    let continued = " ".repeat(indent + hanging);
    let lines = body.wrap(rest, style);
    let start = std::iter::once(format!("{space}{}", head.render(style)));
    let others = std::iter::repeat(continued);
    start.chain(others).zip(lines).map(|(before, line)| before + &line.render(style)).collect()
}

/// Renders both texts on one line if they fit, else the second at the end of the next line.
fn ends(start: &Text, end: &Text, style: &Style) -> Vec<String> {
    let used = start.width(style) + end.width(style);
    let join =
        |gap: usize| format!("{}{}{}", start.render(style), " ".repeat(gap), end.render(style));
    match style.width {
        None => vec![join(2)],
        Some(width) if used + 2 <= width => vec![join(width - used)],
        Some(width) => {
            let content = start.content();
            let indent = content.chars().take_while(|c| c.is_ascii_digit() || *c == ' ');
            let mut lines = prose(0, indent.count(), start, style);
            let gap = " ".repeat(width.saturating_sub(end.width(style)));
            lines.push(gap + &end.render(style));
            lines
        }
    }
}

fn rule(caption: &str, style: &Style) -> String {
    let start = format!(" ── {caption} ");
    let used = crate::width(&start);
    let width = style.width.unwrap_or(used + 2);
    adapt(&(start + &"─".repeat(width.saturating_sub(used))), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    const NARROW: Style = Style { width: Some(30), ..Style::PIPE };

    #[test]
    fn sentences_wrap_with_a_hanging_indent() {
        let mut screen = Screen::default();
        screen.sentence(Mark::Bad, "Image 202601.27.0 fails on 37 of 37 nodes.");
        assert_eq!(screen.render(&NARROW), "✗ Image 202601.27.0 fails on\n  37 of 37 nodes.\n");
        assert_eq!(screen.render(&Style::PIPE), "✗ Image 202601.27.0 fails on 37 of 37 nodes.\n");
    }

    #[test]
    fn sentences_wrap_at_100_columns_on_wide_terminals() {
        let mut screen = Screen::default();
        screen.sentence(Mark::Good, "word ".repeat(30).trim_end());
        let text = screen.render(&Style { width: Some(200), ..Style::PIPE });
        assert_eq!(text.lines().next().unwrap().chars().count(), 96);
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn labels_take_twelve_columns() {
        let mut screen = Screen::default();
        screen.label("Read", [Text::new("cluster now, record 4 s old"), Text::new("b")]);
        assert_eq!(
            screen.render(&NARROW),
            "Read        cluster now,\n            record 4 s old\n            b\n"
        );
        let mut screen = Screen::default();
        screen.labeled(4, 10, "code", [Text::new("232")]);
        assert_eq!(screen.render(&NARROW), "    code      232\n");
        let mut screen = Screen::default();
        screen.label("In production", [Text::new("37 of 37 nodes on it")]);
        assert_eq!(screen.render(&NARROW), "In production 37 of 37 nodes\n            on it\n");
    }

    #[test]
    fn hanging_text_is_aligned_after_its_head() {
        let mut other = Screen::default();
        other.hanging(2, 5, Text::new("yes  nodes are missing, 2 of 3 are Ready"));
        let mut screen = Screen::default();
        screen.append(other);
        assert_eq!(screen.render(&NARROW), "  yes  nodes are missing, 2 of\n       3 are Ready\n");
    }

    #[test]
    fn commands_are_aligned_and_never_wrapped() {
        let mut screen = Screen::default();
        screen.commands("Next", [("mooring why default", "groups"), ("mooring doctor", "")]);
        assert_eq!(
            screen.render(&NARROW),
            "Next        mooring why default   groups\n            mooring doctor\n"
        );
    }

    #[test]
    fn ends_and_rules_fill_the_line() {
        let mut screen = Screen::default();
        screen.ends(Text::new("prod"), Text::new("09:14 UTC"));
        screen.rule("undone by abort");
        screen.blank();
        let text = screen.render(&NARROW);
        assert_eq!(text, "prod                 09:14 UTC\n ── undone by abort ──────────\n\n");
        assert!(
            screen.render(&Style::PIPE).starts_with("prod  09:14 UTC\n ── undone by abort ──\n")
        );
        let mut long = Screen::default();
        long.ends(Text::new("37  the node image has no oras"), Text::new("OrasBinaryMissing"));
        assert_eq!(
            long.render(&NARROW),
            "37  the node image has no oras\n             OrasBinaryMissing\n"
        );
        let ascii = Style { unicode: false, ..NARROW };
        assert!(screen.render(&ascii).contains(" -- undone by abort ----------\n"));
    }

    #[test]
    fn tables_have_an_indent() {
        let mut table = Table::new([Column::left("A")]);
        table.row([Text::new("b")]);
        let mut screen = Screen::default();
        screen.indented_table(2, table);
        assert_eq!(screen.render(&NARROW), "  A\n  b\n");
    }
}
