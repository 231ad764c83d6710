//! `--help` of every command at 80 columns, compared with `help/COMMAND.txt`.
//!
//! After an intended change, `MOORING_WRITE_GOLDEN=1 cargo test -p mooring --test it help` rewrites the files; read the
//! difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{mooring, text};

const COLUMNS: usize = 80;

/// Returns the names of all visible commands (`mooring`, `mooring-repair-apply`). The manual pages come from the
/// definition that parses the command line.
fn commands() -> BTreeSet<String> {
    let pages = tempfile::tempdir().unwrap();
    let written = mooring().args(["man", "--out"]).arg(pages.path()).output().unwrap();
    assert!(written.status.success(), "{}", text(&written.stderr));
    file_stems(pages.path())
}

fn file_stems(directory: &Path) -> BTreeSet<String> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn help(command: &str, flag: &str) -> String {
    let output = mooring()
        .args(command.split('-').skip(1))
        .arg(flag)
        .env("COLUMNS", COLUMNS.to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn help_of_every_command_matches_golden_files() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/help");
    let rewrite = std::env::var_os("MOORING_WRITE_GOLDEN").is_some();
    if rewrite {
        fs::remove_dir_all(&golden).unwrap();
        fs::create_dir(&golden).unwrap();
    }
    let commands = commands();
    for command in &commands {
        let (shown, file) = (help(command, "--help"), golden.join(format!("{command}.txt")));
        if rewrite {
            fs::write(&file, &shown).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        let hint = "hint: rewrite the files as the module's comment describes";
        assert_eq!(shown, expected, "{command}\n{hint}");
    }
    assert_eq!(file_stems(&golden), commands, "one file per command");
}

#[test]
fn help_begins_with_the_flags_of_the_command() {
    for command in commands().iter().filter(|name| *name != "mooring") {
        let help = help(command, "--help");
        let own = help.split_once("\nOptions:\n").map_or("", |(_, own)| own);
        let own = own.split("\nOutput:\n").next().unwrap_or_default();
        let own = own.split("\nCluster:\n").next().unwrap_or_default();
        for flag in ["--kubeconfig <", "--context <", "--subscription <", "--azure <", "--color <"]
        {
            assert!(!own.contains(flag), "{command}: {flag} is among its own flags");
        }
    }
}

#[test]
fn commands_are_listed_in_groups() {
    let help = help("mooring", "--help");
    let groups: Vec<&str> = help.lines().filter(|line| line.ends_with("ommands:")).collect();
    assert_eq!(
        groups.first().zip(groups.last()),
        Some((&"Troubleshooting commands:", &"Other commands:"))
    );
    let commands = commands();
    let commands = commands.iter().filter_map(|name| name.strip_prefix("mooring-"));
    for command in commands.filter(|name| !name.contains('-')) {
        let start = format!("  {command} ");
        let count = help.lines().filter(|line| line.starts_with(&start)).count();
        assert_eq!(count, 1, "{command}");
    }
}

#[test]
fn help_fits_into_80_columns() {
    for command in &commands() {
        for flag in ["-h", "--help"] {
            let help = help(command, flag);
            let wide = help.lines().find(|line| line.chars().count() > COLUMNS);
            assert_eq!(wide, None, "{command} {flag}");
        }
    }
}

/// Returns the variables of Mooring that a help names.
fn variables(help: &str) -> BTreeSet<String> {
    let words = help.split(|c: char| !c.is_ascii_uppercase() && c != '_');
    words.filter(|word| word.starts_with("MOORING_")).map(str::to_owned).collect()
}

/// Checks every page with groff, which man uses. Examples must keep their lines.
#[test]
fn manual_pages_have_sections_and_no_warnings() {
    let groff = mooring_testbed::require(mooring_testbed::find_program("groff"), "groff");
    let pages = tempfile::tempdir().unwrap();
    let written = mooring().args(["man", "--out"]).arg(pages.path()).output().unwrap();
    assert!(written.status.success(), "{}", text(&written.stderr));
    for name in &file_stems(pages.path()) {
        let file = pages.path().join(format!("{name}.1"));
        let page = fs::read_to_string(&file).unwrap();
        let (_, environment) = page.split_once(".SH \"ENVIRONMENT\"").unwrap();
        for variable in variables(&help(name, "--help")) {
            let is_listed = environment.lines().any(|line| line.starts_with(&variable));
            assert!(is_listed, "{name}: {variable}");
        }
        let sections: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix(".SH "))
            .map(|s| s.trim_matches('"'))
            .collect();
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXIT STATUS",
            "ENVIRONMENT",
            "FILES",
            "SEE ALSO",
        ] {
            assert!(sections.contains(&section), "{name}: {sections:?}");
        }
        if let Some(groff) = &groff {
            let shown = std::process::Command::new(groff)
                .args(["-man", "-Tutf8", "-ww", "-rLL=80n", "-K", "utf8"])
                .arg(&file)
                .env("GROFF_NO_SGR", "1")
                .output()
                .unwrap();
            assert_eq!(text(&shown.stderr), "", "{name}");
            if name == "mooring-explain" {
                let shown = text(&shown.stdout);
                let example = shown.lines().find(|line| line.contains("explain 0xD3"));
                assert!(
                    example.is_some_and(|line| line.trim().ends_with("202601.27.0")),
                    "{shown}"
                );
            }
        }
    }
}
