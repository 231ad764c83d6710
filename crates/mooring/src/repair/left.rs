//! What an earlier run left.

use mooring_repair::begin::BeginError;
use mooring_repair::journal::Record;
use mooring_repair::machine::{Phase, State};
use mooring_repair::report::DetectionReport;
use mooring_repair::shell::{Ending, Operator, Standing, Unreached};

use crate::failure::Failure;
use crate::journaled::{in_the_way, patiently, write};

/// What an earlier run left, before anything is judged: a pool that was deleted and not made again looks like no
/// pool at all.
pub(crate) async fn left(operator: &mut Operator) -> Result<Option<Ending>, Failure> {
    // Without a journal to read, the guards say what is wrong.
    let Ok(standing) = operator.status().await else { return Ok(None) };
    let Some(state) = unfinished(operator, &standing.records)? else { return Ok(None) };
    Ok(Some(in_the_way(standing.lock, BeginError::Unfinished(state.run))))
}

/// What the journal says; none if there is no cluster that could have one, which is said.
pub(crate) async fn standing(operator: &mut Operator) -> Result<Option<Standing>, Failure> {
    match patiently(operator.status()).await {
        Err(Unreached::Absent(_)) => {
            let target = &operator.settings().target;
            write(&format!(
                "there is no cluster {} in {}; nothing to do\n",
                target.cluster, target.resource_group
            ));
            Ok(None)
        }
        told => Ok(Some(told?)),
    }
}

impl From<Unreached> for Failure {
    fn from(unreached: Unreached) -> Self {
        let failure = Self::unreadable(unreached.why().to_owned());
        match unreached {
            Unreached::Throttled(_) => failure.with_code(6),
            Unreached::Absent(_) | Unreached::Failed(_) => failure,
        }
    }
}

/// Fails if a temporary pool is there although the journal knows of no run: somebody deleted a pool and did not make it
/// again, and a guard that says *there is no such pool* must not hide that.
pub(crate) fn nobody_stands_in(report: &DetectionReport) -> Result<(), Failure> {
    match &report.stand_in {
        None => Ok(()),
        Some(left) => Err(Failure::refused(format!(
            "{left}; no run of this journal is under way\nhint: `mooring repair status --all --journal` with that one tells how far it is, and `resume` continues it; only if that run is over and the pool is well, drain the temporary pool and delete it (docs/RUNBOOK.md)"
        ))),
    }
}

/// The journal's last run, if it is not over; fails if it is another pool's.
pub(crate) fn unfinished(
    operator: &Operator,
    records: &[Record],
) -> Result<Option<State>, Failure> {
    let state = State::replay(records).map_err(|error| Failure::unreadable(error.to_string()))?;
    let state = state.filter(|state| !matches!(state.phase, Phase::Finished(_)));
    if let Some(state) = &state {
        operator.own(state).map_err(Failure::unreadable)?;
    }
    Ok(state)
}
