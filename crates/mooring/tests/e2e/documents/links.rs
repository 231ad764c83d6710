//! Links between documents.

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
