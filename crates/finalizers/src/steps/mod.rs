//! Decides what a removal does next.
//!
//! Every step is *level-triggered*: it compares actual with desired state, so that a run can continue after a crash at any
//! point. Unlike in a pool repair, an effect does not discard the reads, since lists may have thousands of objects: changed
//! objects count as handled until the next list.
//!
//! | module | idea |
//! |---|---|
//! | `context` | inputs of a step, the retry policy of its effects, and the check before every one that deletes |
//! | `objects`, `installation` | the steps |
//! | `remaining` | objects that remain at the end |

mod context;
mod installation;
mod objects;
mod remaining;

use mooring_workflow::{Cluster, EffectResult, Finish, NotRead, Reason, WaitLimits};

use self::context::{Context, Unknown, done};
use crate::cluster::{OperatorCluster, OperatorView};
use crate::effect::Effect;
use crate::plan::Terms;
use crate::step::Step;
use crate::workflow::{Decision, FinalizerRemoval, Run};

/// The cluster of a run, with its limits.
pub(crate) struct Removal {
    cluster: OperatorCluster,
    terms: Terms,
    /// The last change before the oldest read; none if all is to be read again.
    view_seq: Option<u64>,
}

impl Removal {
    pub(crate) fn new(cluster: OperatorCluster, terms: Terms) -> Self {
        Self { cluster, terms, view_seq: None }
    }
}

impl Cluster<FinalizerRemoval> for Removal {
    async fn next(&mut self, run: &Run) -> Result<Decision, NotRead> {
        if self.view_seq.is_none() {
            self.cluster.view = OperatorView::default();
        }
        let view_seq = *self.view_seq.get_or_insert(run.seq);
        let Self { cluster, terms, .. } = self;
        let now = cluster.now();
        let decision = match (Context { terms, run, cluster, view_seq, now }).decide().await {
            Ok(decision) => Ok(decision),
            Err(Unknown::Without(decision)) => Ok(*decision),
            Err(Unknown::Yet(not_read)) => Err(not_read),
        };
        // Reads after a rejected login show nothing.
        if cluster.api.is_signed_out() {
            let message = "the API server rejected the credentials (401)".to_owned();
            return Err(NotRead::Denied(Reason::SignedOut, message));
        }
        if !matches!(decision, Ok(Decision::Apply(_) | Decision::Note(_))) {
            self.view_seq = None;
        }
        decision
    }

    async fn perform(&mut self, effect: &Effect) -> EffectResult {
        self.cluster.change(effect).await
    }

    fn limits(&self, _: Option<Step>) -> WaitLimits {
        let limits = &self.terms.settings.limits;
        WaitLimits { session: limits.overall, step: None, poll: limits.poll }
    }
}

impl Context<'_> {
    async fn decide(&self) -> Result<Decision, Unknown> {
        let Some(step) = self.run.step() else {
            let left = self.remaining().await?;
            let finish = if left.is_empty() { Finish::Complete } else { Finish::Partial };
            return Ok(Decision::Finish(finish, left));
        };
        match step {
            Step::DeleteObjects => self.delete_objects().await,
            Step::WaitForTeardown => self.wait_for_teardown().await,
            Step::ScaleDown => self.scale_down().await,
            Step::RemoveFinalizers => self.remove_finalizers().await,
            Step::DeleteCrds => self.delete_crds().await,
            Step::DeleteBindings => self.delete_bindings().await,
            Step::DeleteRelease => self.delete_release().await,
            Step::DeleteNamespace => self.delete_namespace().await,
            Step::Verify => Ok(done("all objects were read again")),
        }
    }
}
