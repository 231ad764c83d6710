//! An NBC (node bootstrapping configuration) command: the variables that it assigns, and how they differ from those of a
//! node config.
//!
//! The file is a shell one-liner of `NAME="value"` words in front of a command. This scanner is not a shell: it follows the
//! rules of the upstream Go agent, including quirks, because the comparison must have the same result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::format::decode_base64;

/// Variables that hold a secret as a whole.
const SECRETS: [&str; 4] = [
    "CUSTOM_SEARCH_REALM_PASSWORD",
    "KUBELET_CLIENT_CONTENT",
    "SERVICE_PRINCIPAL_FILE_CONTENT",
    "TLS_BOOTSTRAP_TOKEN",
];

/// Variables that hold a proxy's URL, whose user information is a secret.
const PROXY_URLS: [&str; 2] = ["HTTP_PROXY_URLS", "HTTPS_PROXY_URLS"];

/// A variable that holds commands such as `export http_proxy="http://user:password@proxy";`.
const PROXY_COMMANDS: &str = "PROXY_VARS";

fn holds_secret(name: &str) -> bool {
    SECRETS.contains(&name) || PROXY_URLS.contains(&name) || name == PROXY_COMMANDS
}

/// Assignments of an NBC command file, by name; the last assignment to a name counts.
///
/// Some values are secrets, so `Debug` prints names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Assignments {
    values: BTreeMap<String, Vec<u8>>,
    secrets: BTreeSet<Vec<u8>>,
}

impl Assignments {
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// A variable's value, even if it is a secret.
    pub fn expose(&self, name: &str) -> Option<&[u8]> {
        self.values.get(name).map(Vec::as_slice)
    }

    /// Every secret in the file, for redaction.
    ///
    /// More than the final values: secrets that a later assignment replaces, and what a shell would take for a value
    /// where this scanner sees another assignment in the middle (unquoted base64 ending in `ABC=`).
    pub fn expose_secrets(&self) -> impl Iterator<Item = &[u8]> {
        self.secrets.iter().map(Vec::as_slice)
    }

    fn note_secrets(&mut self, name: &str, value: &[u8]) {
        if SECRETS.contains(&name) {
            self.note_secret(value);
        } else if PROXY_URLS.contains(&name) {
            self.note_user_info(value);
        } else if name == PROXY_COMMANDS {
            // Word by word, and command by command in case a password holds a blank or a quote.
            let is_boundary = |byte: &u8| b" \t\n;\"'".contains(byte);
            for word in value.split(is_boundary).chain(split(value, b"export ")) {
                let behind_name = word.iter().position(|&byte| byte == b'=').map_or(0, |at| at + 1);
                self.note_user_info(&word[behind_name..]);
            }
        }
    }

    /// Notes a URL's `user:password`, and the password alone.
    ///
    /// As in [`mooring_redact::ProxyUrl`], everything up to the last `@` counts.
    fn note_user_info(&mut self, url: &[u8]) {
        let from = find(url, b"://").map_or(0, |at| at + 3);
        if let Some(length) = url[from..].iter().rposition(|&byte| byte == b'@') {
            let user_info = &url[from..from + length];
            self.note_secret(user_info);
            if let Some(colon) = user_info.iter().position(|&byte| byte == b':') {
                self.note_secret(&user_info[colon + 1..]);
            }
        }
    }

    fn note_secret(&mut self, secret: &[u8]) {
        if !secret.is_empty() {
            self.secrets.insert(secret.to_vec());
        }
    }
}

impl fmt::Debug for Assignments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Finds the assignments in a file's text, in time linear in its length.
pub fn assignments(text: &[u8]) -> Assignments {
    let mut found = Assignments::default();
    let mut at = 0;
    let mut shell_words_end: BTreeMap<String, usize> = BTreeMap::new();
    while at < text.len() {
        let name_end = at + name_length(&text[at..]);
        if is_delimiter(text[at]) {
            at += 1;
        } else if name_end == at || text.get(name_end) != Some(&b'=') {
            at = Word::read(text, name_end, Until::Delimiter).end;
        } else {
            let name = String::from_utf8_lossy(&text[at..name_end]).into_owned();
            let value = Word::read(text, name_end + 1, Until::NextAssignment);
            if holds_secret(&name) {
                found.note_secrets(&name, &value.text);
                // Not for the same name inside its own word: that would take quadratic time.
                let word_end = shell_words_end.entry(name.clone()).or_default();
                if *word_end <= at {
                    let word = Word::read(text, name_end + 1, Until::Delimiter);
                    *word_end = word.end;
                    found.note_secrets(&name, &word.text);
                }
            }
            at = value.end;
            found.values.insert(name, value.text);
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// At a delimiter outside quotes.
    Delimiter,
    /// There, or where another assignment begins outside quotes.
    NextAssignment,
}

/// A sequence of quoted sections and plain bytes, without its quotes.
struct Word {
    text: Vec<u8>,
    end: usize,
}

impl Word {
    fn read(text: &[u8], start: usize, until: Until) -> Self {
        let mut word = Self { text: Vec::new(), end: start };
        while let Some(&byte) = text.get(word.end) {
            let rest = &text[word.end..];
            let name = name_length(rest).max(1);
            match byte {
                b'"' | b'\'' => word.take_quoted(rest),
                _ if is_delimiter(byte) => break,
                _ if until == Until::NextAssignment && begins_assignment(rest, name) => break,
                // No assignment begins inside a name that does not begin one: all end alike.
                _ => word.take(rest, name),
            }
        }
        word
    }

    fn take(&mut self, rest: &[u8], length: usize) {
        self.text.extend_from_slice(&rest[..length]);
        self.end += length;
    }

    /// A section ends at the next such quote, or else with the text; nothing is escaped.
    fn take_quoted(&mut self, rest: &[u8]) {
        let section = &rest[1..];
        let length = section.iter().position(|&byte| byte == rest[0]).unwrap_or(section.len());
        self.text.extend_from_slice(&section[..length]);
        self.end += (length + 2).min(rest.len());
    }
}

fn begins_assignment(text: &[u8], name_length: usize) -> bool {
    is_name_start(text[0]) && text.get(name_length) == Some(&b'=')
}

/// The length of the `[A-Z_][A-Z0-9_]*` that `text` starts with, or 0.
fn name_length(text: &[u8]) -> usize {
    let continues = |&byte: &u8| is_name_start(byte) || byte.is_ascii_digit();
    match text.first() {
        Some(&first) if is_name_start(first) => {
            text.iter().position(|byte| !continues(byte)).unwrap_or(text.len())
        }
        _ => 0,
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte == b'_'
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';')
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn split<'t>(text: &'t [u8], separator: &'static [u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let at = find(text, separator);
        rest = at.map(|at| &text[at + separator.len()..]);
        Some(&text[..at.unwrap_or(text.len())])
    })
}

/// Variables that only one side sets, or that may differ, by design.
const EXPECTED: [&str; 6] = [
    "BLOCK_OUTBOUND_NETWORK",
    "CLOUD_INIT_STATUS_SCRIPT",
    "HYPERKUBE_URL",
    "MCR_REPOSITORY_BASE",
    "REPO_DEPOT_ENDPOINT",
    "SKIP_WAAGENT_HOLD",
];

/// A variable whose lines may come in any order.
const SYSCTL_CONTENT: &str = "SYSCTL_CONTENT";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigComparison {
    /// The variables on which both sides do not agree, and how.
    pub differences: Vec<String>,
}

impl ConfigComparison {
    pub fn log_message(&self) -> String {
        self.message(
            "env compare: no differences found between provision-config and nbc-cmd env vars",
        )
    }

    pub fn event_message(&self) -> String {
        self.message("env vars match between provision-config and nbc-cmd")
    }

    fn message(&self, if_equal: &str) -> String {
        if self.differences.is_empty() {
            return if_equal.to_owned();
        }
        format!("env var differences ({}): {}", self.differences.len(), self.differences.join("; "))
    }
}

/// Compares what the config's child process would be given with what the NBC file assigns.
///
/// `config` is that child's whole environment, inherited variables included; those with the same
/// value in `inherited` do not count as set by the config.
pub fn compare<'a>(
    config: impl IntoIterator<Item = (&'a str, &'a str)>,
    inherited: impl IntoIterator<Item = (&'a str, &'a str)>,
    nbc: &Assignments,
) -> ConfigComparison {
    let inherited: BTreeMap<&str, &str> = inherited.into_iter().collect();
    let config: BTreeMap<&str, &str> =
        config.into_iter().filter(|(name, value)| inherited.get(name) != Some(value)).collect();

    let names: BTreeSet<&str> = config.keys().copied().chain(nbc.names()).collect();
    let differences = names
        .into_iter()
        .filter_map(|name| {
            let kind = difference(name, config.get(name).copied(), nbc.expose(name))?;
            Some(format!("{kind}: {name}"))
        })
        .collect();
    ConfigComparison { differences }
}

fn difference(name: &str, config: Option<&str>, nbc: Option<&[u8]>) -> Option<&'static str> {
    match (config, nbc) {
        // Reported even where a difference is expected: upstream does, and tests rely on it.
        (Some(_), None) => Some("only-in-pc"),
        _ if EXPECTED.contains(&name) => None,
        (None, Some(_)) => Some("only-in-nbc"),
        (Some(config), Some(nbc)) if !is_equal(name, config.as_bytes(), nbc) => Some("differs"),
        _ => None,
    }
}

fn is_equal(name: &str, config: &[u8], nbc: &[u8]) -> bool {
    if name == SYSCTL_CONTENT
        && let (Some(config), Some(nbc)) = (settings(config), settings(nbc))
    {
        return config == nbc;
    }
    // A shell eats quotes inside quotes, as in `PROXY_VARS="export NO_PROXY="a"; "`.
    let without_quotes = |value: &'_ [u8]| -> Vec<u8> {
        value.iter().copied().filter(|&byte| byte != b'"').collect()
    };
    config == nbc || without_quotes(config) == without_quotes(nbc)
}

/// The `key = value` lines of a base64 text. A later line with the same key replaces an earlier.
fn settings(encoded: &[u8]) -> Option<BTreeMap<String, String>> {
    let decoded = decode_base64(encoded)?;
    let text = String::from_utf8_lossy(&decoded);
    let pairs = text.split('\n').filter_map(|line| line.split_once('='));
    Some(pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect())
}
