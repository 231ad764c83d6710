//! What an output claims, as comparable lines: good news (healthy, none, 0) and alarms.
//!
//! Nothing here knows a screen: cells of tables are named by their row and column, members of documents by their path.

use std::collections::BTreeSet;

use serde_json::Value;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Claims {
    pub(super) good: BTreeSet<String>,
    pub(super) alarms: BTreeSet<String>,
}

/// Words that are good news alone.
const GOOD: &[&str] = &["healthy", "none", "nothing"];
/// Phrases that are good news.
const GOOD_PHRASES: &[&str] =
    &["not running", "not wedged", "not installed", "is ready", "are ready"];
/// Words after `no` and `0` of what is not a fact of a cluster.
const NEUTRAL: &[&str] = &[
    "answer",
    "permission",
    "response",
    "longer",
    "secrets",
    "checks",
    "warnings",
    "warning",
    "s",
    "min",
    "KiB",
    "old",
    "file",
];
/// Phrases about what was not read.
const UNKNOWN: &[&str] = &[
    "known",
    "not read",
    "be read",
    "that was read",
    "not checked",
    "not asked",
    "not be determined",
];
/// Values of members that are good news.
const GOOD_VALUES: &[&str] = &["healthy", "ok", "ready", "not-running", "not-wedged", "none"];
/// Values of members that are alarms.
const ALARM_VALUES: &[&str] =
    &["degraded", "failing", "failed", "image-fails", "late", "not-ready", "suspected", "wedged"];
/// Members about the document, the reads and the checks themselves, and times of spans.
const OWN: &[&str] = &[
    "cluster",
    "dur",
    "events",
    "generatedAt",
    "lacks",
    "next",
    "ok",
    "sources",
    "usedBy",
    "warnings",
];

impl Claims {
    pub(super) fn of_document(document: &Value) -> Self {
        let mut claims = Self::default();
        claims.add_value("", document);
        claims
    }

    pub(super) fn of_text(text: &str) -> Self {
        let mut claims = Self::default();
        let mut heads: Vec<&str> = Vec::new();
        for line in text.lines() {
            let line = line.trim_end();
            let cells = cells(line);
            if is_head(&cells) {
                heads = cells;
            } else if heads.len() > 1 && heads.len() == cells.len() {
                let row = normalize(cells[0]);
                for (head, cell) in heads.iter().zip(&cells) {
                    claims.add_cell(&format!("{row} {}: ", head.to_uppercase()), cell);
                }
            } else {
                heads.clear();
                let label =
                    if cells.len() == 2 { format!("{}: ", cells[0]) } else { String::new() };
                for cell in cells {
                    claims.add_cell(&label, cell);
                }
            }
        }
        claims
    }

    pub(super) fn of_html(html: &str) -> Self {
        Self::of_text(&text_of(html))
    }

    /// Adds the claims of a cell or a line.
    fn add_cell(&mut self, label: &str, cell: &str) {
        if cell.contains('✗') {
            self.alarms.insert(format!("{label}{}", normalize(cell)));
        }
        let is_zero = normalize(cell).split(' ').next() == Some("0");
        let is_marked = cell.len() > '✓'.len_utf8() && cell.starts_with('✓');
        if !label.is_empty() && is_zero {
            self.good.insert(format!("{label}{}", normalize(cell)));
        }
        if is_marked && !is_unknown(cell) {
            let items = cell.strip_prefix("✓ ok: ").map(|items| items.split(", "));
            let each = items.into_iter().flatten().map(|item| format!("✓ ok: {item}"));
            self.good.extend(each.map(|item| normalize(&item)));
            if !cell.starts_with("✓ ok: ") {
                self.good.insert(format!("{label}{}", normalize(cell)));
            }
        }
        for phrase in phrases(cell).filter(|phrase| is_good(phrase)) {
            // The mark is about all that a line says.
            let phrase = phrase.trim_start_matches(['✓', '!', '✗', '–', ' ']);
            self.good.insert(normalize(phrase.trim_end_matches('.')));
        }
    }

    fn add_value(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members.iter().filter(|(name, _)| !OWN.contains(&&***name)) {
                    self.add_value(&format!("{path}.{name}"), value);
                }
                if value["severity"] == "error" {
                    let message = value["message"].as_str().unwrap_or_default();
                    self.alarms.insert(format!("{path}: {}", normalize(message)));
                }
            }
            Value::Array(items) if items.is_empty() => {
                self.good.insert(format!("{path}: []"));
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let names = ["name", "node", "id", "image", "cause", "kind"];
                    let name = names.iter().find_map(|name| item[name].as_str());
                    let name = name.map_or_else(|| at.to_string(), without_ids);
                    self.add_value(&format!("{path}[{name}]"), item);
                }
            }
            Value::Number(number) if number.as_f64() == Some(0.0) => {
                self.good.insert(format!("{path}: 0"));
            }
            Value::String(text) if GOOD_VALUES.contains(&&**text) => {
                self.good.insert(format!("{path}: {text}"));
            }
            Value::String(text) if ALARM_VALUES.contains(&&**text) => {
                self.alarms.insert(format!("{path}: {text}"));
            }
            Value::String(text) => {
                self.good.extend(phrases(text).filter(|one| is_good(one)).map(normalize));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns the cells of a line: parts that two spaces or a bar separate.
fn cells(line: &str) -> Vec<&str> {
    let parts = line.split("  ").flat_map(|part| part.split(" | "));
    parts.map(|part| part.trim().trim_matches('|').trim()).filter(|part| !part.is_empty()).collect()
}

fn is_head(cells: &[&str]) -> bool {
    let is_name = |cell: &&str| {
        cell.chars().any(char::is_alphabetic) && !cell.chars().any(char::is_lowercase)
    };
    cells.len() > 1 && cells.iter().all(is_name)
}

/// Returns the sentences and members of enumerations.
fn phrases(text: &str) -> impl Iterator<Item = &str> {
    let sentences = text.split(". ").flat_map(|one| one.split("; "));
    let parts = sentences.flat_map(|one| one.split(" · ")).flat_map(|one| one.split(", "));
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn is_unknown(text: &str) -> bool {
    UNKNOWN.iter().any(|unknown| text.contains(unknown))
}

fn is_good(phrase: &str) -> bool {
    let words: Vec<String> = phrase
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    let is_none = |pair: &[String]| {
        (pair[0] == "no" || pair[0] == "0") && !NEUTRAL.contains(&&*pair[1]) && !pair[1].is_empty()
    };
    let is_claim = words.iter().any(|word| GOOD.contains(&&**word))
        || words.windows(2).any(is_none)
        || GOOD_PHRASES.iter().any(|good| phrase.contains(good));
    is_claim && !is_unknown(phrase)
}

/// Hides the number in the name of a scale set, which differs between clusters.
fn without_ids(name: &str) -> String {
    let part = |part: &str| {
        let is_id = part.len() > 4 && part.chars().all(|c| c.is_ascii_digit());
        if is_id { "#".to_owned() } else { part.to_owned() }
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}

/// Hides times, durations, versions, ids and addresses. Counts stay.
pub(super) fn normalize(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        let is_count = bare.chars().all(|c| c.is_ascii_digit() || "/,.;:)".contains(c))
            && !bare[..bare.len().saturating_sub(1)].contains(['.', ':']);
        let is_time = bare.starts_with(|c: char| c.is_ascii_digit()) && !is_count;
        let is_id = bare.len() > 6
            && bare.contains(|c: char| c.is_ascii_digit())
            && bare.trim_end_matches([',', '.', '"']).chars().all(|c| c.is_ascii_hexdigit());
        let is_place = word.contains("127.0.0.1") || word.contains("/tmp/");
        if is_time || is_id || is_place { "#".to_owned() } else { without_ids(word) }
    };
    let words: Vec<String> = text.split_whitespace().map(word).collect();
    let mut shown: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        // `2 min 10 s`
        let unit = words
            .get(at + 1)
            .map_or("", |unit| unit.trim_end_matches(|c: char| !c.is_alphabetic()));
        let is_duration = word.chars().all(|c| c.is_ascii_digit())
            && ["s", "min", "h", "days", "ms", "KiB"].contains(&unit);
        shown.push(if is_duration { "#" } else { word });
    }
    shown.join(" ")
}

/// Returns the text of a page: a row of a table and a term with its value are a line of cells.
fn text_of(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    let mut is_head = false;
    while let Some((before, after)) = rest.split_once('<') {
        let cell = before.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&if is_head { cell.to_uppercase() } else { cell });
        let (tag, after) = after.split_once('>').unwrap_or((after, ""));
        rest = after;
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        match name {
            "style" | "script" => {
                let end = format!("</{name}>");
                rest = rest.split_once(&end).map_or("", |(_, rest)| rest);
            }
            "thead" => is_head = true,
            "/thead" => is_head = false,
            "/td" | "/th" | "/dt" => text.push_str("  "),
            "/tr" | "/dd" | "/p" | "/h1" | "/h2" | "/h3" | "/li" | "/title" | "/section"
            | "/div" | "br" | "/caption" => text.push('\n'),
            _ => text.push(' '),
        }
    }
    let lines = text.lines().map(|line| {
        let cells: Vec<String> = cells(line)
            .iter()
            .map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        cells.join("  ")
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[test]
fn claims_are_found_in_text_documents_and_pages() {
    let good = |claims: Claims| claims.good.into_iter().collect::<Vec<_>>();
    let screen = "demo · last 24h · 4 ready, 0 joining, 2 failed\n\
        POOL     READY  FAILED  STATE\n\
        default    3/5       0  ✓ healthy\n\
        Controller  ✓ 0.2.0, mooring-1 leads\n\
        ! No failures among 5 nodes. Azure was not read.\n\
        ✗ AKS pool system has 0 of 3 nodes.\n";
    let claims = Claims::of_text(screen);
    assert_eq!(
        good(claims.clone()),
        [
            "0 joining",
            "AKS pool system has 0 of 3 nodes",
            "Controller: ✓ # mooring-1 leads",
            "No failures among 5 nodes",
            "default FAILED: 0",
            "default STATE: ✓ healthy",
            "healthy",
        ]
    );
    assert_eq!(claims.alarms.len(), 1);
    let document = serde_json::json!({
        "pools": [{"name": "a", "state": "healthy", "failed": 0, "joining": null}],
        "findings": [], "sources": [{"name": "azure", "state": "failed"}],
        "nodes": [{"name": "n", "state": "failed"}],
    });
    let claims = Claims::of_document(&document);
    assert_eq!(
        good(claims.clone()),
        [".findings: []", ".pools[a].failed: 0", ".pools[a].state: healthy"]
    );
    assert_eq!(claims.alarms.into_iter().collect::<Vec<_>>(), [".nodes[n].state: failed"]);
    let page = "<title>✓ demo</title><dl><div><dt>Joining</dt><dd>0 <small>no node is starting</small></dd></div></dl>\
        <table><thead><tr><th>Pool</th><th>State</th></tr></thead><tr><th>a</th><td><span>healthy</span></td></tr></table>";
    let expected = ["0 no node is starting", "Joining: 0 no node is starting", "healthy", "✓ demo"];
    assert_eq!(good(Claims::of_html(page)), expected);
}
