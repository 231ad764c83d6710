//! The journal: what is written is read back, and what was touched is not believed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]

mod common;

use mooring_repair::workflow::Fact;
use mooring_repair::workflow::PoolRepair;
use mooring_repair::workflow::Reason;
use mooring_workflow::Effect as _;
use mooring_workflow::types::Types as _;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use mooring_repair::effects::{Effect, Precondition};
use mooring_repair::history::{breaker, retained, summaries};
use mooring_repair::operation::Scope;
use mooring_repair::plan::Step;
use mooring_repair::report::RunReport;
use mooring_repair::settings::Settings;
use mooring_repair::workflow::Run;
use mooring_repair::workflow::{Entry, Finish, Record, Workload};
use mooring_workflow::EffectResult;
use mooring_workflow::Phase;
use mooring_workflow::journal::{JournalError, Tail, decode, encode, follow, verify};
use mooring_workflow::lock::Owner;
use mooring_workflow::store::{Disk, FileError, FileJournal, RealDisk, join, split};
use proptest::prelude::*;
use serde_json::json;

use common::session;

type Repair = FileJournal<RealDisk, Entry>;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_779_000_000 + second).unwrap()
}

fn owner() -> Owner {
    Owner { host: "h".into(), pid: 7, holder: "x".into() }
}

fn settings(pool: &str) -> Settings {
    let mut settings = Settings::new(common::target(pool));
    settings.add_override("placement=ticket 7").unwrap();
    settings
}

fn started(pool: &str) -> Entry {
    Entry::RunStarted(session(&settings(pool), owner()))
}

fn resumed(pool: &str) -> Entry {
    Entry::Resumed(session(&settings(pool), owner()))
}

fn intent(step: Step, effect: Effect) -> Entry {
    Entry::Intent { step, effect: Box::new(effect), attempt: 1 }
}

fn delete(pool: &str) -> Effect {
    Effect::DeletePool { pool: pool.into(), if_match: Some("e".into()) }
}

/// One of every kind, in an order that makes sense.
fn entries() -> Vec<Entry> {
    let refused = EffectResult::Refused {
        status: 429,
        code: "Throttled".into(),
        message: "m".into(),
        retry_after: Some(SignedDuration::from_secs(7)),
    };
    let effects = [
        (
            Effect::AbortOperation { scope: Scope::Cluster, operation: "o".into(), judged: None },
            EffectResult::Started { token: "t".into() },
        ),
        (
            Effect::AbortOperation {
                scope: Scope::Pool("p".into()),
                operation: "o".into(),
                judged: Some(Timestamp::UNIX_EPOCH),
            },
            refused,
        ),
        (
            Effect::PutPool {
                pool: "systmp".into(),
                body: json!({"properties": {"count": 1, "spotMaxPrice": -1.0}}),
                only: Some(Precondition::IfMatch("e".into())),
            },
            EffectResult::Unknown { why: "w".into() },
        ),
        (delete("system"), EffectResult::AlreadyDone),
        (Effect::Cordon { node: "n".into(), uid: "u".into() }, EffectResult::Done),
        (Effect::Uncordon { node: "n".into(), uid: "u".into() }, EffectResult::Done),
        (
            Effect::Evict { namespace: "a".into(), pod: "b".into(), uid: "u".into() },
            EffectResult::Done,
        ),
        (
            Effect::DeletePod {
                namespace: "a".into(),
                pod: "b".into(),
                uid: "u".into(),
                reason: "r".into(),
            },
            EffectResult::Done,
        ),
        (Effect::TagCluster { name: "n".into(), value: "v".into() }, EffectResult::Done),
    ];
    let mut all = vec![
        started("system"),
        Entry::StepDone { step: Step::Snapshot, proof: vec!["p".into()] },
        Entry::Fact(Fact::Workloads {
            step: Step::DrainPool,
            workloads: BTreeMap::from([("u".into(), Workload { name: "n".into(), serving: 2 })]),
            losses: vec!["l".into()],
        }),
    ];
    for (effect, result) in effects {
        let key = effect.key();
        all.push(intent(Step::Settle, effect));
        all.push(Entry::Outcome { key, result });
    }
    all.extend([
        Entry::Stopped { reason: Reason::Deadline, message: "m".into() },
        resumed("system"),
        Entry::AbortStarted(session(&settings("system"), owner())),
        Entry::Finished { finish: Finish::Aborted, left: vec!["x".into()] },
    ]);
    all
}

fn chain(entries: Vec<Entry>) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let record = follow(records.last(), "r1", at(i64::try_from(index).unwrap()), entry);
        records.push(record);
    }
    records
}

fn text(records: &[Record]) -> String {
    records.iter().map(encode).collect()
}

#[test]
fn every_record_is_read_back_as_it_was_written() {
    let records = chain(entries());
    assert_eq!(decode::<Entry>(&text(&records), Tail::Whole).unwrap(), records);
    verify(&records).unwrap();
    let state = Run::replay(&records).unwrap().unwrap();
    assert_eq!(state.phase, Phase::Finished(Finish::Aborted));
    assert_eq!(state.attempt("abort cluster").unwrap().token.as_deref(), Some("t"));
    assert_eq!(state.attempt("abort cluster").unwrap().count, 1);
    assert!(state.facts.cordoned.contains("n"));
    assert_eq!(state.step(), Some(Step::Settle));
}

#[test]
fn every_prefix_of_a_journal_is_a_journal() {
    let records = chain(entries());
    assert_eq!(Run::replay(&[]).unwrap(), None);
    for length in 1..=records.len() {
        let state = Run::replay(&records[..length]).unwrap().unwrap();
        let mut by_one = Run::replay(&records[..1]).unwrap().unwrap();
        for record in &records[1..length] {
            by_one.take(record).unwrap();
        }
        assert_eq!(state, by_one);
        let report = RunReport::of(&records[..length]).unwrap().unwrap();
        assert!(report.table().contains("r1") && report.markdown().contains("r1"));
        assert_eq!(report.overrides, ["placement: ticket 7"]);
    }
}

#[test]
fn a_change_a_gap_and_a_swap_are_named_by_their_record() {
    let records = chain(entries());
    let changed = text(&records).replacen("\"proof\":[\"p\"]", "\"proof\":[\"q\"]", 1);
    assert_eq!(decode::<Entry>(&changed, Tail::Whole), Err(JournalError::Changed(1)));
    let newer = text(&records).replacen("journal/v2", "journal/v3", 1);
    assert_eq!(
        decode::<Entry>(&newer, Tail::Whole),
        Err(JournalError::Schema(0, "mooring.repair.journal/v3".into(), PoolRepair::SCHEMA))
    );
    let mut gap = records.clone();
    gap.remove(2);
    assert_eq!(verify(&gap), Err(JournalError::Broken(3)));
    assert_eq!(Run::replay(&gap), Err(JournalError::Broken(3)));
    let mut other = records.clone();
    other[2] = follow(Some(&records[1]), "r1", at(99), resumed("system"));
    assert_eq!(verify(&other), Err(JournalError::Broken(3)));
    let forged = follow(None, "r1", at(0), started("system"));
    let forged = Record { seq: 5, ..forged };
    assert_eq!(verify(&[forged]), Err(JournalError::Broken(5)));
    let last = Record { seq: u64::MAX, prev: "p".into(), ..records[1].clone() };
    let after = follow(Some(&last), "r1", at(0), started("system"));
    assert_eq!(verify(&[last, after]), Err(JournalError::Broken(u64::MAX)));
    verify(&records[3..]).unwrap();
    assert_eq!(Run::replay(&records[3..]).unwrap(), None);
}

#[test]
fn a_record_out_of_its_place_is_refused() {
    let done = |step| Entry::StepDone { step, proof: vec![] };
    for (tail, why) in [
        (vec![done(Step::Settle)], "turn"),
        (vec![Entry::Outcome { key: "x".into(), result: EffectResult::Done }], "nothing"),
        (vec![started("system")], "begins"),
        (
            vec![Entry::Finished { finish: Finish::Repaired, left: vec![] }, done(Step::Snapshot)],
            "over",
        ),
    ] {
        let mut all = vec![started("system")];
        let length = all.len() + tail.len();
        all.extend(tail);
        match Run::replay(&chain(all)) {
            Err(JournalError::Senseless(seq, text)) => {
                assert_eq!(usize::try_from(seq).unwrap(), length - 1);
                assert!(text.contains(why), "{text}");
            }
            other => panic!("{why}: {other:?}"),
        }
    }
    let first = follow(None, "r1", at(0), started("system"));
    let foreign = follow(Some(&first), "r2", at(1), resumed("system"));
    assert!(matches!(Run::replay(&[first, foreign]), Err(JournalError::Senseless(1, _))));
}

#[test]
fn a_torn_last_line_never_counted() {
    let records = chain(entries());
    let whole = text(&records);
    let last = encode(records.last().unwrap()).len();
    for cut in 1..last {
        let torn = &whole[..whole.len() - cut];
        assert_eq!(decode::<Entry>(torn, Tail::MayBeTorn).unwrap(), records[..records.len() - 1]);
    }
    assert!(decode::<Entry>(&whole[..whole.len() - 5], Tail::Whole).is_err());
}

#[test]
fn a_journal_is_cut_into_objects_and_joined_again() {
    let records = chain(entries());
    let longest = records.iter().map(|record| encode(record).len()).max().unwrap();
    for limit in [1, longest, 2 * longest, 1 << 20] {
        let segments = split(&records, limit);
        assert!(segments.iter().all(|segment| segment.text.len() <= limit.max(longest)));
        assert!(segments.iter().enumerate().all(|(index, segment)| segment.index == index));
        let reversed = segments.into_iter().rev().collect();
        assert_eq!(join::<Entry>(reversed).unwrap(), records);
    }
    assert_eq!(split(&records, 1).len(), records.len());
    let two = encode(&records[0]).len() + encode(&records[1]).len();
    assert_eq!(split(&records[..2], two).len(), 1, "just so");
    assert_eq!(split(&records[..2], two - 1).len(), 2, "one byte too many");
    assert_eq!(split(&records, 1 << 20).len(), 1);
    let mut missing = split(&records, 1);
    missing.remove(4);
    assert_eq!(join::<Entry>(missing), Err(JournalError::Broken(5)));
}

#[test]
fn the_third_recreation_within_a_day_is_refused() {
    let mut records: Vec<Record> = Vec::new();
    for (index, (pool, hour)) in
        [("system", 0), ("system", 1), ("user", 2), ("system", 10)].into_iter().enumerate()
    {
        let run = format!("r{index}");
        for entry in [
            started(pool),
            intent(Step::DeletePool, delete(pool)),
            intent(Step::DeleteTemporary, delete("systmp")),
        ] {
            records.push(follow(records.last(), &run, at(hour * 3600), entry));
        }
        let end = Entry::Finished { finish: Finish::Repaired, left: vec![] };
        records.push(follow(records.last(), &run, at(hour * 3600 + 60), end));
    }
    let runs = summaries(&records);
    assert_eq!(runs.len(), 4);
    assert_eq!(
        (runs[0].finish, runs[0].deleted, runs[0].last),
        (Some(Finish::Repaired), Some(at(0)), at(60))
    );
    assert_eq!((runs[0].step, runs[0].overrides.len()), (Some(Step::DeleteTemporary), 1));
    assert_eq!(breaker(&runs[..1], "system", at(60)), None);
    assert!(breaker(&runs[..2], "system", at(3700)).unwrap().contains("2 times"));
    assert_eq!(breaker(&runs, "user", at(37_000)), None);
    assert!(breaker(&runs, "system", at(24 * 3600 + 3599)).is_some());
    assert_eq!(breaker(&runs, "system", at(25 * 3600)), None);
}

#[test]
fn a_journal_keeps_the_last_runs_and_all_that_the_breaker_counts() {
    // Ten runs, one an hour; only the first one deleted its pool.
    let mut records: Vec<Record> = Vec::new();
    for hour in 0..10 {
        let run = format!("r{hour}");
        let mut entries =
            vec![started("system"), Entry::StepDone { step: Step::Snapshot, proof: vec![] }];
        if hour == 0 {
            entries.push(intent(Step::DeletePool, delete("system")));
        }
        entries.push(Entry::Finished { finish: Finish::Refused, left: vec![] });
        for entry in entries {
            records.push(follow(records.last(), &run, at(hour * 3600), entry));
        }
    }
    let runs = summaries(&records);
    assert_eq!((runs[1].step, runs[1].deleted), (Some(Step::Snapshot), None));
    let first_kept = |now: i64| records[records.len() - retained(&records, at(now))].run.clone();
    let day = 24 * 3600;
    assert_eq!(first_kept(10 * 3600), "r0", "it may count against a third recreation");
    assert_eq!(first_kept(day - 1), "r0");
    assert_eq!(first_kept(day), "r2", "eight runs are kept whatever they did");
    assert_eq!(retained(&records, at(day)), 8 * 3);
    assert_eq!(retained(&[], at(0)), 0);
    assert_eq!(breaker(&runs[..1], "system", at(day - 1)), None);
}

/// The file, and after how many bytes the next write is torn.
type Torn = (Option<Vec<u8>>, Option<usize>);

#[derive(Default, Clone)]
struct FakeDisk(std::rc::Rc<std::cell::RefCell<Torn>>);

impl Disk for FakeDisk {
    fn read(&self, _: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().0.clone())
    }

    fn append(&mut self, _: &Path, keep: u64, bytes: &[u8]) -> io::Result<bool> {
        let mut inner = self.0.borrow_mut();
        let tear = inner.1.take();
        let file = inner.0.get_or_insert_default();
        file.truncate(usize::try_from(keep).unwrap());
        file.extend_from_slice(&bytes[..tear.unwrap_or(bytes.len())]);
        if tear.is_some() { Err(io::Error::other("the machine died")) } else { Ok(true) }
    }

    fn replace(&mut self, _: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().0 = Some(bytes.to_vec());
        Ok(())
    }
}

#[test]
fn a_write_torn_at_any_byte_leaves_the_journal_as_it_was() {
    let records = chain(entries());
    for tear in 0..encode(&records[1]).len() - 1 {
        let disk = FakeDisk::default();
        let path = PathBuf::from("j");
        FileJournal::<_, Entry>::open(disk.clone(), &path).unwrap().append(&records[0]).unwrap();
        let mut journal = FileJournal::<_, Entry>::open(disk.clone(), &path).unwrap();
        disk.0.borrow_mut().1 = Some(tear);
        assert!(matches!(journal.append(&records[1]), Err(FileError::Disk { .. })));
        let mut journal = FileJournal::<_, Entry>::open(disk.clone(), &path).unwrap();
        assert_eq!(journal.records(), &records[..1]);
        journal.append(&records[1]).unwrap();
        assert_eq!(FileJournal::<_, Entry>::open(disk, &path).unwrap().records(), &records[..2]);
    }
}

#[test]
fn who_lost_the_journal_cannot_write_any_more() {
    let records = chain(entries());
    let disk = FakeDisk::default();
    let mut one = FileJournal::<_, Entry>::open(disk.clone(), Path::new("j")).unwrap();
    let mut two = FileJournal::<_, Entry>::open(disk, Path::new("j")).unwrap();
    one.append(&records[0]).unwrap();
    assert!(matches!(two.append(&records[0]), Err(FileError::Conflict)));
    assert!(matches!(one.append(&records[2]), Err(FileError::Conflict)), "it does not follow");
    let other = follow(Some(&records[0]), "r1", at(9), resumed("system"));
    assert!(matches!(two.append(&other), Err(FileError::Conflict)), "it was not read");
    one.append(&records[1]).unwrap();
}

#[test]
fn old_records_go_and_the_last_ones_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let records = chain(entries());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut journal = FileJournal::open(RealDisk, &path).unwrap();
    for record in &records[..4] {
        journal.append(record).unwrap();
    }
    journal.keep(9).unwrap();
    assert_eq!(journal.records(), &records[..4], "there is nothing to forget");
    // What a process that died left beside the file is no part of it.
    std::fs::write(
        folder.path().join(format!("journal.{}.new", std::process::id())),
        "x".repeat(100_000),
    )
    .unwrap();
    journal.keep(2).unwrap();
    assert_eq!(journal.records(), &records[2..4]);
    journal.append(&records[4]).unwrap();
    assert_eq!(FileJournal::open(RealDisk, &path).unwrap().records(), &records[2..5]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let nowhere = folder.path().join("none/journal");
    let error = FileJournal::open(RealDisk, &nowhere).unwrap().append(&records[0]).unwrap_err();
    assert!(matches!(error, FileError::Disk { .. }), "{error}");
    assert!(error.to_string().contains("none/journal"), "{error}");
}

#[test]
fn the_first_record_begins_or_follows_an_archived_one() {
    let records = chain(entries());
    let first = records[0].clone();
    verify::<Entry>(&[]).unwrap();
    verify(&records[..1]).unwrap();
    verify(&records[4..5]).unwrap();
    for (seq, prev) in [(0, "x"), (3, "")] {
        let forged = Record { seq, prev: prev.into(), ..first.clone() };
        assert_eq!(verify(&[forged]), Err(JournalError::Broken(seq)));
    }
}

#[test]
fn a_journal_file_is_for_its_owner_and_never_behind_a_link() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let records = chain(entries());
    // Somebody made it before, for everybody.
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let mut journal = FileJournal::<_, Entry>::open(RealDisk, &path).unwrap();
    for record in &records {
        journal.append(record).unwrap();
    }
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(FileJournal::<_, Entry>::open(RealDisk, &path).unwrap().records(), records);
    // A device has no end, and a pipe may have no other one.
    let error = FileJournal::<_, Entry>::open(RealDisk, Path::new("/dev/zero")).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(Repair::open(RealDisk, &link), Err(FileError::Disk { .. })));
    std::fs::write(&path, b"\xff\xfe\n").unwrap();
    assert!(matches!(
        Repair::open(RealDisk, &path),
        Err(FileError::Journal(JournalError::Unreadable(0, _)))
    ));
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        for tail in [Tail::Whole, Tail::MayBeTorn] {
            if let Ok(records) = decode::<Entry>(&text, tail) {
                let _ = Run::replay(&records);
            }
        }
    }

    #[test]
    fn any_changed_byte_is_noticed(index in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let records = chain(entries());
        let mut bytes = text(&records).into_bytes();
        let place = index.index(bytes.len());
        prop_assume!(bytes[place] != byte);
        bytes[place] = byte;
        let Ok(changed) = String::from_utf8(bytes) else { return Ok(()) };
        let read = decode::<Entry>(&changed, Tail::Whole).and_then(|records| verify(&records).map(|()| records));
        // The last line's end may become a blank; nothing else may pass.
        if let Ok(read) = read {
            prop_assert_eq!(read, records);
        }
    }
}
