//! Tests of `mooring codes search`, schemas and errors as documents.

use std::process::{Output, Stdio};

use mooring_testbed::schema::validate;
use serde_json::Value;

use crate::common::schema::assert_valid;
use crate::common::{Terminal, mooring, result, text};

fn run(args: &[&str]) -> Output {
    mooring().args(args).stdin(Stdio::null()).output().unwrap()
}

fn document(args: &[&str]) -> Value {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.starts_with("{\n  \"schema\": \"mooring."), "{args:?}: {printed}");
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn reading_from_a_terminal_is_announced() {
    for args in [&["explain"] as &[&str], &["explain", "-"]] {
        let mut terminal = Terminal::start(mooring().args(args), 80);
        terminal.type_keys("oras: command not found\n\u{4}");
        let (code, output) = terminal.end();
        assert_eq!(code, 0, "{output}");
        assert!(output.contains("Reading from the terminal"), "{output}");
        assert!(output.contains("Ctrl-D"), "{output}");
    }
    let piped = run(&["explain"]);
    assert_eq!(text(&piped.stderr), "", "a pipe is read without a message");
    assert!(text(&piped.stdout).contains("stdin is empty"));
}

#[test]
fn search_has_all_formats_and_finds_typos() {
    let similar = text(&run(&["codes", "search", "QotaExceded"]).stdout);
    assert!(similar.starts_with("! ") && similar.contains("\nQuotaExceeded "), "{similar}");
    let names = text(&run(&["codes", "search", "QotaExceded", "-o", "name"]).stdout);
    assert_eq!(names, "QuotaExceeded\n");
    let markdown = text(&run(&["codes", "search", "oras", "registry", "-o", "markdown"]).stdout);
    assert!(markdown.starts_with("| code | os | name | owner | meaning |\n|---:|"), "{markdown}");
    assert!(markdown.contains("\n| 211 | linux | `ERR_ORAS_PULL_NETWORK_TIMEOUT` |"), "{markdown}");
    assert!(markdown.contains("\n| `OrasBinaryMissing` | image | "), "{markdown}");
    let (code, stdout, stderr) = result(&run(&["codes", "search", "zzzzzzzz"]));
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.starts_with("error: no code or cause matches `zzzzzzzz`\nhint: "), "{stderr}");
}

#[test]
fn full_disk_is_an_error() {
    let mut command = mooring();
    command.args(["codes", "list", "--all", "-o", "json"]).stdin(Stdio::null());
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}

#[test]
fn unknown_names_exit_with_2_and_suggest_similar_ones() {
    for (args, hint) in [
        (&["explain", "OrasBinryMising"] as &[&str], "mooring explain OrasBinaryMissing"),
        (&["explain", "ERR_OUTBOND_CON_FAIL"], "mooring explain ERR_OUTBOUND_CONN_FAIL"),
        (&["explain", "WINDOWS_CSE_ERRzR_FILEzNOT_EXIST"], "WINDOWS_CSE_ERROR_FILE_NOT_EXIST"),
        (&["codes", "show", "err_outbound_con_fial"], "mooring codes show ERR_OUTBOUND_CONN_FAIL"),
        (&["schema", "mooring.error/v2"], "mooring schema mooring.error/v1"),
    ] {
        let (code, stdout, stderr) = result(&run(args));
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
        assert!(stderr.contains("hint: did you mean `") && stderr.contains(hint), "{stderr}");
    }
    for args in [
        &["explain", "99999"] as &[&str],
        &["codes", "show", "99999"],
        &["explain", "50", "--image", "junk"],
    ] {
        assert_eq!(run(args).status.code(), Some(2), "{args:?}");
    }
    // A message, not a name.
    let (code, stdout, _) = result(&run(&["explain", "the printer is on fire"]));
    assert_eq!((code, stdout.lines().next()), (0, Some("No failure recognized.")));
}

#[test]
fn errors_are_documents_if_the_output_is() {
    for (args, exit, code) in [
        (&["explain", "nosuchname", "-o", "json"] as &[&str], 2, "not-found"),
        (&["explain", "/", "--output=json"], 3, "io"),
        (&["explain", "--nosuch", "-o", "json"], 2, "usage"),
        (&["codes", "nosuch", "-ojson"], 2, "usage"),
    ] {
        let (status, stdout, stderr) = result(&run(args));
        assert_eq!((status, stdout.as_str()), (exit, ""), "{args:?}: {stderr}");
        assert!(stderr.starts_with("{\n  \"schema\": \"mooring.error/v1\""), "{stderr}");
        let error: Value = serde_json::from_str(&stderr).unwrap();
        assert_valid(&error);
        assert_eq!((&error["exit"], &error["code"]), (&exit.into(), &code.into()), "{stderr}");
        let message = error["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.contains("hint:") && !message.contains("Usage"));
    }
    let yaml = text(&run(&["explain", "nosuchname", "-o", "yaml"]).stderr);
    let error: Value = serde_saphyr::from_str(&yaml).unwrap();
    assert_valid(&error);
    let plain = text(&run(&["explain", "nosuchname"]).stderr);
    assert!(plain.starts_with("error: cannot explain `nosuchname`: "), "{plain}");
}

#[test]
fn schemas_are_listed() {
    let ids = text(&run(&["schema"]).stdout);
    for id in ["mooring.codes/v1", "mooring.error/v1", "mooring.explain/v1"] {
        assert!(ids.lines().any(|line| line == id), "{ids}");
    }
    let short = run(&["schema", "explain/v1"]).stdout;
    assert_eq!(short, run(&["schema", "mooring.explain/v1"]).stdout);
    let schema: Value = serde_json::from_slice(&short).unwrap();
    // The validator must reject what the schema does not allow.
    let mut wrong = document(&["explain", "211", "-o", "json"]);
    wrong["diagnoses"][0]["owner"] = "other".into();
    assert!(validate(&wrong, &schema).is_err());
    wrong["diagnoses"][0].as_object_mut().unwrap().remove("owner");
    assert!(validate(&wrong, &schema).is_err());
}

mod slow {
    use super::*;

    #[test]
    fn every_cause_and_code_has_a_valid_document() {
        let all = document(&["codes", "list", "--all", "-o", "json"]);
        let causes = document(&["codes", "search", "the", "-o", "json"]);
        assert_valid(&causes);
        let causes = causes["causes"].as_array().unwrap();
        assert!(causes.len() > 20, "{}", causes.len());
        let every = document(&["codes", "search", "", "-o", "json"]);
        let names: Vec<_> =
            every["causes"].as_array().unwrap().iter().map(|one| &one["cause"]).collect();
        for cause in causes {
            let name = cause["cause"].as_str().unwrap();
            let shown = document(&["explain", name, "-o", "json"]);
            assert_valid(&shown);
            let explained = &shown["diagnoses"][0]["cause"];
            // What a rule knows of an error code is more than its row in the catalog.
            if shown["causes"][0].is_null() {
                assert!(names.contains(&explained) && explained != name, "{name}: {explained}");
            } else {
                assert_eq!((explained, &shown["causes"][0]), (&cause["cause"], cause));
            }
        }
        assert_eq!(all["codes"].as_array().unwrap().len(), 306);
    }
}
