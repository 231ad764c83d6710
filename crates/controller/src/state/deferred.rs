//! Writes that the write queue did not accept, kept in order and bounded.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::messages::Action;

/// With a record entry, two events and a condition for each failure, this is 4,096 failures.
const MAX_WRITES: usize = 16_384;
const BATCH: usize = 256;
const PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Writes that wait for space in the write queue.
///
/// While any waits, new writes queue after it: the record is written before its events, and both before the condition.
#[derive(Debug, Default)]
pub(super) struct DeferredWrites {
    writes: VecDeque<Action>,
    retry_at: Option<Timestamp>,
    lost: u64,
}

impl DeferredWrites {
    /// Requeues writes that were not accepted, before all that wait.
    pub(super) fn requeue(&mut self, writes: Vec<Action>, now: Timestamp) {
        for write in writes.into_iter().rev() {
            self.writes.push_front(write);
        }
        self.retry_at = now.checked_add(PAUSE).ok();
        self.limit();
    }

    /// Replaces the writes among actions by those that come first.
    pub(super) fn merge_into(&mut self, actions: &mut Vec<Action>, now: Timestamp) {
        if self.writes.is_empty() {
            return;
        }
        self.writes.extend(actions.extract_if(.., |action| action.is_write()));
        self.limit();
        if self.retry_at.is_some_and(|at| at > now) {
            return;
        }
        actions.extend(self.writes.drain(..BATCH.min(self.writes.len())));
        self.retry_at = (!self.writes.is_empty()).then(|| now.checked_add(PAUSE).ok()).flatten();
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.retry_at
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    fn limit(&mut self) {
        while self.writes.len() > MAX_WRITES {
            self.writes.pop_back();
            self.lost += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::event::{Event, Regarding, RegardingKind};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn write(number: usize) -> Action {
        let name = number.to_string();
        let regarding = Regarding { kind: RegardingKind::NodePool, name, uid: None };
        let (note, key) = (String::new(), String::new());
        Action::Event(Event { regarding, reason: "CSEFailed", note, key, at: at(0) })
    }

    fn writes(numbers: std::ops::Range<usize>) -> Vec<Action> {
        numbers.map(write).collect()
    }

    fn numbers(actions: &[Action]) -> Vec<usize> {
        let number = |action: &Action| match action {
            Action::Event(event) => event.regarding.name.parse().unwrap(),
            other => panic!("{other:?}"),
        };
        actions.iter().map(number).collect()
    }

    #[test]
    fn writes_keep_their_order_when_requeued() {
        let mut deferred = DeferredWrites::default();
        deferred.requeue(writes(0..3), at(0));
        assert_eq!(deferred.next_at(), Some(at(1)));
        let mut actions = writes(3..5);
        deferred.merge_into(&mut actions, at(0));
        assert!(actions.is_empty(), "{actions:?}");
        let mut actions = writes(5..6);
        deferred.merge_into(&mut actions, at(1));
        assert_eq!(numbers(&actions), [0, 1, 2, 3, 4, 5]);
        assert_eq!(deferred.next_at(), None);
        deferred.requeue(actions, at(1));
        let mut actions = writes(6..7);
        deferred.merge_into(&mut actions, at(2));
        assert_eq!(numbers(&actions), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn reads_are_not_delayed_by_waiting_writes() {
        let mut deferred = DeferredWrites::default();
        deferred.requeue(writes(0..1), at(0));
        let mut actions =
            vec![write(1), Action::ImageFails { image: "i".into(), cause: "c".into() }];
        deferred.merge_into(&mut actions, at(0));
        assert!(matches!(actions.as_slice(), [Action::ImageFails { .. }]), "{actions:?}");
    }

    #[test]
    fn each_attempt_has_one_batch_and_the_rest_follows() {
        let mut deferred = DeferredWrites::default();
        deferred.requeue(writes(0..BATCH + 1), at(0));
        let mut first = Vec::new();
        deferred.merge_into(&mut first, at(1));
        assert_eq!(numbers(&first), (0..BATCH).collect::<Vec<_>>());
        assert_eq!(deferred.next_at(), Some(at(2)));
        let mut rest = Vec::new();
        deferred.merge_into(&mut rest, at(2));
        assert_eq!(numbers(&rest), [BATCH]);
        assert_eq!(deferred.next_at(), None);
    }

    #[test]
    fn writes_above_the_limit_are_counted() {
        let mut deferred = DeferredWrites::default();
        deferred.requeue(writes(0..MAX_WRITES), at(0));
        assert_eq!(deferred.lost(), 0);
        deferred.merge_into(&mut writes(0..2), at(0));
        assert_eq!((deferred.lost(), deferred.writes.len()), (2, MAX_WRITES));
    }
}
