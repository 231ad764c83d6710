//! Golden files of screens: output without what differs between runs.

use std::path::PathBuf;

/// Variable that rewrites golden files.
const REWRITE: &str = "MOORING_WRITE_GOLDEN";

/// Compares a text with a file in `tests/`, or writes the file.
pub(crate) fn assert_golden(file: &str, shown: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    if std::env::var_os(REWRITE).is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, shown).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let hint = format!("hint: `{REWRITE}=1` rewrites the file; read the difference");
    assert_eq!(shown, expected, "{file}\n{hint}");
}

/// Returns what a terminal shows at the end: `\r` with an erased line starts the line again.
pub(crate) fn settle(raw: &str) -> String {
    let text = raw.replace("\r\n", "\n");
    let lines = text.split('\n').map(|line| line.rsplit("\r\u{1b}[K").next().unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Removes colors and links.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = match after.strip_prefix(']') {
            Some(link) => link.split_once("\u{1b}\\").map_or("", |(_, after)| after),
            None => after.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, a)| a),
        };
    }
    plain + rest
}

/// Replaces the digits of times, durations, hashes, ids, ports and temporary names. Widths stay.
pub(crate) fn normalize(text: &str) -> String {
    let mut normal = String::new();
    let mut word = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_alphanumeric() || matches!(character, ':' | '.' | '-' | '_') {
            word.push(character);
            continue;
        }
        normal.push_str(&mask(&std::mem::take(&mut word)));
        normal.push(character);
    }
    normal.pop();
    normal
}

/// Hides the digits before each occurrence of a text.
pub(crate) fn hide_before(text: &str, suffix: &str) -> String {
    let parts: Vec<&str> = text.split(suffix).collect();
    let hidden = |part: &&str| {
        let start = part.trim_end_matches(|c: char| c.is_ascii_digit());
        format!("{start}{}", hide(&part[start.len()..]))
    };
    let (last, before) = parts.split_last().unwrap();
    before.iter().map(|part| hidden(part) + suffix).collect::<String>() + last
}

fn mask(word: &str) -> String {
    let end = word.trim_end_matches(['.', ':']);
    let (core, tail) = word.split_at(end.len());
    if let Some((host, port)) = core.split_once("127.0.0.1:") {
        return format!("{host}127.0.0.1:{}{tail}", hide(port));
    }
    if let Some((before, random)) = core.split_once(".tmp").filter(|(_, name)| name.len() >= 6) {
        return format!("{before}.tmp######{}{tail}", &random[6..]);
    }
    // Nodes that fail at the same time, and the process of a leader.
    for name in ["default-bad", "mooring-"] {
        if core.strip_prefix(name).is_some_and(|rest| rest.bytes().all(|c| c.is_ascii_digit())) {
            return format!("{name}#{tail}");
        }
    }
    let has_digit = core.contains(|c: char| c.is_ascii_digit());
    let units: String = core.chars().filter(|c| !c.is_ascii_digit()).collect();
    if units == "ms" && core.ends_with("ms") {
        return format!("#ms{tail}");
    }
    let is_time = match units.as_str() {
        ":" => core.len() == 5,
        "s" | ".s" | "m" | "ms" | "hm" | "::" | "--" | "--T::Z" | "TZ" => true,
        _ => false,
    };
    let without_dashes: String = core.chars().filter(|c| *c != '-').collect();
    let is_hex = without_dashes.len() >= 12
        && without_dashes.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
    if has_digit && (is_time || is_hex) {
        return hide(core) + tail;
    }
    match core.split_once('.') {
        // The hash of a plan.
        Some((time, hash)) if time.ends_with('Z') && hash.len() >= 12 => {
            format!("{}.{}{tail}", hide(time), hide(hash))
        }
        _ => word.to_owned(),
    }
}

/// Replaces digits, and letters of hexadecimal numbers if there are no others.
fn hide(text: &str) -> String {
    let is_hex = text.chars().all(|c| c.is_ascii_hexdigit() || c == '-') && text.len() >= 12;
    let hidden = |c: char| if c.is_ascii_digit() || (is_hex && c != '-') { '#' } else { c };
    text.chars().map(hidden).collect()
}

#[test]
fn only_what_differs_between_runs_is_hidden() {
    for (text, expected) in [
        ("at 09:14 UTC, 2026-11-17", "at ##:## UTC, ####-##-##"),
        ("in 0.1s, 6m05s old; 24h", "in #.#s, #m##s old; 24h"),
        ("Image 202601.27.0: 37 of 37.", "Image 202601.27.0: 37 of 37."),
        ("plan 7363d57d69b8, step 0:02", "plan ############, step 0:02"),
        ("https://127.0.0.1:40123/x", "https://127.0.0.1:#####/x"),
        ("/tmp/.tmpAb12Cd/sim", "/tmp/.tmp######/sim"),
        ("mooring-18556 leads, 8m ago", "mooring-# leads, #m ago"),
        ("in 84ms, 1m05s", "in #ms, #m##s"),
        ("mooring why default-bad1", "mooring why default-bad#"),
    ] {
        assert_eq!(normalize(text), expected);
    }
    assert_eq!(
        hide_before("37 writes to 3, 2 writes to 4", " writes"),
        "## writes to 3, # writes to 4"
    );
    assert_eq!(settle("waiting: 1s\r\u{1b}[Kdone\r\nnext"), "done\nnext");
    assert_eq!(plain("\u{1b}[1mx\u{1b}[0m \u{1b}]8;;https://x\u{1b}\\y\u{1b}]8;;\u{1b}\\"), "x y");
}
