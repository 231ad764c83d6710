//! Self-contained HTML pages: one file, no script, nothing to load, light and dark.

use std::fmt::Write as _;

use crate::escape::escape;

const STYLE: &str = include_str!("page.css");

/// Hatches that the charts of a page share. Colours never carry meaning alone.
const PATTERNS: &str = r#"<svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="7" height="7"/><rect class="hatch-line" width="3" height="7"/></pattern></defs></svg>"#;

/// A page that grows section by section.
///
/// Titles and headings are text and are escaped; the content of a section is HTML of the caller's making.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    lead: String,
    sections: Vec<(String, String)>,
    footer: String,
}

impl Page {
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            lead: String::new(),
            sections: Vec::new(),
            footer: format!("Made by mooring {}.", env!("CARGO_PKG_VERSION")),
        }
    }

    /// HTML between the title and the first section.
    #[must_use]
    pub fn lead(mut self, html: &str) -> Self {
        self.lead.push_str(html);
        self
    }

    /// One more section; without a heading if that is empty.
    #[must_use]
    pub fn section(mut self, heading: &str, html: &str) -> Self {
        self.sections.push((heading.to_owned(), html.to_owned()));
        self
    }

    /// Text at the end, in place of the program's name.
    #[must_use]
    pub fn footer(mut self, text: &str) -> Self {
        text.clone_into(&mut self.footer);
        self
    }

    pub fn finish(&self) -> String {
        let title = escape(&self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{PATTERNS}\n<main>\n\
             <h1>{title}</h1>\n{}",
            self.lead
        );
        for (heading, content) in &self.sections {
            html.push_str("<section>\n");
            if !heading.is_empty() {
                let _ = writeln!(html, "<h2>{}</h2>", escape(heading));
            }
            let _ = write!(html, "{content}\n</section>\n");
        }
        let _ =
            write!(html, "</main>\n<footer>{}</footer>\n</body>\n</html>\n", escape(&self.footer));
        html
    }
}

/// How a message in a box is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Good,
    Bad,
    Plain,
}

/// A box with a headline and HTML below it.
pub fn notice(mood: Mood, headline: &str, html: &str) -> String {
    let (class, sign) = match mood {
        Mood::Good => ("good", "✓ "),
        Mood::Bad => ("bad", "✗ "),
        Mood::Plain => ("plain", ""),
    };
    format!(
        "<div class=\"notice {class}\"><p class=\"headline\">{sign}{}</p>{html}</div>\n",
        escape(headline)
    )
}

/// Short facts side by side: name, value, and a remark below it.
pub fn facts(facts: &[(&str, String, String)]) -> String {
    let mut html = String::from("<dl class=\"facts\">\n");
    for (name, value, remark) in facts {
        let _ = writeln!(
            html,
            "<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>",
            escape(name),
            escape(value),
            escape(remark)
        );
    }
    html.push_str("</dl>\n");
    html
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Text, to the left.
    Text(String),
    /// A number with its unit, to the right.
    Number(String),
    /// A name in a programmer's type.
    Code(String),
    /// HTML of the caller's making.
    Html(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A table with a caption that says what it shows; both may scroll sideways on a small screen.
pub fn table(caption: &str, headings: &[&str], rows: &[Vec<Cell>]) -> String {
    let mut html = format!(
        "<div class=\"scroll\"><table>\n<caption>{}</caption>\n<thead><tr>",
        escape(caption)
    );
    for (column, heading) in headings.iter().enumerate() {
        let is_number =
            rows.first().is_some_and(|row| matches!(row.get(column), Some(Cell::Number(_))));
        let class = if is_number { " class=\"number\"" } else { "" };
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escape(heading));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for cell in row {
            let _ = match cell {
                Cell::Text(text) => write!(html, "<td>{}</td>", escape(text)),
                Cell::Number(text) => write!(html, "<td class=\"number\">{}</td>", escape(text)),
                Cell::Code(text) => write!(html, "<td><code>{}</code></td>", escape(text)),
                Cell::Html(inner) => write!(html, "<td>{inner}</td>"),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
}
