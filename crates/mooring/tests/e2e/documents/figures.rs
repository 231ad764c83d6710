//! Measured figures are the same in all documents.

use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// Returns the numbers before `MiB` in a line.
fn mebibytes(line: &str) -> Vec<&str> {
    line.split(" MiB")
        .filter_map(|part| part.rsplit(' ').next())
        .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}

#[test]
fn controller_memory_is_the_same_in_every_document() {
    let measured = read("docs/PERFORMANCE.md");
    let row = |start: &str| {
        let row = measured.lines().find(|line| line.starts_with(start)).unwrap();
        mebibytes(row)
    };
    let few = row("| resident memory with 5,000 NodeClaims")[0];
    let most = row("| resident memory with 50,000 NodeClaims")[1];
    let chart = read("charts/mooring/values.yaml");
    let line = chart.lines().find(|line| line.contains("50,000 need")).unwrap();
    assert_eq!(mebibytes(line), [few, most], "charts/mooring/values.yaml");
    let runbook = read("docs/RUNBOOK.md");
    let line = runbook.lines().find(|line| line.contains("50,000 NodeClaims need")).unwrap();
    assert_eq!(mebibytes(line), [most], "docs/RUNBOOK.md");
}
