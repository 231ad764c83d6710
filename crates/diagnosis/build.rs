//! Compiles `data/**/*.toml` into static tables: causes, rules, clues, wordings, and the phrases of wordings by number.
//!
//! A group of phrases or exit codes is an array, or `@name` of one in `[lists]` or `[codes]` of any file. Line breaks in
//! texts count as blanks.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Data files in the order of their rules and wordings, of which the first match is the cause. Root causes precede
/// symptoms, and symptoms precede errors that only wrap another.
const FILES: [&str; 18] = [
    "rules/registry",
    "rules/node",
    "rules/network",
    "rules/windows",
    "rules/time",
    "wordings/machine",
    "wordings/access",
    "wordings/quota",
    "wordings/capacity",
    "wordings/subnets",
    "wordings/node",
    "wordings/packages",
    "wordings/network",
    "wordings/cluster",
    "wordings/symptoms",
    "wordings/wrappers",
    "wordings/context",
    "components",
];

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    lists: BTreeMap<String, Vec<String>>,
    codes: BTreeMap<String, Vec<i32>>,
    cause: Vec<Cause>,
    rule: Vec<Rule>,
    wording: Vec<Wording>,
    component: Vec<Component>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Component {
    name: String,
    cause: String,
    #[serde(default)]
    is_specific: bool,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    /// Required if several causes have the same reason.
    id: Option<String>,
    reason: String,
    stage: Stage,
    owner: Owner,
    retry: Retry,
    symptom: Option<String>,
    summary: String,
    actions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Rule {
    name: String,
    cause: String,
    #[serde(default)]
    codes: Group<i32>,
    #[serde(default)]
    os: RuleOs,
    situation: Option<Situation>,
    #[serde(default)]
    outcome: BootstrapOutcome,
    images: Option<(String, String)>,
    seconds: Option<(u32, u32)>,
    #[serde(default)]
    steps: Vec<String>,
    #[serde(default)]
    error: bool,
    #[serde(default)]
    clues: Vec<Vec<String>>,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    in_one_line: bool,
    #[serde(default)]
    alone: bool,
    effective: Option<Effective>,
    #[serde(default = "Confidence::medium")]
    confidence: Confidence,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Effective {
    number: i32,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wording {
    name: String,
    cause: String,
    #[serde(default)]
    tier: Tier,
    phrases: Group<String>,
    #[serde(default)]
    near: Vec<Group<String>>,
    #[serde(default)]
    also: Vec<Group<String>>,
    #[serde(default)]
    without: Group<String>,
    #[serde(default)]
    about: TextSubject,
    #[serde(default)]
    codes: Vec<i32>,
    os: Option<Os>,
    #[serde(default)]
    confidence: Confidence,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Group<T> {
    Named(String),
    Items(Vec<T>),
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self::Items(Vec::new())
    }
}

impl<T> Group<T> {
    fn items<'a>(&'a self, lists: &'a BTreeMap<String, Vec<T>>) -> Result<&'a [T], String> {
        match self {
            Self::Items(items) => Ok(items),
            Self::Named(name) => find(lists, name.strip_prefix('@').unwrap_or(name)),
        }
    }
}

fn find<'a, T>(lists: &'a BTreeMap<String, Vec<T>>, name: &str) -> Result<&'a [T], String> {
    lists.get(name).map(Vec::as_slice).ok_or_else(|| format!("unknown list {name}"))
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
    TextSubject { Anything, Machines, Cluster, Nodes, NodeLog }
    Os { Linux, Windows }
    RuleOs { Linux, Windows, Any }
    BootstrapOutcome { Failed, Succeeded, NoCode, NotABootstrap }
    Situation { TimedOut, HandlerFailed, NeverStarted, AgentSilent, Interrupted, CodeLost, ArmCodeOnly }
    Confidence { High, Medium, Low }
    Retry { Yes, Maybe, No, NotNeeded }
}

impl Confidence {
    fn medium() -> Self {
        Self::Medium
    }
}

/// Unique phrases in the order of their first use.
struct Phrases<'a> {
    lists: &'a BTreeMap<String, Vec<String>>,
    all: Vec<&'a str>,
}

impl<'a> Phrases<'a> {
    /// Returns the numbers of phrases as Rust source.
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

    fn group(&mut self, group: &'a Group<String>) -> Result<String, String> {
        let phrases = group.items(self.lists)?;
        Ok(self.number(phrases))
    }

    /// Returns all phrases, and the lists that determine the subject of a text, as Rust source.
    fn compile(mut self) -> Result<String, String> {
        let mut source = String::new();
        for (name, list) in [
            ("NODE_LOG", "node-log"),
            ("CLUSTER", "cluster"),
            ("MACHINES", "machines"),
            ("OTHER_SERVICES", "other-services"),
            ("WORKLOADS", "workloads"),
            ("STRONG_FAILURES", "failures-strong"),
            ("FAILURES", "failures"),
            ("NOT_FAILURES", "not-failures"),
            ("NODES_MORE", "nodes-more"),
            ("NODE_PARTS", "node-parts"),
            ("AZURE", "azure"),
            ("ELSEWHERE", "elsewhere"),
            ("OTHER_RESOURCES", "other-resources"),
        ] {
            let numbers = self.number(find(self.lists, list)?);
            _ = writeln!(source, "pub(crate) static {name}: &[usize] = {numbers};");
        }
        _ = writeln!(source, "pub(crate) static PHRASES: &[&str] = &{:?};", self.all);
        Ok(source)
    }

    fn groups(&mut self, groups: &'a [Group<String>]) -> Result<String, String> {
        let numbers: Result<Vec<String>, String> =
            groups.iter().map(|group| self.group(group)).collect();
        Ok(format!("&[{}]", numbers?.join(", ")))
    }
}

#[expect(clippy::disallowed_methods, reason = "cargo runs the script again if it is interrupted")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=data");
    let mut data = File::default();
    for name in FILES {
        let file: File = read(&format!("data/{name}.toml"))?;
        data.lists.extend(file.lists);
        data.codes.extend(file.codes);
        data.cause.extend(file.cause);
        data.rule.extend(file.rule);
        data.wording.extend(file.wording);
        data.component.extend(file.component);
    }
    let clues: Clues = read("data/clues.toml")?;
    let mut phrases = Phrases { lists: &data.lists, all: Vec::new() };
    let mut tables = data.compile_causes();
    tables += &data.compile_rules(&clues)?;
    tables += &data.compile_wordings(&mut phrases)?;
    tables += &data.compile_components()?;
    let directory = env::var("OUT_DIR")?;
    let write = |name: &str, source: String| fs::write(Path::new(&directory).join(name), source);
    write("clues.rs", compile_clues(&clues))?;
    write("phrases.rs", phrases.compile()?)?;
    write("tables.rs", tables)?;
    Ok(())
}

fn read<T: DeserializeOwned>(path: &str) -> Result<T, Box<dyn Error>> {
    Ok(toml::from_str(&fs::read_to_string(path)?).map_err(|error| format!("{path}: {error}"))?)
}

type Clues = BTreeMap<String, Vec<String>>;

impl File {
    fn compile_causes(&self) -> String {
        let mut source = format!("pub(crate) static CAUSES: [Cause; {}] = [\n", self.cause.len());
        for Cause { reason, stage, owner, retry, symptom, summary, actions, .. } in &self.cause {
            let actions: Vec<String> = actions.iter().map(|action| fold(action)).collect();
            _ = writeln!(
                source,
                "Cause {{ reason: {reason:?}, stage: Stage::{stage:?}, owner: Owner::{owner:?}, \
                 retry: Transient::{retry:?}, symptom: {symptom:?}, summary: {:?}, actions: &{actions:?} }},",
                fold(summary)
            );
        }
        source + "];\n"
    }

    /// Returns the position of a cause.
    fn cause(&self, id: &str) -> Result<usize, String> {
        let found = self.cause.iter().position(|cause| cause.id() == id);
        found.ok_or_else(|| format!("unknown cause {id}"))
    }

    fn compile_rules(&self, clues: &Clues) -> Result<String, String> {
        let mut source = "pub(crate) static RULES: &[Rule] = &[\n".to_owned();
        for rule in &self.rule {
            let rule = self.compile_rule(rule, clues);
            source += &rule.map_err(|(name, error)| format!("rule {name}: {error}"))?;
        }
        Ok(source + "];\n")
    }

    fn compile_rule(&self, rule: &Rule, known: &Clues) -> Result<String, (String, String)> {
        let error = |error: String| (rule.name.clone(), error);
        let group = |clues: &[String]| -> Result<String, String> {
            let names: Result<Vec<String>, String> = clues
                .iter()
                .map(|clue| find(known, clue).map(|_| format!("Clue::{}", pascal(clue))))
                .collect();
            Ok(format!("&[{}]", names?.join(", ")))
        };
        let clues: Result<Vec<String>, String> =
            rule.clues.iter().map(|clues| group(clues)).collect();
        let clues = clues.map_err(error)?.join(", ");
        let without = group(&rule.without).map_err(error)?;
        let Rule { name, outcome, seconds, steps, in_one_line, alone, confidence, .. } = rule;
        let codes = rule.codes.items(&self.codes).map_err(error)?;
        let cause = self.cause(&rule.cause).map_err(error)?;
        let os = match rule.os {
            RuleOs::Any => "None".to_owned(),
            ref os => format!("Some(Os::{os:?})"),
        };
        let situation = some(rule.situation.as_ref(), |one| format!("Situation::{one:?}"));
        let day = |date: &str| format!("day({})", date.replace("-0", "-").replace('-', ", "));
        let images =
            some(rule.images.as_ref(), |(from, until)| format!("({}, {})", day(from), day(until)));
        let effective =
            some(rule.effective.as_ref(), |to| format!("({}, {:?})", to.number, to.name));
        Ok(format!(
            "Rule {{ name: {name:?}, cause: &CAUSES[{cause}], codes: &{codes:?}, os: {os}, \
             situation: {situation}, outcome: BootstrapOutcome::{outcome:?}, images: {images}, \
             seconds: {seconds:?}, steps: &{steps:?}, error: {}, clues: &[{clues}], \
             without: {without}, in_one_line: {in_one_line}, alone: {alone}, \
             effective: {effective}, confidence: Confidence::{confidence:?} }},\n",
            rule.error
        ))
    }

    fn compile_wordings<'a>(&'a self, phrases: &mut Phrases<'a>) -> Result<String, String> {
        let mut source = "pub(crate) static WORDINGS: &[Wording] = &[\n".to_owned();
        for wording in &self.wording {
            let error = |error: String| format!("wording {}: {error}", wording.name);
            let Wording { name, tier, about, codes, confidence, .. } = wording;
            let near = phrases.groups(&wording.near).map_err(error)?;
            let also = phrases.groups(&wording.also).map_err(error)?;
            let of_cause = phrases.group(&wording.phrases).map_err(error)?;
            let without = phrases.group(&wording.without).map_err(error)?;
            let cause = self.cause(&wording.cause).map_err(error)?;
            let os = some(wording.os.as_ref(), |os| format!("Os::{os:?}"));
            _ = writeln!(
                source,
                "Wording {{ name: {name:?}, cause: &CAUSES[{cause}], tier: Tier::{tier:?}, \
                 phrases: {of_cause}, near: {near}, also: {also}, without: {without}, \
                 about: TextSubject::{about:?}, codes: &{codes:?}, os: {os}, \
                 confidence: Confidence::{confidence:?} }},"
            );
        }
        source += "];\n";
        for (name, cause) in [
            ("OTHER_EXTENSION", "OtherExtensionFailed"),
            ("OPERATION_FAILED", "OperationFailed"),
            ("REQUEST_REJECTED", "RequestRejected"),
        ] {
            let cause = self.cause(cause)?;
            _ = writeln!(source, "pub(crate) static {name}: &Cause = &CAUSES[{cause}];");
        }
        Ok(source)
    }
}

impl File {
    fn compile_components(&self) -> Result<String, String> {
        let mut source = "pub(crate) static COMPONENTS: &[Component] = &[\n".to_owned();
        for Component { name, cause, is_specific, words } in &self.component {
            let cause = self.cause(cause)?;
            _ = writeln!(
                source,
                "Component {{ name: {name:?}, cause: &CAUSES[{cause}], is_specific: {is_specific}, \
                 words: &{words:?} }},"
            );
        }
        Ok(source + "];\n")
    }
}

fn compile_clues(clues: &Clues) -> String {
    let (mut names, mut phrases) = (String::new(), String::new());
    for (name, of_clue) in clues {
        let name = pascal(name);
        _ = writeln!(names, "{name},");
        for phrase in of_clue {
            _ = writeln!(phrases, "({phrase:?}, Clue::{name}),");
        }
    }
    format!(
        "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub(crate) enum Clue {{\n{names}}}\n\
         impl Clue {{ pub(crate) const COUNT: usize = {}; }}\n\
         /// At most 255 bytes each.\n\
         pub(crate) static CLUES: &[(&str, Clue)] = &[\n{phrases}];\n",
        clues.len()
    )
}

impl Cause {
    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.reason)
    }
}

/// Returns an option as Rust source.
fn some<T>(value: Option<&T>, source: impl Fn(&T) -> String) -> String {
    value.map_or("None".to_owned(), |value| format!("Some({})", source(value)))
}

fn pascal(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(word).collect()
}

fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
