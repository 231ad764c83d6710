//! Decides what a removal does next.
//!
//! Every step is *level-triggered*: it compares actual with desired state, so that a run can continue after a crash at any
//! point. Unlike in a pool repair, an effect does not discard the reads, since lists may have thousands of objects: changed
//! objects count as handled until the next list.
//!
//! | module | idea |
//! |---|---|
//! | `context` | inputs of a step, its reads, and the retry policy of its effects |
//! | `objects`, `installation` | the steps |
//! | `operator_stopped` | the check before every step that deletes or removes finalizers |
//! | `remaining` | objects that remain at the end |

mod context;
mod installation;
mod objects;
mod operator_stopped;
mod remaining;

use mooring_workflow::{Cluster, EffectResult, Finish, NotRead, Reason, WaitLimits};

use self::context::Context;
use crate::cluster::view::OperatorView;
use crate::plan::terms::Terms;
use crate::removal::effect::Effect;
use crate::removal::step::Step;
use crate::removal::workflow::{Decision, FinalizerRemoval, Run};
use crate::runtime::OperatorCluster;

/// The cluster of a run, with its limits and what was read.
pub(crate) struct Removal {
    cluster: OperatorCluster,
    terms: Terms,
    view: OperatorView,
    /// The last change before the oldest read of the view; none for a view to be read again.
    view_seq: Option<u64>,
}

impl Removal {
    pub(crate) fn new(cluster: OperatorCluster, terms: Terms) -> Self {
        Self { cluster, terms, view: OperatorView::default(), view_seq: None }
    }
}

impl Cluster<FinalizerRemoval> for Removal {
    async fn next(&mut self, run: &Run) -> Result<Decision, NotRead> {
        if self.view_seq.is_none() {
            self.view = OperatorView::default();
        }
        let view_seq = *self.view_seq.get_or_insert(run.seq);
        let Self { cluster, terms, view, .. } = self;
        let now = cluster.now();
        let decision = Context { terms, run, cluster, view, view_seq, now }.decide().await;
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
    async fn decide(&self) -> Result<Decision, NotRead> {
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

fn done(evidence: impl Into<String>) -> Decision {
    Decision::Done(vec![evidence.into()])
}
