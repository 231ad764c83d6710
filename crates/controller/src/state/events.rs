//! Reports of a failure: the entry in the record and the events derived from it.

use std::sync::Arc;

use jiff::Timestamp;
use mooring_diagnosis::decode;
use mooring_nodes::claim::Claim;
use mooring_nodes::record::FailureRecord;
use mooring_nodes::text::{safe, safe_tail};
use mooring_nodes::unregistered::REASON;
use mooring_nodes::verdict::{ConditionReason, Failure, Verdict, messages};

use super::machine::State;
use super::messages::Action;
use crate::observation::{CseState, Observation};
use crate::verdict::event::{Event, Regarding, RegardingKind};

const IMAGE_FAILS: &str = "ImageFailsBootstrap";

impl State {
    /// Creates the events of a recorded failure: on the NodeClaim, and on its pool, which outlives it.
    pub(super) fn create_events(&self, entry: &FailureRecord, actions: &mut Vec<Action>) {
        let reason = event_reason(&entry.reason);
        let claim = Regarding {
            kind: RegardingKind::NodeClaim,
            name: entry.node_claim.clone(),
            uid: Some(entry.uid.clone()),
        };
        // A pool outlives its NodeClaims, and only confirmed failures are reported on it.
        let on_pool = !entry.pool.is_empty() && !entry.unconfirmed;
        let pool = on_pool.then(|| self.regarding(RegardingKind::NodePool, &entry.pool));
        for regarding in std::iter::once(claim).chain(pool) {
            actions.push(Action::Event(Event {
                regarding,
                reason,
                note: entry.note.clone(),
                key: entry.id.clone(),
                at: entry.reported_at(),
            }));
        }
    }

    pub(super) fn regarding(&self, kind: RegardingKind, name: &str) -> Regarding {
        let uid = self.objects.get(&(kind, name.to_owned())).cloned();
        Regarding { kind, name: name.to_owned(), uid }
    }

    /// Reports an image that fails while others do not, once, on its node class and its pool.
    pub(super) fn report_images(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if !std::mem::take(&mut self.fleet_changed) && !self.fleet.has_old_finding(now) {
            return;
        }
        let changes = self.fleet.update(now);
        for (image, cause) in changes.over {
            actions.push(Action::ImageRecovered { image, cause });
        }
        for finding in changes.new {
            let (node_class, pool) = self.affected.get(&finding.image).cloned().unwrap_or_default();
            // `fleet` knows from the NodePool which advice this cluster can follow.
            let note = format!("{finding} What to do: mooring fleet");
            let note = safe(&note, messages::MAX_NOTE_BYTES);
            for (kind, name) in
                [(RegardingKind::AksNodeClass, node_class), (RegardingKind::NodePool, pool)]
            {
                if !name.is_empty() {
                    actions.push(Action::Event(Event {
                        regarding: self.regarding(kind, &name),
                        reason: IMAGE_FAILS,
                        note: note.clone(),
                        key: format!("{}/{}", finding.image, finding.cause),
                        at: now,
                    }));
                }
            }
            actions.push(Action::ImageFails { image: finding.image, cause: finding.cause });
        }
    }

    /// Reports Nodes that have lacked a providerID for too long, on their NodePools.
    pub(super) fn report_nodes(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.leads {
            return;
        }
        for node in self.nodes.take_due(now) {
            actions.push(Action::Event(Event {
                regarding: self.regarding(RegardingKind::NodePool, &node.pool),
                reason: REASON,
                note: node.finding(),
                key: node.uid.clone(),
                at: now,
            }));
            actions.push(Action::NodeFinding(node));
        }
    }
}

/// Events have a fixed set of reasons; a record of a later version may contain others.
fn event_reason(reason: &str) -> &'static str {
    match ConditionReason::parse(reason) {
        Some(
            reason @ (ConditionReason::NodeNotRegistered
            | ConditionReason::CseTimedOut
            | ConditionReason::CseFailureUnconfirmed),
        ) => reason.as_str(),
        _ => ConditionReason::CseFailed.as_str(),
    }
}

pub(super) fn failure_entry(
    claim: &Claim,
    verdict: &Verdict,
    failure: &Failure,
    at: Timestamp,
    now: Timestamp,
) -> FailureRecord {
    let key = verdict.key();
    let second = |at: Timestamp| Timestamp::from_second(at.as_second()).unwrap_or(at);
    let text = |text: &Option<Arc<str>>| text.as_deref().map(|text| safe(text, 128));
    FailureRecord {
        id: FailureRecord::id_of(&claim.uid, &key),
        at: second(at),
        reported_at: (second(at) < second(now)).then(|| second(now)),
        uid: claim.uid.to_string(),
        node_claim: claim.name.to_string(),
        pool: claim.pool.as_deref().unwrap_or_default().to_owned(),
        // The API server validates the other names, and not this one.
        node_class: safe(&claim.node_class, 253),
        node: claim.node_name(),
        reason: verdict.reason.as_str().to_owned(),
        message: verdict.message.clone(),
        note: messages::note(failure, &claim.node_name()),
        key,
        code: failure.code,
        name: failure.name.clone(),
        effective_code: failure.effective.as_ref().map(|(code, _)| *code),
        cause: failure.cause.clone(),
        summary: failure.sentence.clone(),
        owner: failure.owner.to_owned(),
        confidence: failure.confidence.to_owned(),
        evidence: failure.evidence.clone(),
        source: failure.source.as_str().to_owned(),
        unconfirmed: !failure.is_confirmed(),
        is_idle: verdict.is_idle,
        image: claim.image_key().map(|image| safe(&image, 128)),
        zone: text(&claim.zone),
        instance_type: text(&claim.instance_type),
        launched: claim.launched,
    }
}

/// Returns the end of the output of the scripts.
pub(super) fn output_of(observation: &Observation) -> Option<String> {
    let Observation::Vm(vm) = observation else { return None };
    let CseState::Succeeded { text, .. } = vm.cse() else { return None };
    let report = decode(text.as_bytes()).into_iter().find_map(|decoded| decoded.status);
    let output = report.map_or(text, |report| report.output);
    let end = safe_tail(&output.replace("\\n", "\n"), 4, 480);
    (!end.is_empty()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mooring_nodes::verdict::FailureSource;

    #[test]
    fn events_have_few_reasons() {
        for reason in ["CSEFailed", "CSETimedOut", "NodeNotRegistered", "CSEFailureUnconfirmed"] {
            assert_eq!(event_reason(reason), reason);
        }
        assert_eq!(event_reason("OfALaterVersion"), "CSEFailed");
    }

    #[test]
    fn entry_has_all_that_is_known_of_a_failure() {
        let now: Timestamp = "2026-11-15T08:00:00.7Z".parse().unwrap();
        let claim = Claim {
            zone: Some("westeurope-1".into()),
            image: Some("AKSUbuntu-2204-1.0.0".into()),
            ..Claim::placeholder(&"u".into(), "c", None, Some("default"), now)
        };
        for (source, reason) in [
            (FailureSource::InstanceView, ConditionReason::CseFailed),
            (FailureSource::KarpenterEvent, ConditionReason::CseFailureUnconfirmed),
        ] {
            let failure = Failure {
                code: Some(211),
                name: Some("ERR_X".to_owned()),
                effective: Some((232, "ERR_Y".to_owned())),
                cause: "X".to_owned(),
                sentence: "it failed".to_owned(),
                action: "Retry".to_owned(),
                owner: "image",
                confidence: "high",
                evidence: Some("a line".to_owned()),
                source,
            };
            let verdict = Verdict { failure: Some(failure.clone()), ..Verdict::plain(reason, "m") };
            let later = now + jiff::SignedDuration::from_mins(9);
            let entry = failure_entry(&claim, &verdict, &failure, now, later);
            let expected = FailureRecord {
                id: FailureRecord::id_of("u", &verdict.key()),
                at: "2026-11-15T08:00:00Z".parse().unwrap(),
                reported_at: Some("2026-11-15T08:09:00Z".parse().unwrap()),
                uid: "u".to_owned(),
                node_claim: "c".to_owned(),
                pool: "default".to_owned(),
                node_class: String::new(),
                node: "aks-c".to_owned(),
                reason: reason.as_str().to_owned(),
                message: "m".to_owned(),
                note: messages::note(&failure, "aks-c"),
                key: format!("{reason}/211/X"),
                code: Some(211),
                name: Some("ERR_X".to_owned()),
                effective_code: Some(232),
                cause: "X".to_owned(),
                summary: "it failed".to_owned(),
                owner: "image".to_owned(),
                confidence: "high".to_owned(),
                evidence: Some("a line".to_owned()),
                source: source.as_str().to_owned(),
                unconfirmed: source == FailureSource::KarpenterEvent,
                is_idle: false,
                image: Some("AKSUbuntu/2204/1.0.0".to_owned()),
                zone: Some("westeurope-1".to_owned()),
                instance_type: None,
                launched: None,
            };
            assert_eq!(entry, expected);
        }
    }
}
