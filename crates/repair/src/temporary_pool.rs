//! A temporary pool that is there, and what its tags tell of the run that made it.

use std::fmt;

use mooring_redact::identifier;
use serde::Serialize;

use crate::names::{
    APPROVAL_TAG, JOURNAL_TAG, PURPOSE, PURPOSE_TAG, RUN_TAG, SOURCE_TAG, approved_plan,
    temporary_pool,
};
use crate::observation::Pool;
use mooring_workflow::approval::PlanHash;

/// Where it stands, a run is not over, whoever knows of it, or it ended without its pool's work being done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TemporaryPool {
    pub pool: String,
    /// The run that made it.
    pub run: Option<String>,
    /// Where that run's journal is: `configmap/NAMESPACE/NAME` or `file/PATH`.
    pub journal: Option<String>,
    /// The plan that was approved for that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<PlanHash>,
    /// The resource id of the pool that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl TemporaryPool {
    /// The one that stands in for the pool of this name.
    pub fn of(pools: &[Pool], source: &str) -> Option<Self> {
        // The source may be gone, and with it whether it ran Windows.
        let names = [false, true].map(|windows| temporary_pool(source, windows));
        let mut candidates = pools.iter().filter(|pool| names.contains(&pool.name));
        let pool = candidates.find(|pool| pool.tag(PURPOSE_TAG).as_deref() == Some(PURPOSE))?;
        // Whoever may write tags may write anything there.
        let tag = |name| pool.tag(name).map(|text| identifier(&text));
        Some(Self {
            run: tag(RUN_TAG),
            journal: tag(JOURNAL_TAG),
            approval: pool.tag(APPROVAL_TAG).as_deref().and_then(approved_plan),
            source: pool.tag(SOURCE_TAG),
            pool: pool.name.clone(),
        })
    }
}

impl TemporaryPool {
    /// What it is, and what to do about it.
    pub fn remediation(&self) -> String {
        format!(
            "{self}; look at that run first (`status --all` with its journal): if it is not over, `resume` with that journal \
             continues it, else the next `apply` with it takes the pool over"
        )
    }
}

impl fmt::Display for TemporaryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pool {} is the temporary one of ", self.pool)?;
        match &self.run {
            Some(run) => write!(f, "run {run}")?,
            None => f.write_str("an unknown run")?,
        }
        match &self.journal {
            Some(journal) => write!(f, ", whose journal is {journal}"),
            None => f.write_str(", whose journal is not known"),
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
    fn a_temporary_pool_tells_its_run_and_journal() {
        let tags = json!({PURPOSE_TAG: PURPOSE, RUN_TAG: "r1", JOURNAL_TAG: "file//tmp/j"});
        assert_eq!(
            found("systmp", &tags).unwrap().to_string(),
            "pool systmp is the temporary one of run r1, whose journal is file//tmp/j"
        );
        assert_eq!(
            found("systmp", &json!({PURPOSE_TAG: PURPOSE})).unwrap().to_string(),
            "pool systmp is the temporary one of an unknown run, whose journal is not known"
        );
    }

    #[test]
    fn a_pool_of_somebody_else_is_none() {
        assert_eq!(found("systmp", &json!({RUN_TAG: "r1"})), None);
        assert_eq!(found("system", &json!({PURPOSE_TAG: PURPOSE})), None);
    }

    #[test]
    fn a_tag_cannot_write_to_the_terminal() {
        let tags = json!({PURPOSE_TAG: PURPOSE, JOURNAL_TAG: "file/\u{1b}[2J\n"});
        let text = found("systmp", &tags).unwrap().to_string();
        assert!(!text.contains('\u{1b}') && !text.contains('\n'), "{text:?}");
    }
}
