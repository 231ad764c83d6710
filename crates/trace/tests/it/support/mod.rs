//! Nodes of the fixtures.

use std::fs;
use std::path::Path;

use mooring_trace::json::TraceContent;
use mooring_trace::{Timeline, TraceFile, read};
use serde_json::Value;

pub(crate) fn files(node: &str) -> Vec<TraceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files = Vec::new();
    let mut folders = vec![root.join(node)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            files.push(TraceFile { path: inside, bytes: fs::read(&path).unwrap() });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

pub(crate) fn timeline(node: &str) -> Timeline {
    let mut all = read(&files(node));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Returns the content of the JSON document.
pub(crate) fn content(timelines: &[Timeline]) -> Value {
    serde_json::to_value(TraceContent::new(timelines)).unwrap()
}
