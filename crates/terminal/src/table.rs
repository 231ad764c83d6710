//! Tables whose columns are dropped by rank if they do not fit.

use crate::style::Style;
use crate::text::Text;
use crate::wrap::{truncate_end, truncate_middle};

const GAP: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

/// Part of a cell that is replaced with `…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truncation {
    Middle,
    End,
}

/// A column. The one with the highest rank is dropped first; rank 0 is never dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    head: &'static str,
    align: Align,
    rank: u8,
    /// The least columns to which cells may be truncated.
    min: Option<usize>,
    truncation: Truncation,
    /// Shown only with `-o wide` or on a wide terminal.
    is_extra: bool,
}

impl Column {
    pub const fn left(head: &'static str) -> Self {
        Self {
            head,
            align: Align::Left,
            rank: 0,
            min: None,
            truncation: Truncation::Middle,
            is_extra: false,
        }
    }

    pub const fn right(head: &'static str) -> Self {
        Self { align: Align::Right, ..Self::left(head) }
    }

    #[must_use]
    pub const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Allows to truncate names in the middle, to this many columns. Codes, causes, images and evidence are never truncated.
    #[must_use]
    pub const fn truncated(self, min: usize) -> Self {
        Self { min: Some(min), ..self }
    }

    /// Allows to drop words at the end of sentences, to this many columns.
    #[must_use]
    pub const fn shortened(self, min: usize) -> Self {
        Self { min: Some(min), truncation: Truncation::End, ..self }
    }

    /// Shows the column only with `-o wide`, or on a terminal of 100 columns and more.
    #[must_use]
    pub const fn extra(self) -> Self {
        Self { is_extra: true, ..self }
    }

    fn truncate(&self, cell: &Text, width: usize) -> Text {
        let content = cell.content();
        cell.with_content(&match self.truncation {
            Truncation::Middle => truncate_middle(&content, width),
            Truncation::End => truncate_end(&content, width),
        })
    }
}

/// From this width, a terminal shows extra columns.
const WIDE: usize = 100;

/// Rows of cells under columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Text>>,
    has_heads: bool,
    is_wide: bool,
}

impl Table {
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        let columns = columns.into_iter().collect();
        Self { columns, rows: Vec::new(), has_heads: true, is_wide: false }
    }

    /// `--no-headers`.
    #[must_use]
    pub fn without_heads(self) -> Self {
        Self { has_heads: false, ..self }
    }

    /// `-o wide`: shows every column, also beyond the width of the terminal.
    #[must_use]
    pub fn wide(self, is_wide: bool) -> Self {
        Self { is_wide, ..self }
    }

    /// Adds a row. Missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Text>) {
        let mut cells: Vec<Text> = cells.into_iter().collect();
        cells.resize(self.columns.len(), Text::default());
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn render(&self, style: &Style) -> Vec<String> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        if !self.is_wide && style.width.is_none_or(|width| width < WIDE) {
            shown.retain(|at| !self.columns[*at].is_extra);
        }
        let mut widths: Vec<usize> =
            (0..self.columns.len()).map(|at| self.width(at, style)).collect();
        if let (Some(width), false) = (style.width, self.is_wide) {
            self.drop_columns(&mut shown, &widths, width);
            self.truncate(&shown, &mut widths, width);
        }
        let heads = self.columns.iter().map(|column| Text::new(column.head)).collect();
        let heads: Option<&Vec<Text>> = self.has_heads.then_some(&heads);
        heads
            .into_iter()
            .chain(&self.rows)
            .map(|row| self.line(row, &shown, &widths, style))
            .collect()
    }

    fn width(&self, at: usize, style: &Style) -> usize {
        let head = if self.has_heads { self.columns[at].head.len() } else { 0 };
        self.rows.iter().map(|row| row[at].width(style)).max().unwrap_or(0).max(head)
    }

    fn drop_columns(&self, shown: &mut Vec<usize>, widths: &[usize], width: usize) {
        while total(shown, widths) > width {
            // The last one of the highest rank.
            let last = shown.iter().enumerate().max_by_key(|(_, at)| self.columns[**at].rank);
            let Some((last, _)) = last.filter(|(_, at)| self.columns[**at].rank > 0) else {
                return;
            };
            shown.remove(last);
        }
    }

    /// Shortens the longest names until the table fits.
    fn truncate(&self, shown: &[usize], widths: &mut [usize], width: usize) {
        while total(shown, widths) > width {
            let names = shown.iter().copied().filter(|at| {
                self.columns[*at]
                    .min
                    .is_some_and(|min| widths[*at] > min.max(self.columns[*at].head.len()))
            });
            let Some(longest) = names.max_by_key(|at| widths[*at]) else { return };
            widths[longest] -= 1;
        }
    }

    fn line(&self, row: &[Text], shown: &[usize], widths: &[usize], style: &Style) -> String {
        let mut line = String::new();
        let mut padding = 0;
        for at in shown {
            let cell = &row[*at];
            let cell = if cell.width(style) > widths[*at] {
                self.columns[*at].truncate(cell, widths[*at])
            } else {
                cell.clone()
            };
            let free = widths[*at].saturating_sub(cell.width(style));
            let (before, after) = match self.columns[*at].align {
                Align::Left => (0, free),
                Align::Right => (free, 0),
            };
            if cell.is_empty() {
                padding += before + after + GAP;
            } else {
                line.push_str(&" ".repeat(padding + before));
                line.push_str(&cell.render(style));
                padding = after + GAP;
            }
        }
        line
    }
}

fn total(shown: &[usize], widths: &[usize]) -> usize {
    let gaps = GAP * shown.len().saturating_sub(1);
    shown.iter().map(|at| widths[*at]).sum::<usize>() + gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Mark;

    fn table() -> Table {
        let mut table = Table::new([
            Column::left("POOL").truncated(6),
            Column::left("KIND").extra(),
            Column::right("READY"),
            Column::left("LAST").rank(2),
            Column::left("IMAGE").rank(1),
        ]);
        let cells = ["a-pool-with-a-long-name", "NodePool", "84", "09:13", "202601.27.0"];
        table.row(cells.map(Text::new));
        table.row([Text::new("b"), Text::default(), Text::marked(Mark::Good, "7")]);
        table
    }

    fn at(width: usize) -> Vec<String> {
        table().render(&Style { width: Some(width), ..Style::PIPE })
    }

    #[test]
    fn wide_terminals_show_every_column() {
        assert_eq!(
            at(100),
            [
                "POOL                     KIND      READY  LAST   IMAGE",
                "a-pool-with-a-long-name  NodePool     84  09:13  202601.27.0",
                "b                                    ✓ 7",
            ]
        );
        assert_eq!(table().wide(true).render(&Style { width: Some(10), ..Style::PIPE }), at(100));
    }

    #[test]
    fn columns_are_dropped_by_rank_and_then_names_are_truncated() {
        assert_eq!(at(60)[1], "a-pool-with-a-long-name     84  09:13  202601.27.0");
        assert_eq!(at(46)[0], "POOL                     READY  IMAGE");
        assert_eq!(at(31)[0], "POOL                     READY");
        assert_eq!(at(20)[1], "a-pool…g-name     84");
        assert_eq!(at(4)[1], "a-p…me     84", "not below the minimum");
    }

    #[test]
    fn sentences_lose_words_at_their_end() {
        let mut table = Table::new([Column::left("CODE"), Column::left("MEANING").shortened(12)]);
        table.row([Text::new("50"), Text::new("the node could not connect")]);
        let at = |width| table.render(&Style { width: Some(width), ..Style::PIPE });
        assert_eq!(at(40)[1], "50    the node could not connect");
        assert_eq!(at(24)[1], "50    the node could…");
        assert_eq!(at(10)[1], "50    the node…", "not below the minimum");
    }

    #[test]
    fn pipe_is_never_truncated_and_heads_are_optional() {
        let lines = table().without_heads().render(&Style::PIPE);
        assert_eq!(lines[0], "a-pool-with-a-long-name   84  09:13  202601.27.0");
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn colors_do_not_change_widths() {
        let style = Style { width: Some(100), color: true, ..Style::PIPE };
        let lines = table().render(&style);
        assert_eq!(lines[2].replace("\x1b[32m", "").replace("\x1b[0m", ""), at(100)[2]);
    }
}
