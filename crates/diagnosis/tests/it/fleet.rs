//! Findings about images, from tables of counts.

use mooring_diagnosis::fleet::{Fleet, MIN_SAMPLE, Rate};

/// Image, cause, failed nodes, all nodes.
type Row = (&'static str, &'static str, u32, u32);

fn findings(rows: &[Row]) -> Vec<(String, String)> {
    let mut fleet = Fleet::default();
    for (image, cause, failed, nodes) in rows {
        for node in 0..*nodes {
            fleet.count(image, (node < *failed).then_some(*cause));
        }
    }
    fleet.findings().into_iter().map(|finding| (finding.image, finding.cause)).collect()
}

#[test]
fn failing_image_among_healthy_images_is_found() {
    let rows = [("new", "OrasBinaryMissing", 37, 37), ("old", "OrasBinaryMissing", 0, 120)];
    assert_eq!(findings(&rows), [("new".to_owned(), "OrasBinaryMissing".to_owned())]);
}

#[test]
fn insufficient_counts_give_no_finding() {
    let tables: &[&[Row]] = &[
        &[],
        &[("only", "DnsFailure", 20, 20)],
        &[("small", "DnsFailure", 3, 3), ("old", "DnsFailure", 0, 50)],
        &[("new", "DnsFailure", 4, 4), ("other", "DnsFailure", 0, 3)],
        &[("a", "EgressBlocked", 10, 10), ("b", "EgressBlocked", 10, 10)],
        &[("a", "EgressBlocked", 1, 10), ("b", "EgressBlocked", 0, 10)],
        &[("a", "EgressBlocked", 5, 10), ("b", "EgressBlocked", 3, 10)],
    ];
    for table in tables {
        assert_eq!(findings(table), [], "{table:?}");
    }
}

#[test]
fn four_of_four_failures_in_a_healthy_fleet_suffice() {
    let rows = [("new", "DiskFull", 4, 4), ("old", "DiskFull", 0, 40)];
    assert_eq!(findings(&rows).len(), 1);
    assert_eq!(MIN_SAMPLE, 4);
}

#[test]
fn most_certain_finding_is_first() {
    let rows = [("a", "DiskFull", 5, 5), ("b", "OrasBinaryMissing", 50, 50), ("c", "none", 0, 200)];
    let order: Vec<String> = findings(&rows).into_iter().map(|(image, _)| image).collect();
    assert_eq!(order, ["b", "a"]);
}

#[test]
fn interval_is_wilsons() {
    // By hand, z = 1.96.
    for (failed, nodes, low, high) in
        [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (4, 4, 0.5101, 1.0)]
    {
        let rate = Rate::new(failed, nodes);
        assert!((rate.low - low).abs() < 0.0005, "{rate:?}");
        assert!((rate.high - high).abs() < 0.0005, "{rate:?}");
    }
    assert!((Rate::new(0, 0).high - 1.0).abs() < f64::EPSILON);
}

#[test]
fn finding_is_printed_as_sentences() {
    let mut fleet = Fleet::default();
    for _ in 0..37 {
        fleet.count("202601.27.0", Some("OrasBinaryMissing"));
        fleet.count("202601.13.0", None);
    }
    let sentence = fleet.findings()[0].to_string();
    assert_eq!(
        sentence,
        "Image 202601.27.0: 37 of 37 nodes failed with OrasBinaryMissing. Other images: 0 of 37."
    );
}
