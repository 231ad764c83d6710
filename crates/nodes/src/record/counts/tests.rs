use std::collections::BTreeMap;

use jiff::Timestamp;

use super::*;
use crate::text::hash;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn failed(number: usize, pool: &str, seconds: i64) -> CountedNode {
    CountedNode::new(
        &format!("uid-{number}"),
        at(seconds),
        pool,
        "image",
        Some("OrasBinaryMissing"),
    )
}

fn joined(number: usize, pool: &str, seconds: i64) -> CountedNode {
    CountedNode::new(&format!("uid-{number}"), at(seconds), pool, "image", None)
}

fn sums(document: &CountsDocument) -> (u64, u64) {
    let totals = document.totals(Filter::default());
    let failed = totals.iter().flat_map(|total| total.failed.values()).sum();
    (totals.iter().map(|total| total.joined).sum(), failed)
}

fn reread(document: &CountsDocument) -> CountsDocument {
    CountsDocument::from_config_map(&document.config_map("mooring-system", Some("7"))).unwrap()
}

#[test]
fn first_outcome_of_a_nodeclaim_is_counted_once() {
    let mut document = CountsDocument::new(at(0));
    assert!(document.merge(&[failed(1, "a", 10), failed(1, "a", 11), joined(2, "a", 12)], at(20)));
    assert!(!reread(&document).merge(&[joined(1, "b", 15), joined(2, "a", 12)], at(21)));
    assert_eq!(sums(&document), (1, 1));
    assert_eq!(reread(&document), document);
    assert_eq!(document.config_map("x", Some("7"))["metadata"]["resourceVersion"], "7");
}

#[test]
fn outcomes_before_the_start_are_not_counted() {
    let mut document = CountsDocument::new(at(100));
    assert!(!document.merge(&[joined(1, "a", 99)], at(200)));
    assert!(document.merge(&[joined(2, "a", 100)], at(200)));
}

#[test]
fn old_half_hours_are_dropped_and_the_time_is_kept() {
    let mut document = CountsDocument::new(at(0));
    document.merge(&[joined(1, "a", 0)], at(0));
    let week = KEPT.as_secs();
    document.merge(&[joined(2, "a", week)], at(week));
    assert_eq!(sums(&document), (2, 0));
    let week = week + HALF_HOUR_SECONDS;
    document.merge(&[joined(3, "a", week)], at(week));
    assert_eq!((sums(&document), document.half_hours.len()), ((2, 0), 2));
}

#[test]
fn ids_are_forgotten_after_hours_and_nothing_is_counted_again() {
    let mut document = CountsDocument::new(at(0));
    document.merge(&[joined(1, "a", 0)], at(0));
    // Without writes nothing is forgotten: the outcomes of a time without a controller count.
    let day = 24 * 3600;
    assert!(document.merge(&[joined(2, "a", 3600), joined(1, "a", 0)], at(day)));
    let mut document = reread(&document);
    assert!(!document.merge(&[joined(1, "a", 0), joined(2, "a", 3600)], at(day + 60)));
    assert!(document.merge(&[joined(3, "a", day - 3600)], at(day + 60)));
    assert_eq!(sums(&document), (3, 0));
}

#[test]
fn times_in_the_future_do_not_stop_counting() {
    let text = r#"{"schema":"mooring.counts/v1","since":"2199-01-01T00:00:00Z","settledBefore":"2199-01-01T00:00:00Z",
        "pools":["a"],"images":["i"],"halfHours":[{"at":"2199-01-01T00:00:00Z","rows":[[0,0,null,7]]}]}"#;
    let mut document = CountsDocument::parse(text).unwrap();
    assert!(document.merge(&[joined(1, "a", 5), joined(2, "a", 99_999)], at(10)));
    assert_eq!((sums(&document), document.since()), ((2, 0), at(10)));
    let series = document.series(Filter::default(), at(10));
    assert_eq!(series.last().map(|last| last.joined), Some(2));
}

#[test]
fn totals_and_series_are_filtered() {
    let mut document = CountsDocument::new(at(0));
    let cause = |number: usize, seconds, cause| CountedNode {
        cause: Some(String::from(cause)),
        ..failed(number, "a", seconds)
    };
    let outcomes = [
        joined(1, "a", 0),
        joined(2, "b", 0),
        cause(3, 0, "X"),
        cause(4, 3600, "X"),
        cause(5, 3600, "Y"),
    ];
    document.merge(&outcomes, at(7200));
    let totals = document.totals(Filter { pool: Some("a"), cause: Some("X"), ..Filter::default() });
    assert_eq!(totals.len(), 1);
    assert_eq!((totals[0].joined, &totals[0].failed), (1, &[("X".to_owned(), 2)].into()));
    let late = Filter { since: Some(at(3700)), ..Filter::default() };
    let failed: u64 = document.totals(late).iter().flat_map(|total| total.failed.values()).sum();
    // The half hour that contains the time is counted from its start.
    assert_eq!(failed, 2);
    let series = document.series(Filter::default(), at(7200));
    let joined: Vec<u64> = series.iter().map(|one| one.joined).collect();
    assert_eq!((joined, series[2].failed.len()), (vec![2, 0, 0, 0, 0], 2));
    let long_ago = Filter { since: Some(Timestamp::MIN), ..Filter::default() };
    assert_eq!(document.series(long_ago, at(7200)).len(), 337);
}

#[test]
fn damaged_counts_are_rejected() {
    for (text, damaged) in [
        ("{", false),
        (r#"{"schema":"mooring.counts/v2"}"#, false),
        (
            r#"{"schema":"mooring.counts/v1","since":"2026-01-01T00:00:00Z","settledBefore":"2026-01-01T00:00:00Z","halfHours":[{"at":"2026-01-01T00:00:00Z","ids":"AAAA"}]}"#,
            true,
        ),
        (
            r#"{"schema":"mooring.counts/v1","since":"2026-01-01T00:00:00Z","settledBefore":"2026-01-01T00:00:00Z","pools":[""],"images":[""],"halfHours":[{"at":"2026-01-01T00:00:00Z","rows":[[0,0,1,1]]}]}"#,
            true,
        ),
    ] {
        let error = CountsDocument::parse(text).unwrap_err();
        assert_eq!(matches!(error, CountsError::Damaged(_)), damaged, "{text}: {error}");
    }
    let grown = r#"{"schema":"mooring.counts/v1","since":"2026-01-01T00:00:00Z","settledBefore":"2026-01-01T00:00:00Z","new":1}"#;
    assert!(CountsDocument::parse(grown).is_ok());
}

#[test]
fn stored_names_are_made_printable() {
    let text = r#"{"schema":"mooring.counts/v1","since":"2026-01-01T00:00:00Z","settledBefore":"2026-01-01T00:00:00Z",
        "pools":["a\u001b[31m"],"images":["x\u202ey"],"causes":["z\nz"],"halfHours":[{"at":"2026-01-01T00:00:00Z","rows":[[0,0,0,1]]}]}"#;
    let totals = CountsDocument::parse(text).unwrap().totals(Filter::default());
    let shown = format!("{}{}{:?}", totals[0].pool, totals[0].image, totals[0].failed);
    assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown:?}");
}

#[test]
fn counted_outcome_is_found_by_its_id_and_its_time() {
    let mut document = CountsDocument::new(at(0));
    document.merge(&[joined(1, "a", 10)], at(10));
    assert!(document.is_counted("uid-1", at(10)) && !document.is_counted("uid-2", at(10)));
    // Ids of the first day are forgotten, and everything since the start counts as counted.
    let day = 24 * 3600;
    document.merge(&[joined(3, "a", day)], at(day));
    assert!(!document.counted.contains(id_of(hash(&["uid-1"]))));
    assert!(document.is_counted("uid-2", at(10)) && document.is_counted("uid-2", at(0)));
    assert!(!document.is_counted("uid-2", at(-1)), "before the start");
    assert!(!document.is_counted("uid-2", at(day)));
}

#[test]
fn half_hours_are_kept_for_a_week() {
    assert_eq!((half_hour_start(at(1799)), half_hour_start(at(1800))), (at(0), at(1800)));
    let mut document = CountsDocument::new(at(0));
    document.merge(&[joined(1, "a", 0)], at(0));
    let (day, until) = (24 * 3600, at(7 * 24 * 3600));
    let long_ago = Filter { since: Some(at(-365 * day)), ..Filter::default() };
    let series = document.series(long_ago, until);
    assert_eq!((series.len(), series[0].at, series[0].joined), (7 * 48 + 1, at(0), 1));
    let later = document.series(long_ago, at(7 * day + 1800));
    assert_eq!((later.len(), later[0].at, later[0].joined), (7 * 48 + 1, at(1800), 0));
    let recent = Filter { since: Some(at(1799)), ..Filter::default() };
    assert_eq!(document.series(recent, at(3600)).len(), 3);
}

#[test]
fn totals_are_selected_by_pool_image_and_cause() {
    let mut document = CountsDocument::new(at(0));
    let outcome = |number: usize, pool: &str, image: &str, cause: Option<&str>| {
        CountedNode::new(&format!("uid-{number}"), at(1), pool, image, cause)
    };
    let outcomes = [
        outcome(1, "a", "i", None),
        outcome(2, "a", "i", Some("X")),
        outcome(3, "a", "i", Some("X")),
        outcome(4, "a", "j", Some("Y")),
        outcome(5, "b", "i", Some("Y")),
    ];
    document.merge(&outcomes, at(1));
    let select = |pool, image, cause| {
        let totals = document.totals(Filter { since: None, pool, image, cause });
        let row = |total: Total| (total.pool + &total.image, total.joined, total.failed);
        totals.into_iter().map(row).collect::<Vec<_>>()
    };
    let failed = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
        counts.iter().map(|(cause, count)| ((*cause).to_owned(), *count)).collect()
    };
    let (ai, aj) =
        (("ai".to_owned(), 1, failed(&[("X", 2)])), ("aj".to_owned(), 0, failed(&[("Y", 1)])));
    let bi = ("bi".to_owned(), 0, failed(&[("Y", 1)]));
    assert_eq!(select(None, None, None), [ai.clone(), aj.clone(), bi.clone()]);
    assert_eq!(select(Some("a"), None, None), [ai.clone(), aj.clone()]);
    assert_eq!(select(None, Some("i"), None), [ai.clone(), bi.clone()]);
    assert_eq!(select(Some("a"), Some("j"), None), std::slice::from_ref(&aj));
    let joined = ("ai".to_owned(), 1, failed(&[]));
    assert_eq!(select(None, None, Some("Y")), [joined, aj, bi]);
}

mod slow {
    use super::*;

    #[test]
    fn rows_above_the_limits_keep_their_totals() {
        let mut document = CountsDocument::new(at(0));
        let outcomes: Vec<CountedNode> = (0..20_000_i32)
            .map(|number| {
                // Every name differs, and all half hours of a week are used.
                let time = i64::from(number % 336) * HALF_HOUR_SECONDS;
                let name = "\"é".repeat(40);
                let cause = (number % 3 > 0).then(|| format!("{number}{name}"));
                let (pool, image) = (format!("{number}{name}"), format!("{number}{name}{name}"));
                CountedNode::new(&number.to_string(), at(time), &pool, &image, cause.as_deref())
            })
            .collect();
        for half_hour in 0..336 {
            let now = at(half_hour * HALF_HOUR_SECONDS);
            let some: Vec<CountedNode> =
                outcomes.iter().filter(|one| one.at == now).cloned().collect();
            assert!(document.merge(&some, now));
            document = reread(&document);
        }
        let joined = outcomes.iter().filter(|outcome| outcome.cause.is_none()).count() as u64;
        assert_eq!(sums(&document), (joined, 20_000 - joined));
        let rows: usize = document.half_hours.values().map(BTreeMap::len).sum();
        assert!(rows <= MAX_ROWS, "{rows}");
        let names = KnownNames::of(&document.half_hours);
        assert!(names.pools.len() <= MAX_POOLS && names.pools.contains(OTHER));
        assert!(names.images.len() <= MAX_IMAGES && names.causes.len() <= MAX_CAUSES);
    }

    #[test]
    fn largest_document_fits_into_its_configmap() {
        let mut document = CountsDocument::new(at(0));
        let now = at(336 * HALF_HOUR_SECONDS);
        let name = |number: usize, max: usize| format!("{number}{}", "\"".repeat(max));
        let outcomes: Vec<CountedNode> = (0..40_000)
            .map(|number| {
                let time = i64::try_from(number % 337).unwrap() * HALF_HOUR_SECONDS;
                let pool = name(number % (MAX_POOLS - 1), MAX_POOL_BYTES - 3);
                let image = name(number % (MAX_IMAGES - 1), MAX_IMAGE_BYTES - 3);
                let cause = name(number % (MAX_CAUSES - 1), MAX_CAUSE_BYTES - 3);
                CountedNode::new(&number.to_string(), at(time), &pool, &image, Some(&cause))
            })
            .collect();
        document.merge(&outcomes, now);
        // As many ids as are remembered, and counts with as many digits as fit.
        let recent: Vec<CountedNode> =
            (40_000..60_000).map(|number| failed(number, "0", 336 * HALF_HOUR_SECONDS)).collect();
        document.merge(&recent, now);
        document.half_hours.values_mut().flat_map(BTreeMap::values_mut).for_each(|n| *n = u32::MAX);
        let (object, text) =
            (document.config_map("mooring-system", Some("1")), stored::text(&document));
        println!("{} bytes, {} bytes in the request", text.len(), object.to_string().len());
        let rows: usize = document.half_hours.values().map(BTreeMap::len).sum();
        assert!(rows > MAX_ROWS - 200, "{rows}");
        assert!(text.len() < 480 * 1024 && object.to_string().len() < 640 * 1024, "{}", text.len());
    }
}

#[test]
fn id_has_six_bytes() {
    assert_eq!((id_of(5), id_of(u64::MAX), id_of(1 << 48)), (5, 0xffff_ffff_ffff, 0));
}

#[test]
fn time_in_the_future_is_corrected_and_others_are_kept() {
    let clamped = |seconds| {
        let mut counted = CountedIds::new(at(seconds));
        counted.clamp(at(10));
        counted.settled_before()
    };
    assert_eq!((clamped(9), clamped(10)), (at(9), at(10)));
    assert_eq!(clamped(11), HalfHour::of(at(10)).start());
}

#[test]
fn oldest_half_hours_are_forgotten_above_the_limit() {
    let (old, new) = (at(0), at(3600));
    for (of_old, of_new, expected) in [
        (1, MAX_IDS - 1, (MAX_IDS, false)),
        (1, MAX_IDS, (MAX_IDS, true)),
        (2, MAX_IDS - 1, (MAX_IDS - 1, true)),
        (0, MAX_IDS, (MAX_IDS, false)),
        (0, MAX_IDS + 2, (MAX_IDS, false)),
    ] {
        let mut counted = CountedIds::new(at(-3600));
        for id in 0..of_old + of_new {
            assert!(counted.insert(id as u64, if id < of_old { old } else { new }));
        }
        counted.prune(new);
        assert_eq!((counted.ids.len(), counted.is_settled(old)), expected, "{of_old} {of_new}");
    }
}

#[test]
fn ids_are_remembered_for_six_hours() {
    let mut counted = CountedIds::new(at(0));
    assert!(counted.insert(1, at(0)) && !counted.insert(1, at(5)));
    let hours = REMEMBERED.as_secs();
    counted.prune(at(hours));
    assert!(counted.contains(1) && !counted.is_settled(at(0)));
    counted.prune(at(hours + 1800));
    assert!(!counted.contains(1) && counted.is_settled(at(0)) && !counted.insert(1, at(0)));
}
