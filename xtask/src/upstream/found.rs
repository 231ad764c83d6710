//! Facts in the files of a checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::{fmt, fs};

pub(super) const PROTO: &str = "aks-node-controller/proto/aksnodeconfig/v1";
pub(super) const SCRIPTS: &str = "parts/linux/cloud-init/artifacts";
pub(super) const WINDOWS: &str = "parts/windows/windowscsehelper.ps1";
pub(super) const PARSER: &str = "aks-node-controller/parser/parser.go";
pub(super) const LAUNCHER: &str =
    "parts/linux/cloud-init/artifacts/aks-node-controller-launcher.sh";
/// The template whose variables start the scripts of the image.
pub(super) const TEMPLATE: &str = "parts/linux/cloud-init/artifacts/cse_cmd.sh";
/// Where the rest of what we repeat is: the agent, its templates, and scripts that start it or that it starts.
pub(super) const BEHAVIOR: &str = "aks-node-controller";

/// Files of the scripts whose behavior the agent or its tests repeat.
const STARTERS: [&str; 5] = [
    LAUNCHER,
    "parts/linux/cloud-init/artifacts/aks-node-controller.service",
    TEMPLATE,
    "parts/linux/cloud-init/artifacts/cse_main.sh",
    "parts/linux/cloud-init/artifacts/cse_start.sh",
];

/// Texts of a checkout by path, of the parts that are compared.
pub(super) struct Checkout {
    files: BTreeMap<String, String>,
}

impl Checkout {
    pub(super) fn read(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        for part in [BEHAVIOR, SCRIPTS, WINDOWS] {
            read_below(root, Path::new(part), &mut files);
        }
        Self { files }
    }

    fn below<'a>(
        &'a self,
        folder: &'a str,
        end: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let files = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        files.filter(move |(path, _)| path.starts_with(folder) && path.ends_with(end))
    }

    pub(super) fn contract(&self) -> Facts {
        let texts: Vec<&str> = self.below(PROTO, ".proto").map(|(_, text)| text).collect();
        facts(&texts)
    }

    pub(super) fn linux_codes(&self) -> Facts {
        let lines = self.below(SCRIPTS, ".sh").flat_map(|(_, text)| text.lines());
        // A number in a comment is reserved.
        let lines = lines.map(|line| line.trim().trim_start_matches("# "));
        lines.filter_map(|line| code(line, "ERR_")).collect()
    }

    pub(super) fn windows_codes(&self) -> Facts {
        let lines = self.below(WINDOWS, "").flat_map(|(_, text)| text.lines());
        let lines = lines.filter_map(|line| line.trim().strip_prefix("$global:"));
        let codes = lines.filter_map(|line| code(line, "WINDOWS_CSE_"));
        codes.filter(|(name, _)| name != "WINDOWS_CSE_ERROR_MAX_CODE").collect()
    }

    /// Names of variables in Go: `"NAME": value,`.
    pub(super) fn variables(&self) -> Facts {
        let lines = self.below(PARSER, "").flat_map(|(_, text)| text.lines());
        let names = lines.filter_map(|line| {
            let (name, rest) = line.trim().strip_prefix('"')?.split_once('"')?;
            (rest.starts_with(':') && is_name(name)).then(|| (name.to_owned(), String::new()))
        });
        names.collect()
    }

    /// Names of variables in the template: `NAME=` at the start of a line.
    pub(super) fn template(&self) -> Facts {
        let lines = self.below(TEMPLATE, "").flat_map(|(_, text)| text.lines());
        let names = lines.filter_map(|line| line.split_once('=').map(|(name, _)| name));
        names.filter(|name| is_name(name)).map(|name| (name.to_owned(), String::new())).collect()
    }

    pub(super) fn launcher(&self) -> Facts {
        self.files.get(LAUNCHER).map(|text| launcher(text)).unwrap_or_default()
    }

    /// Files with a checksum.
    pub(super) fn behavior(&self) -> Facts {
        let is_repeated = |path: &str| {
            let is_code = match Path::new(path).extension().and_then(OsStr::to_str) {
                Some("go") => !["_test.go", "/pkg/gen/"].iter().any(|part| path.contains(part)),
                extension => extension == Some("gtpl"),
            };
            path.starts_with(BEHAVIOR) && is_code || STARTERS.contains(&path)
        };
        let files = self.files.iter().filter(|(path, _)| is_repeated(path));
        files.map(|(path, text)| (path.clone(), checksum(text.as_bytes()))).collect()
    }
}

fn read_below(root: &Path, part: &Path, files: &mut BTreeMap<String, String>) {
    let path = root.join(part);
    if let Ok(text) = fs::read(&path) {
        let text = String::from_utf8_lossy(&text).into_owned();
        files.insert(part.display().to_string(), text);
    }
    for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
        read_below(root, &part.join(entry.file_name()), files);
    }
}

/// `NAME=50`, with anything after the number, and in any way that a shell assigns it.
fn code(line: &str, prefix: &str) -> Option<(String, String)> {
    let (name, rest) = line.trim().split_once('=')?;
    let name = ["readonly ", "export ", "declare -r "]
        .iter()
        .find_map(|word| name.strip_prefix(word))
        .unwrap_or(name)
        .trim();
    let rest = rest.trim_start().trim_start_matches(['"', '\'']);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let is_code = name.starts_with(prefix) && is_name(name) && digits > 0;
    is_code.then(|| (name.to_owned(), rest[..digits].to_owned()))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Variables with their defaults, commands of the agent, and flags, in a launcher.
pub(super) fn launcher(text: &str) -> Facts {
    let mut facts = Facts::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some((name, value)) = line.split_once('=')
            && let Some((_, default)) = value.trim_matches('"').split_once(":-")
            && is_name(name)
        {
            facts.insert(format!("variable {name}"), default.trim_end_matches('}').to_owned());
        }
        for start in ["BIN_PATH\" ", "=("] {
            let after = line.split(start).skip(1);
            let words = after.filter_map(|rest| {
                rest.split(|c: char| !c.is_ascii_lowercase() && c != '-').next()
            });
            let words = words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
            facts.extend(words.map(|word| (format!("command {word}"), String::new())));
        }
        for flag in line.split("\"--").skip(1).filter_map(|rest| rest.split_once('=')) {
            facts.insert(format!("flag --{}", flag.0), String::new());
        }
    }
    facts
}

/// FNV-1a, 64 bits: to notice a change, not to resist one.
fn checksum(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// Facts of one area: a name, and what is recorded of it.
pub(super) type Facts = BTreeMap<String, String>;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    area: &'static str,
    name: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    New(String),
    Gone(String),
    Changed {
        recorded: String,
        found: String,
    },
    /// Nothing was found of the whole area, so nothing is known about it.
    NotRead,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { area, name, kind } = self;
        match kind {
            Kind::New(fact) if fact.is_empty() => write!(f, "{area}: new: {name}"),
            Kind::New(fact) => write!(f, "{area}: new: {name} {fact}"),
            Kind::Gone(fact) if fact.is_empty() => write!(f, "{area}: gone: {name}"),
            Kind::Gone(fact) => write!(f, "{area}: gone: {name} {fact}"),
            Kind::Changed { recorded, found } => {
                write!(f, "{area}: changed: {name}: {found} (recorded: {recorded})")
            }
            Kind::NotRead => write!(f, "{area}: not compared: nothing found in {name}"),
        }
    }
}

/// Returns the differences of an area; `place` is where its facts should be.
pub(super) fn compare(
    area: &'static str,
    place: &str,
    recorded: &Facts,
    found: &Facts,
) -> Vec<Difference> {
    if found.is_empty() {
        return vec![Difference { area, name: place.to_owned(), kind: Kind::NotRead }];
    }
    let names = recorded.keys().chain(found.keys().filter(|name| !recorded.contains_key(*name)));
    let differs = names.filter_map(|name| {
        let kind = match (recorded.get(name), found.get(name)) {
            (Some(recorded), Some(found)) if recorded == found => return None,
            (Some(recorded), Some(found)) => {
                Kind::Changed { recorded: recorded.clone(), found: found.clone() }
            }
            (Some(recorded), None) => Kind::Gone(recorded.clone()),
            (None, found) => Kind::New(found.cloned().unwrap_or_default()),
        };
        Some(Difference { area, name: name.clone(), kind })
    });
    differs.collect()
}

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
