//! Steps that are due, and those that follow from changes.

use jiff::Timestamp;

use super::objects;
use crate::azure::{Azure, AzureChange};
use crate::karpenter::client::Client;
use crate::karpenter::event;
use crate::karpenter::state::POLL;
use crate::karpenter::state::{ClaimStep, Karpenter};
use crate::kubernetes::Kubernetes;

impl Karpenter {
    /// Runs the steps that are due. Returns true if there were any.
    pub fn settle(
        &mut self,
        azure: &mut Azure,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) -> bool {
        if self.stopped {
            return false;
        }
        let mut acted = self.read_claims(azure, kubernetes, now);
        let mut client = Client { azure, kubernetes, now };
        for event in self.transitions.take_events() {
            client.create(event::EVENTS, &event);
        }
        while let Some(first) = self.agenda.first_entry().filter(|entry| entry.key().0 <= now) {
            let (name, step) = first.remove();
            self.pending.remove(&(name.clone(), step.clone()));
            self.take(&name, step, &mut client);
            acted = true;
        }
        acted
    }

    pub fn next_change(&self) -> Option<Timestamp> {
        self.agenda.keys().next().map(|(at, _)| *at).filter(|_| !self.stopped)
    }

    /// Plans the steps that follow from a change in Azure.
    pub(crate) fn handle_change(&mut self, change: &AzureChange, now: Timestamp) {
        if self.stopped {
            return;
        }
        match change {
            AzureChange::VmRuns(vm)
                if self.claims.get(&vm.claim).is_some_and(|claim| claim.awaited) =>
            {
                self.plan(&vm.claim, ClaimStep::CreateExtensions, POLL, now);
            }
            AzureChange::CseEnded { vm, exit_code, message }
                if *exit_code != 0
                    && self.claims.get(&vm.claim).is_some_and(|claim| claim.awaited) =>
            {
                self.plan(&vm.claim, ClaimStep::Announce { message: message.clone() }, POLL, now);
            }
            AzureChange::VmGone(vm) => match self.claims.get(&vm.claim) {
                Some(claim) if claim.failed && !claim.ending => {
                    self.plan(&vm.claim, ClaimStep::DeleteClaim, 1, now);
                }
                _ => {}
            },
            AzureChange::NodeJoined(node) => {
                let Some(name) = &node.claim else { return };
                if let Some(claim) = self.claims.get_mut(name) {
                    claim.node = Some(node.name.clone());
                    self.plan(name, ClaimStep::Register, 1, now);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn hear_ready(&mut self, node: &str, now: Timestamp) {
        if self.stopped {
            return;
        }
        let found = self.claims.iter().find(|(_, claim)| claim.node.as_deref() == Some(node));
        if let Some(name) = found.map(|(name, _)| name.clone()) {
            self.plan(&name, ClaimStep::Initialize, 1, now);
        }
    }

    /// Reads changed NodeClaims and plans their steps.
    fn read_claims(&mut self, azure: &Azure, kubernetes: &Kubernetes, now: Timestamp) -> bool {
        let news = self.cache.read(kubernetes, now);
        let any = !news.is_empty();
        for name in news {
            match self.cache.newest(&name) {
                Some(object) if objects::is_ours(object) => {
                    let object = object.clone();
                    self.transitions.see(&object, now);
                    self.notice(&name, &object, azure, now);
                }
                Some(_) => {}
                None => {
                    self.claims.remove(&name);
                    self.transitions.forget(&name);
                    self.blocked.forget(&name);
                    self.forget_steps(&name);
                }
            }
        }
        any
    }
}
