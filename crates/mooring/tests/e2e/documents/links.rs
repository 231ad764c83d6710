//! Links between documents.

use std::path::{Path, PathBuf};

use mooring_testbed::documents::{pages, root};

/// Returns the anchors that GitHub creates from headings.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let headings = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let plain = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    headings.map(|text| text.chars().filter(plain).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn every_link_has_a_target() {
    for page in pages() {
        let directory = root().join(&page.name).parent().unwrap().to_owned();
        for target in page.prose.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if target.starts_with("http") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { root().join(&page.name) } else { directory.join(file) };
            assert!(file.exists(), "{}: {target} does not exist", page.name);
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&file).unwrap();
                assert!(anchors(&text).iter().any(|is| is == anchor), "{}: {target}", page.name);
            }
        }
    }
}

/// Words in quotes that are paths below a crate: `crates/` and `lab/` are left out.
fn paths(text: &str) -> Vec<PathBuf> {
    let places = ["crates", "lab"].map(|place| root().join(place));
    let crate_of = |word: &str| {
        let (name, _) = word.split_once('/')?;
        places.iter().find(|place| place.join(name).join("Cargo.toml").exists())
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for word in text.split('`').skip(1).step_by(2) {
        if let Some(place) = crate_of(word) {
            found.push(place.join(word));
        } else if Path::new(word).extension() == Some("rs".as_ref()) && !word.contains('/') {
            // Beside the file before it.
            let folder = found.last().and_then(|path| path.parent());
            found.push(folder.unwrap_or(&places[0]).join(word));
        }
    }
    found
}

#[test]
fn tests_that_documents_name_exist() {
    for (name, least) in [("docs/SECURITY.md", 25), ("docs/TESTING.md", 40)] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        let paths = paths(&text);
        assert!(paths.len() > least, "{name}: {}", paths.len());
        let missing: Vec<&PathBuf> = paths.iter().filter(|path| !path.exists()).collect();
        assert_eq!(missing, Vec::<&PathBuf>::new(), "{name}");
    }
}
