//! Runs a step by its kind.

use crate::environment::DemoEnvironment;
use crate::error::DemoError;
use crate::scenario::StepSpec;

impl DemoEnvironment<'_> {
    pub(crate) async fn run_step(&mut self, step: &StepSpec) -> Result<(), DemoError> {
        match step {
            StepSpec::Boot(boot) => self.boot(boot).await,
            StepSpec::Describe(describe) => self.describe(describe).await,
            StepSpec::Why(why) => self.why(why).await,
            StepSpec::Fleet(fleet) => self.fleet(fleet).await,
            StepSpec::Wedge(wedge) => self.wedge(wedge),
            StepSpec::Fault(fault) => {
                self.fault(fault);
                Ok(())
            }
            StepSpec::Delete(delete) => self.delete(delete).await,
            StepSpec::Detect(detect) => self.detect(detect).await,
            StepSpec::Plan(_) => self.plan().await,
            StepSpec::Apply(apply) => self.apply(apply).await,
            StepSpec::Resume(resume) => self.resume(resume).await,
        }
    }
}
