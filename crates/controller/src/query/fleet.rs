//! The table of images and causes: failures from the record, joined nodes from existing NodeClaims.

use std::collections::BTreeMap;

use mooring_diagnosis::fleet::Fleet;
use mooring_nodes::claim::Claim;
use mooring_nodes::record::RecordDocument;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRow {
    pub image: String,
    pub cause: String,
    pub failed: u32,
    pub nodes: u32,
    pub pools: Vec<String>,
    pub last: jiff::Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetTable {
    /// Sorted by number of failures.
    pub rows: Vec<ImageRow>,
    /// Statistically significant findings, with the image of each.
    pub findings: Vec<(String, String)>,
    /// Failures that did not fit into the record.
    pub dropped: u64,
    /// Failures that only an event reports; not counted in any row.
    pub unconfirmed: u32,
}

impl FleetTable {
    #[must_use]
    pub fn of(record: &RecordDocument, claims: &[Claim]) -> Self {
        let mut fleet = Fleet::default();
        let mut nodes: BTreeMap<String, u32> = BTreeMap::new();
        let mut rows: BTreeMap<(String, String), ImageRow> = BTreeMap::new();
        for claim in claims.iter().filter(|claim| claim.registered.is_some()) {
            if let Some(image) = claim.image_key() {
                fleet.count(&image, None);
                *nodes.entry(image).or_default() += 1;
            }
        }
        let unconfirmed = record.entries().filter(|entry| entry.unconfirmed).count();
        for entry in record.entries().filter(|entry| !entry.unconfirmed) {
            let image = entry.image.clone().unwrap_or_else(|| "unknown".to_owned());
            if entry.blames_image() {
                fleet.count(&image, Some(&entry.cause));
            }
            *nodes.entry(image.clone()).or_default() += 1;
            let row =
                rows.entry((image.clone(), entry.cause.clone())).or_insert_with(|| ImageRow {
                    image,
                    cause: entry.cause.clone(),
                    failed: 0,
                    nodes: 0,
                    pools: Vec::new(),
                    last: entry.at,
                });
            row.failed += 1;
            row.last = row.last.max(entry.at);
            if !entry.pool.is_empty() && !row.pools.contains(&entry.pool) {
                row.pools.push(entry.pool.clone());
            }
        }
        let mut rows: Vec<ImageRow> = rows.into_values().collect();
        for row in &mut rows {
            row.nodes = nodes.get(&row.image).copied().unwrap_or_default();
            row.pools.sort_unstable();
        }
        rows.sort_by(|a, b| {
            b.failed.cmp(&a.failed).then_with(|| (&a.image, &a.cause).cmp(&(&b.image, &b.cause)))
        });
        let findings = fleet.findings().into_iter();
        let findings =
            findings.map(|finding| (finding.image.clone(), finding.to_string())).collect();
        let unconfirmed = u32::try_from(unconfirmed).unwrap_or(u32::MAX);
        Self { rows, findings, dropped: record.dropped, unconfirmed }
    }

    pub fn about<'a>(&'a self, image: &'a str) -> impl Iterator<Item = &'a str> {
        self.findings
            .iter()
            .filter(move |(of, _)| of == image)
            .map(|(_, sentence)| sentence.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mooring_nodes::claim::intern::Interner;
    use mooring_nodes::record::FailureRecord;
    use serde_json::json;

    fn entry(number: usize) -> FailureRecord {
        serde_json::from_value(json!({
            "id": format!("{number}"), "at": "2026-11-15T08:00:00Z", "uid": format!("u{number}"),
            "nodeClaim": "c", "pool": "default", "node": "aks-c", "reason": "CSEFailed", "message": "m",
            "note": "n", "key": "k", "cause": "OrasBinaryMissing", "image": "202601.27.0",
        }))
        .unwrap()
    }

    #[test]
    fn joined_nodes_count_in_the_failure_rate() {
        let mut record = RecordDocument::default();
        record.merge(&(0..6).map(entry).collect::<Vec<_>>(), 50);
        let claims: Vec<Claim> = (0..20)
            .map(|number| {
                let object = json!({
                    "metadata": {"name": format!("g{number}"), "uid": format!("g{number}"), "creationTimestamp": "2026-11-15T07:00:00Z"},
                    "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "name": "default"}},
                    "status": {"imageID": "x/202601.13.0", "conditions": [{"type": "Registered", "status": "True"}]},
                });
                Claim::from_json(object.to_string().as_bytes(), "CSEProvisioned", &mut Interner::default()).unwrap()
            })
            .collect();
        let table = FleetTable::of(&record, &claims);
        assert_eq!((table.rows.len(), table.rows[0].failed, table.rows[0].nodes), (1, 6, 6));
        assert_eq!(table.rows[0].pools, ["default"]);
        let about: Vec<&str> = table.about("202601.27.0").collect();
        assert_eq!(about.len(), 1);
        assert!(about[0].starts_with("Image 202601.27.0: 6 of 6 nodes failed"), "{about:?}");
        assert_eq!(table.about("202601.13.0").count(), 0);
        assert_eq!(FleetTable::of(&RecordDocument::default(), &claims), FleetTable::default());
    }

    #[test]
    fn unconfirmed_failures_are_not_counted_by_image() {
        let mut record = RecordDocument::default();
        let entries = (0..6).map(|number| FailureRecord { unconfirmed: true, ..entry(number) });
        record.merge(&entries.collect::<Vec<_>>(), 50);
        let table = FleetTable::of(&record, &[]);
        assert_eq!((table.rows, table.findings, table.unconfirmed), (vec![], vec![], 6));
    }
}
