//! Fields and enums of protobuf definitions.

use std::collections::BTreeSet;

use crate::upstream::found::Facts;

/// Returns each field as `Message.field` with number, JSON name, type and label, and each enum value with its number.
pub(super) fn facts(texts: &[&str]) -> Facts {
    let statements: Vec<Statement> = texts.iter().flat_map(|text| read(text)).collect();
    let enums: BTreeSet<&str> = statements
        .iter()
        .filter(|statement| statement.block == "enum")
        .map(|statement| statement.owner.as_str())
        .collect();
    statements.iter().filter_map(|statement| fact(statement, &enums)).collect()
}

/// One statement of a block.
struct Statement {
    /// `message` or `enum`.
    block: String,
    owner: String,
    text: String,
}

fn read(text: &str) -> Vec<Statement> {
    let text = without_comments(text);
    let mut statements = Vec::new();
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    for (end, mark) in text.match_indices(['{', '}', ';']) {
        let words: Vec<&str> = text[at..end].split_ascii_whitespace().collect();
        match (mark, &words[..], blocks.last()) {
            ("{", [block, owner], _) => blocks.push(((*block).to_owned(), (*owner).to_owned())),
            ("{", ..) => blocks.push((String::new(), String::new())),
            ("}", ..) => drop(blocks.pop()),
            (_, words, Some((block, owner))) => statements.push(Statement {
                block: block.clone(),
                owner: owner.clone(),
                text: words.join(" "),
            }),
            _ => {}
        }
        at = end + 1;
    }
    statements
}

fn without_comments(text: &str) -> String {
    let mut blocks = text.split("/*");
    let mut kept = blocks.next().unwrap_or_default().to_owned();
    for block in blocks {
        kept.push_str(block.split_once("*/").map_or("", |(_, rest)| rest));
    }
    let lines = kept.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn fact(statement: &Statement, enums: &BTreeSet<&str>) -> Option<(String, String)> {
    let Statement { block, owner, text } = statement;
    let (left, right) = text.split_once('=')?;
    let (number, options) = right.split_once('[').unwrap_or((right, ""));
    let number: u32 = number.trim().parse().ok()?;
    let (kind, name) = left.trim().rsplit_once(' ').unwrap_or(("", left.trim()));
    if block == "enum" {
        return Some((format!("{owner}.{name}"), number.to_string()));
    }
    let (label, kind) = match kind.split_once(' ') {
        Some(("optional", kind)) => ("optional", kind),
        Some(("repeated", kind)) => ("repeated", kind),
        _ => match kind.strip_prefix("map<").and_then(|map| map.strip_suffix('>')) {
            Some(map) => ("map", map.rsplit(',').next().unwrap_or_default().trim()),
            None => ("implicit", kind),
        },
    };
    let is_message = kind.starts_with(|first: char| first.is_ascii_uppercase());
    let (label, kind) = match (label, kind) {
        (label, kind) if enums.contains(kind) => (label, format!("enum:{kind}")),
        // The absence of a message is always known.
        ("implicit", kind) if is_message => ("optional", format!("message:{kind}")),
        (label, kind) if is_message => (label, format!("message:{kind}")),
        (label, kind) => (label, kind.to_owned()),
    };
    let typed = options.split_once("json_name").and_then(|(_, rest)| rest.split('"').nth(1));
    let json_name = typed.map_or_else(|| camel_case(name), str::to_owned);
    Some((format!("{owner}.{name}"), format!("{number} {json_name} {kind} {label}")))
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut joined = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        joined.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
    }
    joined
}
