//! Terminal output: permanent lines, and on a terminal one line that changes.

use std::io::Write;
use std::time::Duration;

use super::wrap::{hanging, wrapped};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoStyle {
    /// Standard output is a terminal: a line may be replaced.
    pub terminal: bool,
    /// Colors are allowed. They are never the only sign.
    pub color: bool,
    /// Maximum width of a line.
    pub width: usize,
}

impl DemoStyle {
    /// Returns the style for an output with this many columns, or a pipe.
    pub fn new(columns: Option<usize>, color: bool) -> Self {
        let width = columns.unwrap_or(PIPE_WIDTH).clamp(MIN_WIDTH, MAX_WIDTH);
        let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self { terminal: columns.is_some() && !is_dumb, color, width }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DemoMark {
    Good,
    Bad,
    Note,
    Struck,
}

/// Widths of a line, also for wide and narrow terminals, and for a pipe.
const MAX_WIDTH: usize = 112;
const MIN_WIDTH: usize = 40;
const PIPE_WIDTH: usize = 100;
/// Columns before the text of a line that has a sign.
const INDENT: usize = 5;

/// `0.4 s`, `12.3 s`, `1 min 5 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        whole => format!("{} min {} s", whole / 60, whole % 60),
    }
}

pub struct Output {
    out: Box<dyn Write + Send>,
    style: DemoStyle,
    /// A line that will be replaced.
    changing: Option<String>,
}

impl Output {
    pub fn new(out: Box<dyn Write + Send>, style: DemoStyle) -> Self {
        Self { out, style, changing: None }
    }

    /// A closed pipe does not stop the demo.
    fn write(&mut self, text: &str) {
        let clear = if self.changing.take().is_some() { "\r\x1b[K" } else { "" };
        let _ = write!(self.out, "{clear}{text}").and_then(|()| self.out.flush());
    }

    pub(crate) fn plain(&mut self, text: &str) {
        self.write(&format!("{}\n", wrapped(text, self.style.width, 0).join("\n")));
    }

    pub(crate) fn heading(&mut self, number: usize, title: &str) {
        let title = wrapped(&format!("{number}  {title}"), self.style.width, 3).join("\n");
        let title = self.style.paint("1", &title);
        self.write(&format!("\n{title}\n"));
    }

    pub(crate) fn print(&mut self, mark: DemoMark, text: &str) {
        let sign = match mark {
            DemoMark::Good => self.style.paint("32", "✓"),
            DemoMark::Bad => self.style.paint("31", "✗"),
            DemoMark::Note => self.style.paint("2", "·"),
            DemoMark::Struck => self.style.paint("33", "!"),
        };
        self.write(&format!(
            "   {sign} {}\n",
            wrapped(text, self.style.width - INDENT, INDENT).join("\n")
        ));
    }

    /// Prints a command as it was run; its output follows as a [`Self::quote`].
    pub(crate) fn command(&mut self, text: &str) {
        // Two columns for the backslash that continues a line.
        let lines = wrapped(&format!("$ {text}"), self.style.width - INDENT - 2, INDENT);
        let command = self.style.paint("36", &lines.join(" \\\n"));
        self.write(&format!("   {command}\n"));
    }

    /// Indents the output of a command. Lines may be wrapped, cut or omitted, but not changed.
    pub(crate) fn quote(&mut self, text: &str) {
        let bar = self.style.paint("2", "│");
        let room = self.style.width - INDENT;
        let lines =
            text.trim_end().lines().flat_map(|line| wrapped(line, room, hanging(line, room)));
        let lines = lines.map(|line| format!("   {bar} {line}\n"));
        self.write(&lines.collect::<String>());
    }

    /// Columns of a line that starts with a sign.
    pub(crate) fn room(&self) -> usize {
        self.style.width - INDENT
    }

    /// Shows progress; only on a terminal.
    pub(crate) fn now(&mut self, text: &str) {
        if !self.style.terminal {
            return;
        }
        // A wrapped line cannot be replaced.
        let text: String = text.chars().take(self.room()).collect();
        let text = self.style.paint("2", &format!("   … {text}"));
        if self.changing.as_ref() != Some(&text) {
            self.write(&text);
            self.changing = Some(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    const PIPE: DemoStyle = DemoStyle { terminal: false, color: false, width: PIPE_WIDTH };

    #[derive(Clone, Default)]
    struct TestOutput(Arc<Mutex<Vec<u8>>>);

    impl Write for TestOutput {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn print(style: DemoStyle, write: impl FnOnce(&mut Output)) -> String {
        let heard = TestOutput::default();
        write(&mut Output::new(Box::new(heard.clone()), style));
        let bytes = heard.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn written(style: DemoStyle) -> String {
        print(style, |output| {
            output.heading(1, "A");
            output.now("soon");
            output.now("soon");
            output.print(DemoMark::Good, "done");
        })
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let words = "word ".repeat(30);
        let narrow = DemoStyle { width: MIN_WIDTH, ..PIPE };
        let printed = print(narrow, |output| {
            output.heading(1, &words);
            output.plain(&words);
            output.print(DemoMark::Good, &words);
            output.command(&words);
            output.quote(&format!("  cause     {words}\n{words}"));
        });
        let widest = printed.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(MIN_WIDTH), "{printed}");
    }

    #[test]
    fn a_pipe_gets_plain_lines_and_nothing_that_changes() {
        assert_eq!(written(PIPE), "\n1  A\n   ✓ done\n");
    }

    #[test]
    fn a_changing_line_is_cleared_before_the_next_one() {
        let printed = written(DemoStyle { terminal: true, ..PIPE });
        assert_eq!(printed, "\n1  A\n   … soon\r\x1b[K   ✓ done\n");
    }

    #[test]
    fn durations_are_human_readable() {
        assert_eq!(seconds(Duration::from_millis(440)), "0.4 s");
        assert_eq!(seconds(Duration::from_secs(65)), "1 min 5 s");
    }
}
