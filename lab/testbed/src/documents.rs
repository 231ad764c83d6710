//! Documents of this repository.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used,
    reason = "for tests, which fail by panicking"
)]

use std::path::{Path, PathBuf};

/// Returns the directory of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Fenced code block.
pub struct Block {
    pub language: String,
    /// Last top-level heading above the block.
    pub section: String,
    /// Number of its first line in the file.
    pub line: usize,
    pub lines: Vec<String>,
}

pub struct Page {
    pub name: String,
    pub blocks: Vec<Block>,
    /// Text between the blocks.
    pub prose: String,
}

impl Page {
    /// Returns the commands of a program that are not in `sh` blocks.
    pub fn shown_commands(&self, program: &str) -> Vec<String> {
        let console = self.blocks.iter().filter(|block| block.language == "console");
        let lines =
            console.flat_map(|block| &block.lines).filter_map(|line| line.strip_prefix("$ "));
        let mut shown: Vec<String> = lines.map(str::to_owned).collect();
        // Every second part between backquotes is code.
        shown.extend(self.prose.split('`').skip(1).step_by(2).map(|code| code.replace('\n', " ")));
        shown.retain(|line| line.strip_prefix(program).is_some_and(|rest| rest.starts_with(' ')));
        shown
    }
}

/// Returns the words of a command up to a shell operator, or `None` if it is abbreviated.
pub fn parse_args(line: &str) -> Option<Vec<&str>> {
    let line = line.split(" #").next().unwrap().trim();
    let end = line.find(['|', '>', ';', '&']).unwrap_or(line.len());
    let line = line[..end].trim();
    let args: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    let is_complete = !line.contains(['…', '`', '(', '[']) && !line.ends_with('\\');
    is_complete.then_some(args)
}

/// Returns all documents for users.
pub fn pages() -> Vec<Page> {
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
