//! Errors in the data fail the build, with the row and its place.

#[path = "../../build.rs"]
#[allow(dead_code, clippy::print_stdout, reason = "only `main` prints, for cargo")]
mod build;

const ROW: &str = r#"
[[code]]
number = 50
name = "ERR_A"
meaning = "m"
cause = "c"
action = "a"
origin = "o"
"#;

/// Returns the source or the error.
fn rows(text: &str) -> String {
    build::compile(&[("linux.toml", text.to_owned())]).unwrap_or_else(|error| error)
}

#[test]
fn a_row_takes_missing_fields_from_the_defaults_of_its_file() {
    let defaults = "[defaults]\nowner = \"network\"\nsince_at_latest = 2020-02-07\n";
    let source = rows(&format!("{defaults}{ROW}doc_url = \"https://example.com\"\n"));
    for part in ["owner: Owner::Network", "Since::By(Date { year: 2020, month: 2, day: 7 })"] {
        assert!(source.contains(part), "{part}: {source}");
    }
    let source = rows(&format!("{defaults}{ROW}owner = \"image\"\nsince = 2021-01-02\n"));
    for part in ["owner: Owner::Image", "Since::On(Date { year: 2021, month: 1, day: 2 })"] {
        assert!(source.contains(part), "{part}: {source}");
    }
}

#[test]
fn line_breaks_in_a_text_are_blanks() {
    let source = rows(&ROW.replace("\"m\"", "\"\"\"\none\ntwo\n  three\"\"\""));
    assert!(source.contains("meaning: \"one two three\""), "{source}");
}

#[test]
fn rows_are_sorted_by_number_with_the_newest_meaning_first() {
    let row = |number, name, since| {
        ROW.replace("50", number).replace("ERR_A", name)
            + &format!("status = \"removed\"\nsince = {since}\nremoved = 2026-01-01\n")
    };
    let source = rows(
        &[
            row("9", "ERR_B", "2020-01-01"),
            row("9", "ERR_C", "2021-01-01"),
            row("-1", "ERR_D", "2022-01-01"),
        ]
        .concat(),
    );
    let place = |name| source.find(name).unwrap_or_else(|| panic!("{name}: {source}"));
    assert!(place("ERR_D") < place("ERR_C") && place("ERR_C") < place("ERR_B"), "{source}");
}

#[test]
fn an_error_in_a_row_names_file_line_and_row() {
    let added = |line: &str| rows(&format!("{ROW}{line}\n"));
    for (got, expected) in [
        (added("oops = 1"), "data/linux.toml:2: 50 ERR_A: oops: unknown field"),
        (added("reach = \"far\""), "data/linux.toml:2: 50 ERR_A: reach: unknown value far"),
        (added("removed = \"2020\""), "data/linux.toml:2: 50 ERR_A: removed: not a date"),
        (added("removed = 2020-02-30"), "data/linux.toml:9: TOML"),
        (added("away = [2020-01-01]"), "data/linux.toml:2: 50 ERR_A: away: not two days"),
        (
            added("became = { number = 1 }"),
            "data/linux.toml:2: 50 ERR_A: became: not a number and a name",
        ),
        (added("aks_names = [1]"), "data/linux.toml:2: 50 ERR_A: aks_names: not a string"),
        (
            added("since = 2021-01-01\nremoved = 2021-01-01"),
            "data/linux.toml:2: 50 ERR_A: removed before it was introduced",
        ),
        (added("number = 51"), "data/linux.toml:9: TOML"),
        (rows(&ROW.replace("50", "\"50\"")), "data/linux.toml:2: 0 ERR_A: number: not a number"),
        (
            rows(&ROW.replace("\"m\"", "\" \"")),
            "data/linux.toml:2: 50 ERR_A: lacks a name, meaning, cause, action or origin",
        ),
        (
            rows(&ROW.replace("[[code]]", "[[kode]]")),
            "data/linux.toml:2: TOML: unknown field `kode`",
        ),
        (
            rows(&format!("[defaults]\nownr = \"image\"\n{ROW}")),
            "data/linux.toml:1: defaults: ownr: unknown field",
        ),
        (rows(""), "data/linux.toml:1: TOML: missing field `code`"),
    ] {
        assert!(got.starts_with(expected), "expected {expected}\ngot      {got}");
    }
}

#[test]
fn a_number_with_two_rows_of_one_status_is_an_error() {
    let other = ROW.replace("ERR_A", "ERR_B");
    let error = rows(&format!("{ROW}{other}"));
    assert_eq!(error, "data/linux.toml:10: 50 ERR_B: duplicate number: 50 ERR_A is also current");
    let past = |row: &str| format!("{row}status = \"removed\"\nremoved = 2021-01-01\n");
    assert!(rows(&format!("{ROW}{}", past(&other))).contains("ERR_B"));
    assert!(rows(&format!("{}{}", past(ROW), past(&other))).starts_with("pub(crate)"));
    assert!(rows(&format!("{}{}", past(ROW), past(ROW))).contains("duplicate number"));
}
