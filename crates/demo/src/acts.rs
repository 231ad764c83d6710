//! How each act of a story is played, and what must come of it.

mod boot;
mod look;
mod repair;
mod trouble;

use crate::scenario::Act;
use crate::stage::Stage;
use crate::trouble::Trouble;

impl Stage<'_> {
    pub(crate) async fn play(&mut self, act: &Act) -> Result<(), Trouble> {
        match act {
            Act::Boot(boot) => self.boot(boot).await,
            Act::Describe(describe) => self.describe(describe).await,
            Act::Why(why) => self.why(why).await,
            Act::Fleet(fleet) => self.fleet(fleet).await,
            Act::Wedge(wedge) => self.wedge(wedge),
            Act::Fault(fault) => {
                self.fault(fault);
                Ok(())
            }
            Act::Delete(delete) => self.delete(delete).await,
            Act::Detect(detect) => self.detect(detect).await,
            Act::Plan(_) => self.plan().await,
            Act::Apply(apply) => self.apply(apply).await,
            Act::Resume(resume) => self.resume(resume).await,
        }
    }
}
