//! Paths in the map of ARCHITECTURE.md.

use std::path::{Path, PathBuf};

use mooring_testbed::documents::root;

/// Returns the path of a name in the table. It may be relative to the previous path in the same row.
fn find(name: &str, before: Option<&Path>) -> Option<PathBuf> {
    let name = name.split_once('*').map_or(name, |(directory, _)| directory);
    let roots = [root(), root().join("crates"), root().join("lab")].map(|root| root.join(name));
    let near = before.map(|before| before.parent().unwrap().join(name));
    let above = before.map(|before| before.parent().unwrap().join("..").join(name));
    roots.into_iter().chain(near).chain(above).find(|path| path.exists())
}

#[test]
fn every_file_of_the_architecture_map_exists() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, map) = text.split_once("## Where is it decided?").unwrap();
    let rows = map.split("\n## ").next().unwrap().lines();
    let rows = rows.filter(|line| line.starts_with("| ") && line.contains('`'));
    let mut found = 0;
    for row in rows {
        let mut before: Option<PathBuf> = None;
        let cell = row.split('|').nth(2).unwrap();
        for name in cell.split('`').skip(1).step_by(2).filter(|name| name.contains(['/', '.'])) {
            let path = find(name, before.as_deref());
            assert!(path.is_some(), "{name}: no such file, in {row}");
            before = path;
            found += 1;
        }
    }
    assert!(found >= 20, "only {found} files");
}
