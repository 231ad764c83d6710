//! Parser of documents.

use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Fenced code block.
pub(crate) struct Block {
    pub(crate) language: String,
    /// Last top-level heading above the block.
    pub(crate) section: String,
    /// Number of its first line in the file.
    pub(crate) line: usize,
    pub(crate) lines: Vec<String>,
}

pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) blocks: Vec<Block>,
    /// Text between the blocks.
    pub(crate) prose: String,
}

/// Returns all documents for users.
pub(crate) fn pages() -> Vec<Page> {
    let mut files: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|name| root().join(name)).into();
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    files.extend(docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Page {
    let text = std::fs::read_to_string(file).unwrap();
    let name = file.strip_prefix(root()).unwrap().display().to_string();
    let mut page = Page { name, blocks: Vec::new(), prose: String::new() };
    let mut section = String::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => {
                let (language, section) = (language.trim().to_owned(), section.clone());
                open = Some(Block { language, section, line: index + 2, lines: Vec::new() });
            }
            (Some(_), Some(_)) => page.blocks.extend(open.take()),
            (Some(block), None) => block.lines.push(line.to_owned()),
            (None, None) => {
                if let Some(heading) = line.strip_prefix("# ") {
                    heading.clone_into(&mut section);
                }
                page.prose.push_str(line);
                page.prose.push('\n');
            }
        }
    }
    assert!(open.is_none(), "{}: unclosed code block", page.name);
    page
}
