//! Stages of a node's life.

use jiff::Timestamp;

use super::found::Found;
use crate::model::life::{
    BOOT, BOOTSTRAP, LAUNCH, Life, LifeState, MACHINE, MACHINE_AND_BOOTSTRAP, READY, REGISTER,
};
use crate::model::timeline::{Kind, Outcome, Source};

impl Life {
    /// Returns the result of the bootstrap, as far as the cluster and Azure show it.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.node_created.is_some() || self.registered.is_some() {
            Outcome::Succeeded
        } else if self.has_failed_extension || self.failed.is_some() {
            Outcome::Failed
        } else {
            Outcome::Unknown
        }
    }

    /// Returns the stages. `found` has the spans of the report, if Azure has one.
    pub(crate) fn stages(&self, found: &[Found]) -> Vec<Found> {
        let mut stages = Vec::new();
        let has_failed = self.state == LifeState::Failed;
        let run = found.iter().find(|one| one.kind == Kind::Run);
        let kernel = found.iter().find(|one| one.kind == Kind::Boot && one.name == "kernel");
        if let Some(created) = self.created {
            let failed = self.launched.is_none() && self.launch_failed.is_some();
            let end = self.launched.or(self.launch_failed);
            stages.push(stage(LAUNCH, created, end, failed, Source::Cluster));
        }
        let machine = self.launched.or(self.vm_created);
        let joined = self.node_created.or(self.registered);
        let source = if self.ended.is_some() { Source::Azure } else { Source::Record };
        let ended = run.and_then(|run| run.end).or(self.ended);
        let is_registered = joined.is_some() || (has_failed && self.bootstrap_succeeded(run));
        let bootstrap_failed = has_failed && !is_registered;
        let end = ended.or(if bootstrap_failed { self.failed } else { joined });
        match (machine, run) {
            (_, Some(run)) => {
                if let Some(machine) = machine.filter(|machine| *machine < run.start) {
                    stages.push(stage(MACHINE, machine, Some(run.start), false, Source::Azure));
                    if let Some(kernel) = kernel.filter(|kernel| kernel.start >= machine) {
                        let end = Some(run.start.max(kernel.start));
                        stages.push(stage(BOOT, kernel.start, end, false, Source::Report));
                    }
                }
                stages.push(stage(BOOTSTRAP, run.start, end, bootstrap_failed, Source::Report));
            }
            (Some(machine), None) => {
                stages.push(stage(MACHINE_AND_BOOTSTRAP, machine, end, bootstrap_failed, source));
            }
            (None, None) => {}
        }
        if let (Some(from), true) = (ended, is_registered || (joined.is_none() && !has_failed)) {
            let end = joined.or(self.failed.filter(|_| has_failed));
            let failed = has_failed && joined.is_none();
            stages.push(stage(REGISTER, from, end, failed, Source::Cluster));
        }
        if let Some(joined) = joined {
            stages.push(stage(READY, joined, self.ready, false, Source::Cluster));
        }
        stages
    }

    /// Returns true if the node failed after a bootstrap that succeeded.
    fn bootstrap_succeeded(&self, run: Option<&Found>) -> bool {
        let by_report = run.is_some_and(|run| run.end.is_some() && !run.failed);
        by_report || (self.ended.is_some() && !self.has_failed_extension)
    }
}

fn stage(
    name: &str,
    start: Timestamp,
    end: Option<Timestamp>,
    failed: bool,
    source: Source,
) -> Found {
    Found {
        name: name.to_owned(),
        kind: Kind::Stage,
        start,
        // Clocks of the node, the cluster and Azure differ.
        end: end.map(|end| end.max(start)),
        failed,
        sources: vec![source],
        message: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::life::LifeFile;

    fn claim(conditions: &str) -> String {
        format!(
            "kind: NodeClaim\nmetadata:\n  name: default-1\n  creationTimestamp: \"2026-11-17T09:00:00Z\"\n  labels:\n    karpenter.sh/nodepool: default\nstatus:\n  conditions:\n{conditions}"
        )
    }

    fn since(kind: &str, status: &str, second: u32) -> String {
        format!(
            "  - type: {kind}\n    status: \"{status}\"\n    reason: Why\n    lastTransitionTime: \"2026-11-17T09:00:{second:02}Z\"\n"
        )
    }

    fn names(life: &Life) -> Vec<(String, Option<f64>)> {
        let seconds = |one: &Found| one.end.map(|end| end.duration_since(one.start).as_secs_f64());
        life.stages(&[]).iter().map(|one| (one.name.clone(), seconds(one))).collect()
    }

    #[test]
    fn conditions_of_a_node_claim_give_the_stages() {
        let mut life = Life::default();
        let text = claim(
            &(since("Launched", "True", 3)
                + &since("Registered", "True", 40)
                + &since("Initialized", "True", 50)),
        );
        life.add(LifeFile::NodeClaim, text.as_bytes()).unwrap();
        let life = life.judged(None);
        assert_eq!((life.state, life.outcome()), (LifeState::Joined, Outcome::Succeeded));
        let expected = [(LAUNCH, 3.0), (MACHINE_AND_BOOTSTRAP, 37.0), (READY, 10.0)];
        let expected = expected.map(|(name, seconds)| (name.to_owned(), Some(seconds)));
        assert_eq!(names(&life), expected);
    }

    #[test]
    fn failed_launch_has_no_machine() {
        let mut life = Life::default();
        life.add(LifeFile::NodeClaim, claim(&since("Launched", "False", 7)).as_bytes()).unwrap();
        let life = life.judged(None);
        assert_eq!((life.state, life.cause.as_deref()), (LifeState::Failed, Some("Why")));
        assert_eq!(names(&life), [(LAUNCH.to_owned(), Some(7.0))]);
    }

    #[test]
    fn deleted_node_has_the_times_of_the_record() {
        let mut life = Life::default();
        let record = r#"[{"at":"2026-11-17T09:01:14Z","launched":"2026-11-17T09:00:03Z","nodeClaim":"default-1","cause":"OrasBinaryMissing","code":211}]"#;
        life.add(LifeFile::Record, record.as_bytes()).unwrap();
        let life = life.judged(Some(211));
        assert_eq!(life.state, LifeState::Failed);
        assert_eq!(names(&life), [(MACHINE_AND_BOOTSTRAP.to_owned(), Some(71.0))]);
    }

    #[test]
    fn invalid_files_are_errors() {
        let mut life = Life::default();
        assert_eq!(life.add(LifeFile::Node, b"kind: Pod").unwrap_err(), "not a Node");
        assert!(life.add(LifeFile::Vm, b"x").is_err());
        assert!(life.add(LifeFile::Usual, b"{}").is_err());
        assert!(life.add(LifeFile::NodeClaim, b"\x00:\n- [").is_err());
    }
}
