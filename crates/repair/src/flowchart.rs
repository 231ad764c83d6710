//! Steps as a Mermaid diagram.

use std::fmt::Write as _;

/// One box under the other, numbered from 1.
pub(crate) fn flowchart(boxes: impl IntoIterator<Item = String>) -> String {
    let mut text = "flowchart TD\n".to_owned();
    let mut arrows = String::new();
    for (number, label) in (1..).zip(boxes) {
        let _ = writeln!(text, "    s{number}[\"{number}. {}\"]", label.replace('"', "'"));
        if number > 1 {
            let _ = writeln!(arrows, "    s{} --> s{number}", number - 1);
        }
    }
    text + &arrows
}
