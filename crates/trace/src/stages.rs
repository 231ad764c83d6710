//! Stages of a node's life.

use jiff::Timestamp;

use crate::life::{
    BOOT, BOOTSTRAP, LAUNCH, LifeState, MACHINE, MACHINE_AND_BOOTSTRAP, NodeLife, READY, REGISTER,
};
use crate::read::FoundSpan;
use crate::timeline::{SpanKind, SpanSource, TimelineOutcome};

impl NodeLife {
    /// Returns the result of the bootstrap, as far as the cluster and Azure show it.
    pub(crate) fn outcome(&self) -> TimelineOutcome {
        if self.node_created.is_some() || self.registered.is_some() {
            TimelineOutcome::Succeeded
        } else if self.has_failed_extension || self.failed.is_some() {
            TimelineOutcome::Failed
        } else {
            TimelineOutcome::Unknown
        }
    }

    /// Returns the stages. `found` has the spans of the report, if Azure has one.
    pub(crate) fn stages(&self, found: &[FoundSpan]) -> Vec<FoundSpan> {
        let mut stages = Vec::new();
        let has_failed = self.state == LifeState::Failed;
        let run = found.iter().find(|one| one.kind == SpanKind::Run);
        let kernel = found.iter().find(|one| one.kind == SpanKind::Boot && one.name == "kernel");
        if let Some(created) = self.created {
            let failed = self.launched.is_none() && self.launch_failed.is_some();
            let end = self.launched.or(self.launch_failed);
            stages.push(stage(LAUNCH, created, end, failed, SpanSource::Cluster));
        }
        let machine = self.launched.or(self.vm_created);
        let joined = self.node_created.or(self.registered);
        let source = if self.ended.is_some() { SpanSource::Azure } else { SpanSource::Record };
        let ended = run.and_then(|run| run.end).or(self.ended);
        let is_registered = joined.is_some() || (has_failed && self.bootstrap_succeeded(run));
        let bootstrap_failed = has_failed && !is_registered;
        let end = ended.or(if bootstrap_failed { self.failed } else { joined });
        match (machine, run) {
            (_, Some(run)) => {
                if let Some(machine) = machine.filter(|machine| *machine < run.start) {
                    stages.push(stage(MACHINE, machine, Some(run.start), false, SpanSource::Azure));
                    if let Some(kernel) = kernel.filter(|kernel| kernel.start >= machine) {
                        let end = Some(run.start.max(kernel.start));
                        stages.push(stage(BOOT, kernel.start, end, false, SpanSource::Report));
                    }
                }
                stages.push(stage(BOOTSTRAP, run.start, end, bootstrap_failed, SpanSource::Report));
            }
            (Some(machine), None) => {
                stages.push(stage(MACHINE_AND_BOOTSTRAP, machine, end, bootstrap_failed, source));
            }
            (None, None) => {}
        }
        if let (Some(from), true) = (ended, is_registered || (joined.is_none() && !has_failed)) {
            let end = joined.or(self.failed.filter(|_| has_failed));
            let failed = has_failed && joined.is_none();
            stages.push(stage(REGISTER, from, end, failed, SpanSource::Cluster));
        }
        if let Some(joined) = joined {
            stages.push(stage(READY, joined, self.ready, false, SpanSource::Cluster));
        }
        stages
    }

    /// Returns true if the node failed after a bootstrap that succeeded.
    fn bootstrap_succeeded(&self, run: Option<&FoundSpan>) -> bool {
        let by_report = run.is_some_and(|run| run.end.is_some() && !run.failed);
        by_report || (self.ended.is_some() && !self.has_failed_extension)
    }
}

fn stage(
    name: &str,
    start: Timestamp,
    end: Option<Timestamp>,
    failed: bool,
    source: SpanSource,
) -> FoundSpan {
    FoundSpan {
        // Clocks of the node, the cluster and Azure differ.
        end: end.map(|end| end.max(start)),
        failed,
        ..FoundSpan::new(name, SpanKind::Stage, start, source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::LifeFile;

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

    fn names(life: &NodeLife) -> Vec<(String, Option<f64>)> {
        let seconds =
            |one: &FoundSpan| one.end.map(|end| end.duration_since(one.start).as_secs_f64());
        life.stages(&[]).iter().map(|one| (one.name.clone(), seconds(one))).collect()
    }

    #[test]
    fn conditions_of_a_node_claim_give_the_stages() {
        let mut life = NodeLife::default();
        let text = claim(
            &(since("Launched", "True", 3)
                + &since("Registered", "True", 40)
                + &since("Initialized", "True", 50)),
        );
        life.add(LifeFile::NodeClaim, text.as_bytes()).unwrap();
        let life = life.judged(None);
        assert_eq!((life.state, life.outcome()), (LifeState::Joined, TimelineOutcome::Succeeded));
        let expected = [(LAUNCH, 3.0), (MACHINE_AND_BOOTSTRAP, 37.0), (READY, 10.0)];
        let expected = expected.map(|(name, seconds)| (name.to_owned(), Some(seconds)));
        assert_eq!(names(&life), expected);
    }

    #[test]
    fn failed_launch_has_no_machine() {
        let mut life = NodeLife::default();
        life.add(LifeFile::NodeClaim, claim(&since("Launched", "False", 7)).as_bytes()).unwrap();
        let life = life.judged(None);
        assert_eq!((life.state, life.cause.as_deref()), (LifeState::Failed, Some("Why")));
        assert_eq!(names(&life), [(LAUNCH.to_owned(), Some(7.0))]);
    }

    #[test]
    fn deleted_node_has_the_times_of_the_record() {
        let mut life = NodeLife::default();
        let record = r#"[{"at":"2026-11-17T09:01:14Z","launched":"2026-11-17T09:00:03Z","nodeClaim":"default-1","cause":"OrasBinaryMissing","code":211}]"#;
        life.add(LifeFile::Record, record.as_bytes()).unwrap();
        let life = life.judged(Some(211));
        assert_eq!(life.state, LifeState::Failed);
        assert_eq!(names(&life), [(MACHINE_AND_BOOTSTRAP.to_owned(), Some(71.0))]);
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn found(name: &str, kind: SpanKind, from: i64, to: Option<i64>, failed: bool) -> FoundSpan {
        FoundSpan { kind, ..stage(name, at(from), to.map(at), failed, SpanSource::Report) }
    }

    fn stages(life: &NodeLife, found: &[FoundSpan]) -> Vec<String> {
        let second = |time: Timestamp| time.as_second() - 1_800_000_000;
        let shown = |one: &FoundSpan| {
            let end = one.end.map(|end| second(end).to_string()).unwrap_or_default();
            let failed = if one.failed { " failed" } else { "" };
            let source = one.sources[0].as_str();
            format!("{} {}..{end} {source}{failed}", one.name, second(one.start))
        };
        life.stages(found).iter().map(shown).collect()
    }

    #[test]
    fn stages_show_how_far_a_joining_node_is() {
        let created = NodeLife { created: Some(at(0)), ..NodeLife::default() };
        assert_eq!(stages(&created, &[]), ["created → launched 0.. cluster"]);
        let launched = NodeLife { launched: Some(at(9)), ..created };
        let retried = NodeLife { launch_failed: Some(at(5)), ..launched.clone() };
        let expected = ["created → launched 0..9 cluster", "machine, bootstrap 9.. record"];
        assert_eq!(stages(&retried, &[]), expected, "a launch that failed before");
        let spans = [
            found("cloud-init", SpanKind::Boot, 15, Some(15), false),
            found("kernel", SpanKind::Boot, 20, Some(20), false),
            found("cse_start", SpanKind::Run, 40, Some(70), false),
        ];
        let expected = [
            "created → launched 0..9 cluster",
            "machine 9..40 azure",
            "kernel, cloud-init 20..40 report",
            "bootstrap 40..70 report",
            "register 70.. cluster",
        ];
        assert_eq!(stages(&launched, &spans), expected);
        let late = NodeLife { launched: Some(at(40)), ..NodeLife::default() };
        let expected = ["bootstrap 40..70 report", "register 70.. cluster"];
        assert_eq!(stages(&late, &spans), expected, "the machine starts with the scripts");
    }

    #[test]
    fn failure_belongs_to_the_bootstrap_or_the_registration() {
        let failed = NodeLife {
            state: LifeState::Failed,
            launched: Some(at(3)),
            failed: Some(at(100)),
            ..NodeLife::default()
        };
        let run = |failed| [found("cse_start", SpanKind::Run, 40, Some(70), failed)];
        let expected =
            ["machine 3..40 azure", "bootstrap 40..70 report", "register 70..100 cluster failed"];
        assert_eq!(stages(&failed, &run(false)), expected);
        let expected = ["machine 3..40 azure", "bootstrap 40..70 report failed"];
        assert_eq!(stages(&failed, &run(true)), expected);
        let extension = NodeLife { ended: Some(at(70)), ..failed };
        let expected = ["machine, bootstrap 3..70 azure", "register 70..100 cluster failed"];
        assert_eq!(stages(&extension, &[]), expected);
        let failed_extension = NodeLife { has_failed_extension: true, ..extension };
        assert_eq!(stages(&failed_extension, &[]), ["machine, bootstrap 3..70 azure failed"]);
    }

    #[test]
    fn outcome_follows_from_any_one_fact() {
        let outcome = |life: NodeLife| life.outcome();
        assert_eq!(outcome(NodeLife::default()), TimelineOutcome::Unknown);
        let failed_extension = NodeLife { has_failed_extension: true, ..NodeLife::default() };
        assert_eq!(outcome(failed_extension), TimelineOutcome::Failed);
        let failed = NodeLife { failed: Some(at(0)), ..NodeLife::default() };
        assert_eq!(outcome(failed.clone()), TimelineOutcome::Failed);
        let registered = NodeLife { registered: Some(at(1)), ..failed.clone() };
        assert_eq!(outcome(registered), TimelineOutcome::Succeeded);
        let node = NodeLife { node_created: Some(at(1)), ..failed };
        assert_eq!(outcome(node), TimelineOutcome::Succeeded);
    }
}
