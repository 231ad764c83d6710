//! Merges repetitions of a message.
//!
//! Azure repeats messages: the ARM error within the AKS error, the handler's text within itself, a summary before its
//! details. Messages about the same extension and instance with the same code are one.

use crate::decode::decoded::{BootstrapOutcome, DecodedMessage, ListPosition};
use crate::read::message::Opener;

pub(crate) fn merge(messages: Vec<DecodedMessage>) -> Vec<DecodedMessage> {
    // Each message with the number of the last list that contained it.
    let mut kept: Vec<(DecodedMessage, usize)> = Vec::new();
    let mut list = 0;
    let mut before = ListPosition::Alone;
    for mut one in messages {
        if begins_a_list(before, one.item) {
            list += 1;
        }
        before = one.item;
        let same = kept.iter_mut().find(|(other, last_list)| {
            let instance = one.decoded.instance;
            let known = instance.is_some() && instance == other.decoded.instance;
            (*last_list != list || known) && is_same(other, &one)
        });
        match same {
            Some((other, last_list)) => {
                if trust(&one) < trust(other) {
                    std::mem::swap(other, &mut one);
                }
                fill(other, one);
                *last_list = list;
            }
            None => kept.push((one, list)),
        }
    }
    kept.into_iter().map(|(message, _)| message).collect()
}

/// Returns true if a message is not in the list of the one before it.
fn begins_a_list(before: ListPosition, item: ListPosition) -> bool {
    match item {
        ListPosition::Alone => true,
        ListPosition::Listed => before == ListPosition::Viewed,
        ListPosition::Viewed => before != ListPosition::Viewed,
    }
}

/// Ranks the code of a message; lower is more reliable.
pub(crate) fn trust(message: &DecodedMessage) -> (bool, bool, u8) {
    let by = message.decoded.found_by.map_or(u8::MAX, |by| by as u8);
    (message.decoded.code.is_none(), message.weak, by)
}

pub(crate) fn is_same(one: &DecodedMessage, other: &DecodedMessage) -> bool {
    if one.worded.is_some() || other.worded.is_some() {
        let reason = |message: &DecodedMessage| message.worded.map(|wording| wording.cause.reason);
        return reason(one) == reason(other);
    }
    let (a, b) = (&one.decoded, &other.decoded);
    let ours =
        |message: &DecodedMessage| message.decoded.outcome != BootstrapOutcome::NotABootstrap;
    let name = match (&a.extension, &b.extension) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => ours(one) && ours(other),
    };
    let instance = a.instance.is_none() || b.instance.is_none() || a.instance == b.instance;
    let os = a.os.is_none() || b.os.is_none() || a.os == b.os;
    let silent = |message: &DecodedMessage| message.opener == Opener::Sentence;
    let result = match (a.outcome, b.outcome) {
        _ if silent(one) || silent(other) => {
            silent(one) && silent(other) && a.situation == b.situation && a.instance == b.instance
        }
        (BootstrapOutcome::Failed, BootstrapOutcome::Failed) => {
            a.code == b.code || one.weak || other.weak
        }
        // One message lost its code; the other one of the same extension has it.
        (BootstrapOutcome::Failed, BootstrapOutcome::NoCode)
        | (BootstrapOutcome::NoCode, BootstrapOutcome::Failed) => true,
        (one, other) => one == other,
    };
    name && instance && os && result
}

/// Adds facts from a repetition.
fn fill(message: &mut DecodedMessage, copy: DecodedMessage) {
    let (to, from) = (&mut message.decoded, copy.decoded);
    to.os = to.os.or(from.os);
    to.extension = to.extension.take().or(from.extension);
    to.instance = to.instance.or(from.instance);
    to.image_version = to.image_version.take().or(from.image_version);
    to.exec_duration = to.exec_duration.or(from.exec_duration);
    to.status = to.status.take().or(from.status);
    to.step = to.step.take().or(from.step);
    // Only adjacent spans, so that messages never overlap and all of them are read in one pass.
    if copy.span.end == message.span.start || message.span.end == copy.span.start {
        message.span = message.span.start.min(copy.span.start)..message.span.end.max(copy.span.end);
    }
}

#[cfg(test)]
mod tests {
    use mooring_codes::Os;
    use mooring_contract::CseStatus;

    use super::*;
    use crate::decode::decoded::{Decoded, FoundBy, Situation};
    use crate::diagnose::failures::diagnose_each;
    use crate::hints::Hints;
    use crate::read::message::Handler;

    fn message(decoded: Decoded) -> DecodedMessage {
        DecodedMessage {
            decoded,
            span: 0..0,
            at: None,
            weak: false,
            opener: Opener::Handler,
            handler: Handler::Failed,
            stdout: None,
            stderr: None,
            step_at: None,
            error_at: None,
            output_end_at: None,
            item: ListPosition::Alone,
            worded: None,
        }
    }

    fn of(outcome: BootstrapOutcome) -> Decoded {
        Decoded { outcome, ..Decoded::default() }
    }

    fn failed(code: i32) -> Decoded {
        Decoded { code: Some(code), found_by: Some(FoundBy::Json), ..of(BootstrapOutcome::Failed) }
    }

    /// Compares in both directions.
    fn same(one: &DecodedMessage, other: &DecodedMessage) -> bool {
        let result = is_same(one, other);
        assert_eq!(result, is_same(other, one));
        result
    }

    #[test]
    fn same_extension_instance_system_and_result_are_one_message() {
        let same =
            |one: &Decoded, other: &Decoded| same(&message(one.clone()), &message(other.clone()));
        let named = |name: &str| Decoded { extension: Some(name.to_owned()), ..failed(50) };
        assert!(same(&failed(50), &failed(50)));
        assert!(!same(&failed(50), &failed(51)));
        assert!(same(&named("vmssCSE"), &named("VMSSCSE")));
        assert!(!same(&named("vmssCSE"), &named("cse-agent-0")));
        assert!(same(&named("vmssCSE"), &failed(50)));
        let instance = |number| Decoded { instance: Some(number), ..failed(50) };
        assert!(same(&instance(1), &instance(1)) && same(&instance(1), &failed(50)));
        assert!(!same(&instance(1), &instance(2)));
        let on = |os| Decoded { os: Some(os), ..failed(50) };
        assert!(same(&on(Os::Linux), &on(Os::Linux)) && same(&on(Os::Linux), &failed(50)));
        assert!(!same(&on(Os::Linux), &on(Os::Windows)));
        assert!(same(&failed(50), &of(BootstrapOutcome::NoCode)), "one of them lost its code");
        assert!(same(&of(BootstrapOutcome::Succeeded), &of(BootstrapOutcome::Succeeded)));
        assert!(!same(&of(BootstrapOutcome::Succeeded), &failed(50)));
        assert!(
            !same(&of(BootstrapOutcome::NotABootstrap), &of(BootstrapOutcome::NotABootstrap)),
            "unnamed"
        );
    }

    #[test]
    fn weak_code_is_the_same_as_any_other() {
        let weak = DecodedMessage { weak: true, ..message(failed(1)) };
        assert!(same(&weak, &message(failed(50))));
        assert!(same(&weak, &weak));
    }

    #[test]
    fn sentences_are_the_same_only_with_instance_and_situation() {
        let sentence =
            |decoded: Decoded| DecodedMessage { opener: Opener::Sentence, ..message(decoded) };
        let situation = |one, instance| {
            sentence(Decoded { situation: Some(one), instance, ..of(BootstrapOutcome::NoCode) })
        };
        let timeout = situation(Situation::TimedOut, None);
        assert!(same(&timeout, &timeout));
        assert!(!same(&timeout, &situation(Situation::HandlerFailed, None)));
        assert!(!same(&timeout, &situation(Situation::TimedOut, Some(1))));
        assert!(!same(&timeout, &message(timeout.decoded.clone())), "a message of the handler");
        let other = Decoded { outcome: BootstrapOutcome::NotABootstrap, ..timeout.decoded.clone() };
        assert!(!same(&timeout, &sentence(other)));
    }

    #[test]
    fn wordings_of_one_cause_are_the_same() {
        let worded = |text: &str| diagnose_each(text.as_bytes(), Hints::default()).remove(0).0;
        let version =
            "Failed to create agent pool np1: Version 1.22.4 is not supported in this region.";
        let version = worded(version);
        let throttled = worded("aks-np1-vmss: SkuNotAvailable: Standard_D4s_v5 is not available");
        assert!(same(&version, &version));
        assert!(!same(&version, &throttled));
        assert!(!same(&version, &DecodedMessage { worded: None, ..version.clone() }));
    }

    #[test]
    fn items_of_one_list_are_merged_only_with_the_same_instance() {
        let listed = |instance| DecodedMessage {
            item: ListPosition::Listed,
            ..message(Decoded { instance, ..failed(50) })
        };
        assert_eq!(merge(vec![listed(Some(1)), listed(Some(1))]).len(), 1);
        assert_eq!(merge(vec![listed(None), listed(Some(1))]).len(), 2);
        assert_eq!(merge(vec![listed(None), listed(None)]).len(), 2);
        let alone = || message(failed(50));
        assert_eq!(merge(vec![alone(), alone()]).len(), 1, "a repetition");
    }

    #[test]
    fn repetition_adds_missing_facts_and_adjacent_text() {
        let spanned = |decoded, span| DecodedMessage { span, ..message(decoded) };
        let merged = |one, other| {
            let mut all = merge(vec![spanned(failed(50), one), spanned(failed(50), other)]);
            all.remove(0).span
        };
        assert_eq!(merged(0..10, 10..20), 0..20);
        assert_eq!(merged(10..20, 0..10), 0..20);
        assert_eq!(merged(0..10, 11..20), 0..10);
        assert_eq!(merged(11..20, 0..10), 11..20);
        let full = Decoded {
            os: Some(Os::Linux),
            extension: Some("vmssCSE".to_owned()),
            instance: Some(3),
            image_version: Some("202601.13.0".to_owned()),
            exec_duration: Some(60),
            step: Some("ensureKubelet".to_owned()),
            status: Some(CseStatus::default()),
            ..failed(50)
        };
        let merged = merge(vec![message(failed(50)), message(full.clone())]).remove(0);
        assert_eq!(merged.decoded, full);
    }

    #[test]
    fn merged_message_has_the_more_reliable_code_or_the_first() {
        let at = |at, weak, code| DecodedMessage { at: Some(at), weak, ..message(failed(code)) };
        let first = |messages: Vec<DecodedMessage>| merge(messages).remove(0).at;
        assert_eq!(first(vec![at(1, false, 50), at(2, false, 50)]), Some(1));
        assert_eq!(first(vec![at(1, true, 1), at(2, false, 50)]), Some(2));
    }
}
