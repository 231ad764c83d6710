//! Every command that reads a cluster, from the definition of the command line, with every format of its help.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::claims::{Claims, normalize};
use super::worlds::World;
use crate::common::{mooring, result, text, wait};

const TIMEOUT: Duration = Duration::from_mins(2);

/// Commands that take no part, each with its reason.
const EXCLUDED: &[(&str, &str)] = &[
    ("codes list", "reads no cluster"),
    ("codes search", "reads no cluster"),
    ("codes show", "reads no cluster"),
    ("completions", "reads no cluster"),
    ("controller", "serves the page, which is read below"),
    ("finalizers resume", "changes the cluster"),
    ("man", "reads no cluster"),
    ("repair abort", "changes the cluster"),
    ("repair resume", "changes the cluster"),
    ("schema", "reads no cluster"),
    ("ui", "serves the page, which is read below"),
    ("version", "reads no cluster"),
];

/// Arguments of commands that need some, or that answer about several subjects.
const ARGUMENTS: &[(&str, &[&[&str]])] = &[
    ("bundle", &[&["default-new1", "--out", "OUT"]]),
    ("explain", &[&["OrasBinaryMissing"]]),
    ("finalizers apply", &[&["--dry-run"]]),
    ("repair apply", &[&["--dry-run"]]),
    ("trace", &[&["default-new1"]]),
    ("why", &[&[], &["default"], &["system"], &["default-good1"], &["default-new1"]]),
];

/// A command line without a format.
pub(super) struct Screen {
    pub(super) words: Vec<String>,
    pub(super) formats: Vec<String>,
    has_timeout: bool,
}

/// Returns the command lines of all commands that are not excluded.
pub(super) fn screens() -> Vec<Screen> {
    let names = commands();
    for (name, _) in EXCLUDED {
        assert!(names.contains(*name), "{name} is excluded, and does not exist");
    }
    let is_read = |name: &&String| !EXCLUDED.iter().any(|(excluded, _)| excluded == name);
    let mut screens = Vec::new();
    for name in names.iter().filter(is_read) {
        let help = mooring().args(name.split(' ')).arg("--help").output().unwrap();
        let help = text(&help.stdout);
        let formats = formats(&help);
        assert!(!formats.is_empty(), "{name} has no format: exclude it with a reason\n{help}");
        let arguments = ARGUMENTS.iter().find(|(own, _)| own == name);
        for arguments in arguments.map_or(&[&[][..]][..], |(_, lines)| lines) {
            let words = name.split(' ').chain(arguments.iter().copied()).map(str::to_owned);
            screens.push(Screen {
                words: words.collect(),
                formats: formats.clone(),
                has_timeout: help.contains("--timeout <"),
            });
        }
    }
    screens
}

/// Returns the names of all visible commands without commands of their own: `repair apply`.
fn commands() -> BTreeSet<String> {
    let pages = tempfile::tempdir().unwrap();
    let written = mooring().args(["man", "--out"]).arg(pages.path()).output().unwrap();
    assert!(written.status.success(), "{}", text(&written.stderr));
    let files = std::fs::read_dir(pages.path()).unwrap();
    let stems: BTreeSet<String> = files
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let is_leaf = |stem: &&String| !stems.iter().any(|one| one.starts_with(&format!("{stem}-")));
    let name = |stem: &String| stem.split('-').skip(1).collect::<Vec<_>>().join(" ");
    stems.iter().filter(is_leaf).map(name).collect()
}

/// Returns the values of `--output`.
fn formats(help: &str) -> Vec<String> {
    let Some((_, flag)) = help.split_once("--output <") else { return Vec::new() };
    let lines = flag.lines().skip_while(|line| !line.trim_start().starts_with("- "));
    let values = lines.map(str::trim).take_while(|line| !line.is_empty());
    let value = |line: &str| Some(line.strip_prefix("- ")?.split(':').next()?.to_owned());
    values.filter_map(value).collect()
}

/// The result of a command.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) line: String,
    /// None for a page.
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
    pub(super) claims: Claims,
}

/// A command that runs.
pub(super) struct Running {
    line: String,
    format: String,
    child: Child,
}

impl Screen {
    pub(super) fn start(&self, world: &World, format: &str, timeout: Option<&str>) -> Running {
        let mut command: Command = mooring();
        let archive = world.path("node.tar.gz");
        let archive = archive.to_str().unwrap();
        let words = self.words.iter().map(|word| if word == "OUT" { archive } else { word });
        command.env_clear().envs(world.sim.environment()).args(words).args(["-o", format]);
        command.env("HOME", world.folder.path()).env("LC_ALL", "C.UTF-8");
        if let (true, Some(timeout)) = (self.has_timeout, timeout) {
            command.args(["--timeout", timeout]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let line = format!("{} -o {format}", self.words.join(" "));
        Running { line, format: format.to_owned(), child: command.spawn().unwrap() }
    }
}

impl Running {
    pub(super) fn end(self) -> Shown {
        let (code, out, err) = result(&wait(self.child, TIMEOUT));
        let mut claims = claims(&self.format, &out);
        claims.good.extend(Claims::of_text(&err).good);
        Shown { line: self.line, code: Some(code), out, err, claims }
    }
}

impl Shown {
    /// Returns what it shows, without times.
    pub(super) fn plain(&self) -> String {
        let is_all_times =
            ["-o chrome", "-o otlp"].iter().any(|format| self.line.ends_with(format));
        if is_all_times {
            // Ids are hashes of times.
            return self.out.replace(|c: char| c.is_ascii_hexdigit() || c == '.', "");
        }
        self.out.lines().map(normalize).collect::<Vec<_>>().join("\n")
    }
}

fn claims(format: &str, out: &str) -> Claims {
    let document: Option<Value> = match format {
        "json" | "chrome" | "otlp" => serde_json::from_str(out).ok(),
        "yaml" => serde_saphyr::from_str(out).ok(),
        "html" => return Claims::of_html(out),
        _ => None,
    };
    document.map_or_else(|| Claims::of_text(out), |document| Claims::of_document(&document))
}
