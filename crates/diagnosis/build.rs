//! Compiles `data/*.toml` into static tables: causes, wordings, and the phrases of wordings by number.
//!
//! A group of phrases is an array, or `@name` of one in `[lists]` of any file. Line breaks in texts count as blanks.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

/// The first wording that fits is the cause: root causes come before symptoms, and symptoms before
/// errors that only wrap another.
const FILES: [&str; 12] = [
    "machine", "access", "quota", "capacity", "subnets", "node", "packages", "network", "cluster",
    "symptoms", "wrappers", "context",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    lists: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    cause: Vec<Cause>,
    #[serde(default)]
    wording: Vec<Wording>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    reason: String,
    stage: Stage,
    owner: Owner,
    summary: String,
    actions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wording {
    name: String,
    cause: String,
    #[serde(default)]
    tier: Tier,
    phrases: Group,
    #[serde(default)]
    near: Vec<Group>,
    #[serde(default)]
    also: Vec<Group>,
    #[serde(default)]
    without: Group,
    #[serde(default)]
    about: About,
    #[serde(default)]
    codes: Vec<i32>,
    os: Option<Os>,
    #[serde(default)]
    confidence: Confidence,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Group {
    Named(String),
    Phrases(Vec<String>),
}

impl Default for Group {
    fn default() -> Self {
        Self::Phrases(Vec::new())
    }
}

macro_rules! names {
    ($($name:ident { $($variant:ident),* })*) => {$(
        #[derive(Debug, Default, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum $name { #[default] $($variant),* }
    )*};
}

names! {
    Stage { Launch, Boot, Bootstrap, Register, Ready }
    Owner { Operator, Image, Platform, Network }
    Tier { Root, Symptom, Wrapper }
    About { Anything, Machines, Cluster, Nodes, NodeLog }
    Os { Linux, Windows }
    Confidence { High, Medium, Low }
}

/// Every phrase once, in the order of its first use.
struct Phrases<'a> {
    lists: &'a BTreeMap<String, Vec<String>>,
    all: Vec<&'a str>,
}

impl<'a> Phrases<'a> {
    /// Returns the numbers of a group's phrases as Rust source.
    fn numbers(&mut self, group: &'a Group) -> Result<String, String> {
        match group {
            Group::Phrases(phrases) => Ok(self.number(phrases)),
            Group::Named(name) => self.list(name.strip_prefix('@').unwrap_or(name)),
        }
    }

    fn list(&mut self, name: &str) -> Result<String, String> {
        let lists = self.lists;
        let phrases = lists.get(name).ok_or_else(|| format!("unknown list {name}"))?;
        Ok(self.number(phrases))
    }

    fn number(&mut self, phrases: &'a [String]) -> String {
        let numbers: Vec<usize> = phrases.iter().map(|phrase| self.position(phrase)).collect();
        format!("&{numbers:?}")
    }

    fn position(&mut self, phrase: &'a str) -> usize {
        self.all.iter().position(|known| *known == phrase).unwrap_or_else(|| {
            self.all.push(phrase);
            self.all.len() - 1
        })
    }

    fn groups(&mut self, groups: &'a [Group]) -> Result<String, String> {
        let numbers: Result<Vec<String>, String> =
            groups.iter().map(|group| self.numbers(group)).collect();
        Ok(format!("&[{}]", numbers?.join(", ")))
    }
}

/// An error in the data.
struct DataError(String);

/// The form in which `main` prints it.
impl fmt::Debug for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: fmt::Display> From<E> for DataError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

#[expect(clippy::disallowed_methods, reason = "cargo runs the script again if it is interrupted")]
fn main() -> Result<(), DataError> {
    println!("cargo::rerun-if-changed=data");
    let mut data = File { lists: BTreeMap::new(), cause: Vec::new(), wording: Vec::new() };
    for name in FILES {
        let path = format!("data/{name}.toml");
        let file: File = toml::from_str(&fs::read_to_string(&path)?)
            .map_err(|error| format!("{path}: {error}"))?;
        data.lists.extend(file.lists);
        data.cause.extend(file.cause);
        data.wording.extend(file.wording);
    }
    let directory = env::var("OUT_DIR")?;
    fs::write(Path::new(&directory).join("tables.rs"), compile(&data)?)?;
    Ok(())
}

/// Returns the tables as Rust source.
fn compile(data: &File) -> Result<String, String> {
    let mut phrases = Phrases { lists: &data.lists, all: Vec::new() };
    let mut source = format!("static CAUSES: [Cause; {}] = [\n", data.cause.len());
    for Cause { reason, stage, owner, summary, actions } in &data.cause {
        let actions: Vec<String> = actions.iter().map(|action| fold(action)).collect();
        _ = writeln!(
            source,
            "Cause {{ reason: {reason:?}, stage: Stage::{stage:?}, owner: Owner::{owner:?}, \
             summary: {:?}, actions: &{actions:?} }},",
            fold(summary)
        );
    }
    let cause = |reason: &str| {
        let index = data.cause.iter().position(|cause| cause.reason == reason);
        index.ok_or_else(|| format!("unknown cause {reason}"))
    };
    source += "];\npub(crate) static WORDINGS: &[Wording] = &[\n";
    for wording in &data.wording {
        let error = |error: String| format!("wording {}: {error}", wording.name);
        let Wording { name, tier, about, codes, confidence, .. } = wording;
        let near = phrases.groups(&wording.near).map_err(error)?;
        let also = phrases.groups(&wording.also).map_err(error)?;
        let of_cause = phrases.numbers(&wording.phrases).map_err(error)?;
        let without = phrases.numbers(&wording.without).map_err(error)?;
        let os = wording.os.as_ref().map_or("None".to_owned(), |os| format!("Some(Os::{os:?})"));
        _ = writeln!(
            source,
            "Wording {{ name: {name:?}, cause: &CAUSES[{}], tier: Tier::{tier:?}, phrases: {of_cause}, \
             near: {near}, also: {also}, without: {without}, about: About::{about:?}, \
             codes: &{codes:?}, os: {os}, confidence: Confidence::{confidence:?} }},",
            cause(&wording.cause).map_err(error)?
        );
    }
    source += "];\n";
    for (name, list) in [("NODE_LOG", "node-log"), ("CLUSTER", "cluster"), ("MACHINES", "machines")]
    {
        _ = writeln!(source, "pub(crate) static {name}: &[usize] = {};", phrases.list(list)?);
    }
    _ = writeln!(
        source,
        "/// The cause of an extension that is not the bootstrap.\n\
         pub(crate) static OTHER_EXTENSION: &Cause = &CAUSES[{}];\n\
         /// Every phrase of every wording, once.\n\
         pub(crate) static PHRASES: &[&str] = &{:?};",
        cause("OtherExtensionFailed")?,
        phrases.all
    );
    Ok(source)
}

fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
