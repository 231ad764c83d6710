//! An existing temporary pool, and the run in its tags.

use std::fmt;

use mooring_redact::identifier;
use serde::Serialize;

use crate::names::{
    APPROVAL_TAG, JOURNAL_TAG, PURPOSE, PURPOSE_TAG, RUN_TAG, SOURCE_TAG, approved_plan,
    temporary_pool,
};
use crate::observation::Pool;
use mooring_workflow::approval::PlanHash;

/// Shows that a run is unfinished, or ended without removing it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TemporaryPool {
    #[serde(rename = "name")]
    pub pool: String,
    #[serde(rename = "runId")]
    pub run: Option<String>,
    /// Journal of the run: `configmap/NAMESPACE/NAME`.
    pub journal: Option<String>,
    /// Plan that was approved for the run.
    #[serde(rename = "planHash")]
    pub approval: Option<PlanHash>,
    /// Resource id of the pool that it replaces.
    #[serde(rename = "sourceId")]
    pub source: Option<String>,
}

impl TemporaryPool {
    /// Returns the temporary pool for the pool of this name.
    pub fn of(pools: &[Pool], source: &str) -> Option<Self> {
        // The source may be deleted, so its OS is unknown.
        let names = [false, true].map(|windows| temporary_pool(source, windows));
        let mut candidates = pools.iter().filter(|pool| names.contains(&pool.name));
        let pool = candidates.find(|pool| pool.tag(PURPOSE_TAG).as_deref() == Some(PURPOSE))?;
        // Tags are untrusted text.
        let tag = |name| pool.tag(name).map(|text| identifier(&text));
        Some(Self {
            run: tag(RUN_TAG),
            journal: tag(JOURNAL_TAG),
            approval: pool.tag(APPROVAL_TAG).as_deref().and_then(approved_plan),
            source: pool.tag(SOURCE_TAG),
            pool: pool.name.clone(),
        })
    }

    pub fn remediation(&self) -> String {
        format!(
            "{self}; check that run first (`status --all` with its journal): if it is unfinished, continue it with `resume` and \
             that journal; otherwise the next `apply` with that journal adopts the pool"
        )
    }
}

impl fmt::Display for TemporaryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pool {} is the temporary pool of ", self.pool)?;
        match &self.run {
            Some(run) => write!(f, "run {run}")?,
            None => f.write_str("an unknown run")?,
        }
        match &self.journal {
            Some(journal) => write!(f, ", journal {journal}"),
            None => f.write_str(", journal unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(name: &str, tags: &Value) -> Option<TemporaryPool> {
        let pool = json!({"name": name, "properties": {"tags": tags}});
        TemporaryPool::of(&[Pool::read(&pool).unwrap()], "system")
    }

    #[test]
    fn temporary_pool_has_its_run_and_journal() {
        let tags = json!({PURPOSE_TAG: PURPOSE, RUN_TAG: "r1", JOURNAL_TAG: "configmap/ops/repair-system"});
        assert_eq!(
            found("systmp", &tags).unwrap().to_string(),
            "pool systmp is the temporary pool of run r1, journal configmap/ops/repair-system"
        );
        assert_eq!(
            found("systmp", &json!({PURPOSE_TAG: PURPOSE})).unwrap().to_string(),
            "pool systmp is the temporary pool of an unknown run, journal unknown"
        );
    }

    #[test]
    fn foreign_pool_is_not_a_temporary_pool() {
        assert_eq!(found("systmp", &json!({RUN_TAG: "r1"})), None);
        assert_eq!(found("system", &json!({PURPOSE_TAG: PURPOSE})), None);
    }

    #[test]
    fn tag_cannot_write_to_the_terminal() {
        let tags = json!({PURPOSE_TAG: PURPOSE, JOURNAL_TAG: "file/\u{1b}[2J\n"});
        let text = found("systmp", &tags).unwrap().to_string();
        assert!(!text.contains('\u{1b}') && !text.contains('\n'), "{text:?}");
    }
}
