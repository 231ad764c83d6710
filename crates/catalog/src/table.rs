//! The rows of `data/`, read once.

use std::sync::LazyLock;

use mooring_diagnosis::{CatalogRow, CausePage, TextSubject};

use crate::class;

const FILES: [&str; 6] = [
    include_str!("../data/aks.txt"),
    include_str!("../data/arm.txt"),
    include_str!("../data/compute.txt"),
    include_str!("../data/entra.txt"),
    include_str!("../data/karpenter.txt"),
    include_str!("../data/network.txt"),
];

static ROWS: LazyLock<Vec<CatalogRow>> = LazyLock::new(|| {
    let mut rows: Vec<CatalogRow> = lines().filter_map(row).collect();
    rows.sort_by_key(|row| row.name.to_ascii_lowercase());
    // Azure spells some codes in two ways.
    rows.dedup_by(|one, other| one.name.eq_ignore_ascii_case(other.name));
    rows
});

/// Returns all rows, sorted by name in lowercase.
pub fn rows() -> &'static [CatalogRow] {
    &ROWS
}

/// Returns the row of a code in any case.
pub fn find(name: &str) -> Option<&'static CatalogRow> {
    let name = name.to_ascii_lowercase();
    let at = ROWS.binary_search_by(|row| row.name.to_ascii_lowercase().cmp(&name)).ok()?;
    ROWS.get(at)
}

/// Returns the page of a code in any case.
pub fn page(name: &str) -> Option<CausePage> {
    find(name).map(page_of)
}

/// Returns the pages of all codes, by name.
pub fn pages() -> impl Iterator<Item = CausePage> {
    ROWS.iter().map(page_of)
}

fn page_of(row: &'static CatalogRow) -> CausePage {
    CausePage {
        reason: row.name,
        stage: row.stage,
        owner: row.owner,
        retry: row.retry,
        summary: row.meaning,
        symptom: format!("the error code {}", row.name),
        actions: vec![row.next],
        known_by: vec![vec![row.name.to_owned()]],
        phrases: Vec::new(),
        codes: Vec::new(),
    }
}

fn lines() -> impl Iterator<Item = &'static str> {
    let all = FILES.into_iter().flat_map(str::lines);
    all.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Reads `name | class | about | meaning | next step`. A test reads all lines.
fn row(line: &'static str) -> Option<CatalogRow> {
    let mut fields = line.split(" | ");
    let name = fields.next()?;
    let class = class::find(fields.next()?)?;
    let about = match fields.next()? {
        "anything" => TextSubject::Anything,
        "machines" => TextSubject::Machines,
        "nodes" => TextSubject::Nodes,
        _ => return None,
    };
    let meaning = fields.next()?;
    let next = fields.next().unwrap_or(class.next);
    if fields.next().is_some() {
        return None;
    }
    let (owner, stage, retry) = (class.owner, class.stage, class.retry);
    Some(CatalogRow { name, owner, stage, retry, about, meaning, next })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::class::CLASSES;

    #[test]
    fn every_line_is_a_row_with_a_sentence_and_a_next_step() {
        let unread: Vec<&str> = lines().filter(|line| row(line).is_none()).collect();
        assert_eq!(unread, Vec::<&str>::new());
        assert!(rows().len() >= 350, "{}", rows().len());
        for row in rows() {
            let is_name = row.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            assert!(is_name && row.name.len() > 5, "{}", row.name);
            assert!(row.meaning.ends_with('.') && row.meaning.len() > 20, "{}", row.name);
            assert!(row.next.ends_with('.') && row.next.len() > 20, "{}", row.name);
        }
    }

    #[test]
    fn codes_are_listed_once_and_found_in_any_case() {
        let mut names = BTreeSet::new();
        for line in lines() {
            let name = line.split(" | ").next().unwrap_or_default();
            assert!(names.insert(name), "{name} is listed twice");
            let found = find(&name.to_ascii_uppercase()).map(|row| row.name.to_ascii_lowercase());
            assert_eq!(found, Some(name.to_ascii_lowercase()));
        }
        assert_eq!(find("NoSuchCode"), None);
    }

    #[test]
    fn names_of_exit_codes_are_in_the_tables_of_exit_codes_only() {
        let twice = rows().iter().map(|row| row.name);
        let twice: Vec<&str> =
            twice.filter(|name| !mooring_codes::by_name(name).is_empty()).collect();
        assert_eq!(twice, Vec::<&str>::new());
    }

    #[test]
    fn every_class_has_codes() {
        let used: BTreeSet<&str> = lines().filter_map(|line| line.split(" | ").nth(1)).collect();
        let all: BTreeSet<&str> = CLASSES.iter().map(|class| class.name).collect();
        assert_eq!(used, all);
    }

    #[test]
    fn page_has_the_facts_of_the_row() {
        let page = page("routetableinvalidnexthop").unwrap();
        let row = find("RouteTableInvalidNextHop").unwrap();
        assert_eq!((page.reason, page.owner, page.retry), (row.name, row.owner, row.retry));
        assert_eq!((page.summary, page.actions), (row.meaning, vec![row.next]));
        assert_eq!(pages().count(), rows().len());
    }
}
