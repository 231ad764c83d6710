//! Steps as a Mermaid diagram.

use std::fmt::Write as _;

use mooring_redact::printable;

/// Returns boxes in one column, numbered from 1.
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

const BREAK: &str = "<br/>";

/// Escapes text that would end a label or be markup.
fn quoted(text: &str) -> String {
    let text = printable(text).replace(['"', '`'], "'");
    text.replace('<', "#lt;").replace('>', "#gt;")
}

#[cfg(test)]
mod tests {
    use super::flowchart;

    #[test]
    fn boxes_are_numbered_connected_and_escaped() {
        let boxes = ["snapshot<br/>0:02", "a \"b\" `c` <d>", "end"].map(str::to_owned);
        let want = "flowchart TD\n    s1[\"1. snapshot<br/>0:02\"]\n    s2[\"2. a 'b' 'c' #lt;d#gt;\"]\n    \
                    s3[\"3. end\"]\n    s1 --> s2\n    s2 --> s3\n";
        assert_eq!(flowchart(boxes), want);
        assert_eq!(flowchart([]), "flowchart TD\n");
    }
}
