//! Events that are due, applied in order.

use http::Method;
use jiff::Timestamp;

use crate::azure::behavior::wedge;
use crate::azure::state::{
    AzureState, OperationStatus, ScheduledEvent, SimulatedOperation, Work, later,
};
use crate::faults::OperationFault;

impl AzureState {
    pub(crate) fn settle(&mut self, now: Timestamp) {
        while let Some((at, event)) = self.events.due(now) {
            match event {
                ScheduledEvent::OperationEnds { operation } => self.end_operation(&operation, at),
                ScheduledEvent::PoolGrows { operation }
                | ScheduledEvent::PoolShrinks { operation }
                    if self.locked_out(&operation).is_some() => {}
                ScheduledEvent::PoolGrows { operation } => self.grow_pool(&operation, at),
                ScheduledEvent::PoolShrinks { operation } => self.shrink_pool(&operation),
                ScheduledEvent::MachineRuns { id } => self.run_machine(&id, at, true),
                ScheduledEvent::ExtensionEnds { id } => self.end_extension(&id, at, true),
                ScheduledEvent::BillingEnds { id } => self.end_billing(&id, at),
                ScheduledEvent::InterfaceStaysEmpty { nic } => self.empty_interface(&nic),
                ScheduledEvent::NodeJoins { id } => self.join_node(&id),
                ScheduledEvent::WedgeRetries { vmss } => self.retry_wedge(vmss, at),
            }
        }
    }

    fn end_operation(&mut self, id: &str, at: Timestamp) {
        let Some(operation) = self.operations.get(id).filter(|o| o.is_running()).cloned() else {
            return;
        };
        match operation.fault {
            Some(OperationFault::Failed) => {
                let error = ("InternalOperationError", "Internal server error");
                self.fail(&operation, OperationStatus::Failed, Some(error), at);
            }
            Some(OperationFault::Canceled) => {
                self.fail(&operation, OperationStatus::Canceled, None, at);
            }
            Some(OperationFault::Replaced) => self.replace(&operation, at),
            None => match self.locked_out(&operation.id) {
                Some(why) => {
                    self.fail(&operation, OperationStatus::Failed, Some(("ScopeLocked", &why)), at);
                }
                None => self.complete(&operation, at),
            },
        }
    }

    /// Returns the error of an accepted operation whose scale set is locked.
    fn locked_out(&self, operation: &str) -> Option<String> {
        let operation = self.operations.get(operation)?;
        if !matches!(operation.work, Work::PutPool { .. } | Work::DeletePool) {
            return None;
        }
        let vmss = self.vmss_id(self.store.text(&operation.target, "/name"));
        let new = || format!("{}/new", self.options.compute("virtualMachineScaleSets"));
        let method = if operation.work == Work::DeletePool { Method::DELETE } else { Method::PUT };
        self.locks_against(&method, &vmss.unwrap_or_else(new))
    }

    /// Completes an operation, or fails it if the state of its resources requires that.
    fn complete(&mut self, operation: &SimulatedOperation, at: Timestamp) {
        let id = self.true_id(&operation.target);
        match &operation.work {
            Work::PutPool { created, .. } => {
                if !self.write_pool(&id, at) {
                    let what = if *created { "Create" } else { "Reconcile" };
                    let code = format!("{what}VMSSAgentPoolFailed");
                    let message =
                        format!("Code=\"{}\" Message=\"{}\"", wedge::CODE, wedge::MESSAGE);
                    let error = Some((code.as_str(), message.as_str()));
                    return self.fail(operation, OperationStatus::Failed, error, at);
                }
                self.set_state(&id, "Succeeded");
            }
            Work::DeletePool => {
                if let Some(vmss) = self.vmss_id(self.store.text(&id, "/name")) {
                    self.remove_vmss(&vmss);
                }
                self.store.remove(&id);
            }
            Work::UpdateCluster => self.set_state(&id, "Succeeded"),
            Work::Abort { operation: aborted } => {
                // An operation that has ended since then keeps its result.
                let aborted = self.operations.get(aborted).filter(|aborted| aborted.is_running());
                if let Some(aborted) = aborted.cloned() {
                    self.fail(&aborted, OperationStatus::Canceled, None, at);
                    // Writes of an aborted operation are not retried.
                    self.events
                        .forget(|event| matches!(event, ScheduledEvent::WedgeRetries { .. }));
                }
            }
            Work::DeleteMachine => self.remove_machine(&id),
            Work::PatchVmss => {
                if !self.write_vmss(&id, at) {
                    let error = Some((wedge::CODE, wedge::MESSAGE));
                    return self.close(&operation.id, OperationStatus::Failed, error, at);
                }
            }
            Work::Answer { .. } => {}
        }
        self.close(&operation.id, OperationStatus::Succeeded, None, at);
        let work = &operation.work;
        if !matches!(work, Work::DeleteMachine | Work::PatchVmss | Work::Answer { .. }) {
            self.log_end(operation, &id, "Succeeded", at);
        }
    }

    /// Writes the scale set of a pool. A pool of single VMs has none.
    fn write_pool(&mut self, pool: &str, at: Timestamp) -> bool {
        match self.vmss_id(self.store.text(pool, "/name")) {
            Some(vmss) => self.write_vmss(&vmss, at),
            None => self.store.text(pool, "/properties/type") == "VirtualMachines",
        }
    }

    /// Ends an operation without its effect.
    fn fail(
        &mut self,
        operation: &SimulatedOperation,
        status: OperationStatus,
        error: Option<(&str, &str)>,
        at: Timestamp,
    ) {
        let error = error.or((status == OperationStatus::Canceled)
            .then_some(("OperationCanceled", "The operation was canceled.")));
        self.close(&operation.id, status, error, at);
        let id = self.true_id(&operation.target);
        match operation.work {
            Work::PutPool { .. } | Work::DeletePool | Work::UpdateCluster => {
                self.set_state(&id, status.as_str());
                self.log_end(operation, &id, status.as_str(), at);
            }
            Work::PatchVmss | Work::DeleteMachine => self.set_state(&id, "Failed"),
            // The operation to abort continues.
            Work::Abort { .. } => self.set_state(&id, "Updating"),
            Work::Answer { .. } => {}
        }
    }

    /// Cancels an operation; a later one continues the work under another id.
    fn replace(&mut self, operation: &SimulatedOperation, at: Timestamp) {
        let successor = self.guid();
        let message =
            format!("The operation was preempted by a more recent operation '{successor}'.");
        let error = Some(("OperationPreempted", message.as_str()));
        self.close(&operation.id, OperationStatus::Canceled, error, at);
        let length =
            operation.ends.and_then(|ends| ends.duration_since(operation.started).try_into().ok());
        let ends = later(at, length.unwrap_or_default());
        let next = SimulatedOperation {
            id: successor.clone(),
            logged: self.guid(),
            started: at,
            ends: Some(ends),
            ended: None,
            status: OperationStatus::InProgress,
            error: None,
            fault: None,
            hidden: false,
            ..operation.clone()
        };
        self.operations.insert(successor.clone(), next.clone());
        self.events.plan(ends, ScheduledEvent::OperationEnds { operation: successor });
        self.plan_pool(&next);
    }

    fn log_end(&mut self, operation: &SimulatedOperation, id: &str, status: &str, at: Timestamp) {
        self.log(at, &operation.action(), id, status, operation.origin(), None);
    }
}
