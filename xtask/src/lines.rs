//! Lines of the workspace: code, comments and tests apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Failed, output, print, root};

/// Crates that users do not receive.
const LAB: [&str; 5] = ["simulator", "demo", "testbed", "xtask", "mooring-lab"];
const TEST_DIRECTORIES: [&str; 4] = ["tests", "benches", "examples", "fuzz"];
const SHORT_FILE: usize = 40;

#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    /// Code lines by crate, without tests.
    crates: BTreeMap<String, usize>,
    tests: usize,
    comments: usize,
    /// All lines of each file without its tests.
    files: Vec<usize>,
}

/// Prints code lines (no comments, no blank lines) of each crate, the product, the lab and the tests.
pub(crate) fn lines() -> Result<(), Failed> {
    let listed = output(Command::new("git").current_dir(root()).arg("ls-files"))?;
    let listed: Vec<&Path> = listed.lines().map(Path::new).collect();
    let table = count(&listed, |file| fs::read_to_string(root().join(file)).ok());
    print(&table.text());
    Ok(())
}

fn count(listed: &[&Path], read: impl Fn(&Path) -> Option<String>) -> Table {
    let manifests =
        listed.iter().filter(|file| file.file_name().is_some_and(|name| name == "Cargo.toml"));
    let homes: BTreeSet<PathBuf> = manifests
        .filter_map(|file| file.parent())
        .filter(|home| !home.as_os_str().is_empty() && *home != Path::new("fuzz"))
        .map(Path::to_owned)
        .collect();
    let mut table = Table::default();
    for file in listed.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
        let Some(home) = file.ancestors().find(|place| homes.contains(*place)) else { continue };
        let Some(text) = read(file) else { continue };
        let inner = file.strip_prefix(home).unwrap_or(file);
        if is_test_file(inner) {
            table.tests += code_and_comments(&text).0;
            continue;
        }
        let (text, tests) = text.split_at(inline_tests(&text).unwrap_or(text.len()));
        table.tests += code_and_comments(tests).0;
        let (code, comments) = code_and_comments(text);
        let name = home.file_name().unwrap_or_default().to_string_lossy().into_owned();
        *table.crates.entry(name).or_default() += code;
        table.comments += comments;
        table.files.push(text.matches('\n').count());
    }
    table
}

fn is_test_file(inner: &Path) -> bool {
    let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
    let Some((last, directories)) = parts.split_last() else { return false };
    last == "tests.rs"
        || directories.first().is_some_and(|first| TEST_DIRECTORIES.contains(&&**first))
        || directories.iter().any(|directory| directory == "tests")
}

/// Returns where the inline test module of a file begins.
fn inline_tests(text: &str) -> Option<usize> {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    text.match_indices(ATTRIBUTE).map(|(at, _)| at).find(|at| {
        let rest = text[at + ATTRIBUTE.len()..].trim_start();
        let line = rest.lines().next().unwrap_or_default();
        line.starts_with("mod ") && line.ends_with('{')
    })
}

/// Line comments only: the code has no block comments.
fn code_and_comments(text: &str) -> (usize, usize) {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (comments, code): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("//"));
    (code.len(), comments.len())
}

impl Table {
    fn text(&self) -> String {
        let code: usize = self.crates.values().sum();
        let lab: usize = LAB.iter().filter_map(|name| self.crates.get(*name)).sum();
        let short = self.files.iter().filter(|lines| **lines < SHORT_FILE).count();
        let average = self.files.iter().sum::<usize>() / self.files.len().max(1);
        let permille = self.comments * 1000 / code.max(1);
        let mut text = String::new();
        for (name, code) in &self.crates {
            let _ = writeln!(text, "{name:<12}{code:>7}");
        }
        for (name, lines) in [("product", code - lab), ("lab", lab), ("tests", self.tests)] {
            let _ = writeln!(text, "{name:<12}{lines:>7}");
        }
        let _ = writeln!(
            text,
            "comments per code line 0.{permille:03}; {} files of {average} lines on average, {short} under {SHORT_FILE}",
            self.files.len()
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_and_tests_are_counted_apart() {
        let files = [
            ("crates/a/Cargo.toml", ""),
            (
                "crates/a/src/lib.rs",
                "//! A.\n\nfn a() {}\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n",
            ),
            ("crates/a/src/b/tests.rs", "fn u() {}\n"),
            ("crates/a/src/c.rs", "#[cfg(test)]\nmod tests;\nfn c() {}\n"),
            ("crates/a/tests/it/main.rs", "// A.\nmod x;\n"),
            ("xtask/Cargo.toml", ""),
            ("xtask/src/main.rs", "fn main() {}\n"),
            ("build.rs", "fn main() {}\n"),
        ];
        let listed: Vec<&Path> = files.iter().map(|(file, _)| Path::new(*file)).collect();
        let read = |file: &Path| {
            files
                .iter()
                .find(|(name, _)| Path::new(name) == file)
                .map(|(_, text)| (*text).to_owned())
        };
        let table = count(&listed, read);
        let crates = BTreeMap::from([("a".to_owned(), 4), ("xtask".to_owned(), 1)]);
        assert_eq!(table, Table { crates, tests: 6, comments: 1, files: vec![3, 3, 1] });
        let text = table.text();
        assert!(
            text.contains("product           4\nlab               1\ntests             6\n"),
            "{text}"
        );
    }
}
