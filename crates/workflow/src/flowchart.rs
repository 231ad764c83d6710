//! Steps as a Mermaid diagram.

use std::fmt::Write as _;

use mooring_redact::printable;

/// One box under the other, numbered from 1.
pub fn flowchart(boxes: impl IntoIterator<Item = String>) -> String {
    let mut text = "flowchart TD\n".to_owned();
    let mut arrows = String::new();
    for (number, label) in (1..).zip(boxes) {
        let label: Vec<String> = label.split(BREAK).map(quoted).collect();
        let _ = writeln!(text, "    s{number}[\"{number}. {}\"]", label.join(BREAK));
        if number > 1 {
            let _ = writeln!(arrows, "    s{} --> s{number}", number - 1);
        }
    }
    text + &arrows
}

/// A line break in a label.
const BREAK: &str = "<br/>";

/// Text of a label that neither ends it nor is markup.
fn quoted(text: &str) -> String {
    let text = printable(text).replace(['"', '`'], "'");
    text.replace('<', "#lt;").replace('>', "#gt;")
}
