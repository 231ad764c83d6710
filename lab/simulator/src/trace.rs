//! Trace of a run: two runs with one seed have the same trace.

use std::fmt::Write as _;

use jiff::Timestamp;

/// Lines of one run. Bounded: the oldest are dropped and counted.
#[derive(Debug, Clone)]
pub struct Trace {
    lines: std::collections::VecDeque<String>,
    kept: usize,
    dropped: u64,
}

impl Trace {
    /// Returns a trace with a maximum number of lines.
    pub fn keeping(kept: usize) -> Self {
        Self { lines: std::collections::VecDeque::new(), kept, dropped: 0 }
    }

    /// Adds a line with the model's time.
    pub fn record(&mut self, now: Timestamp, line: std::fmt::Arguments<'_>) {
        if self.kept == 0 {
            return;
        }
        if self.lines.len() == self.kept {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(format!("{now:.3} {line}"));
    }

    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.dropped > 0 {
            let _ = writeln!(text, "({} earlier lines are not kept)", self.dropped);
        }
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_lines_go_first_and_are_counted() {
        let mut trace = Trace::keeping(2);
        for n in 0..5 {
            trace.record(Timestamp::UNIX_EPOCH, format_args!("line {n}"));
        }
        assert_eq!(
            trace.text(),
            "(3 earlier lines are not kept)\n1970-01-01T00:00:00.000Z line 3\n1970-01-01T00:00:00.000Z line 4\n"
        );
    }
}
