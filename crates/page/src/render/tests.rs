//! Whole pages: facts, order, escapes and sizes.

use std::io::Write as _;

use mooring_nodes::{AksPool, DocsUrl, Reads};
use mooring_workflow::Reading;
use mooring_workflow::status::{CurrentStep, RunStatus, Subject};

use super::render;
use mooring_nodes::{Karpenter, NodePool};

use crate::fixture::{BAD, before, healthy, hostile, joining, large, local, morning, snapshot};
use crate::html::revision;
use crate::model::{PageMode, Snapshot};
use crate::view::PageView;
use crate::{SCRIPT, stylesheet};

fn page(snapshot: &Snapshot, address: &str) -> String {
    let (path, query) = address.split_once('?').map_or((address, None), |(a, b)| (a, Some(b)));
    let html = render(snapshot, &PageView::parse(path, query).unwrap()).1;
    // `MOORING_WRITE_PAGES=DIR` keeps the pages.
    if let Some(directory) = std::env::var_os("MOORING_WRITE_PAGES") {
        let mode = format!("{:?}", snapshot.mode);
        let name = (mode + address).replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let path = std::path::Path::new(&directory).join(format!("{name}.html"));
        let mut file =
            std::fs::File::options().create(true).write(true).truncate(true).open(path).unwrap();
        file.write_all(html.as_bytes()).unwrap();
    }
    html
}

#[test]
fn sections_have_the_order_of_their_importance() {
    let html = page(&morning(), "/");
    let order = [
        "<h1>prod-weu</h1>",
        "data-part=\"verdict\"",
        "data-part=\"figures\"",
        "data-part=\"timeline\"",
        "data-part=\"fleet\"",
        "data-part=\"joining\"",
        "data-part=\"pools\"",
        "data-part=\"runs\"",
        "data-part=\"failures\"",
        "data-part=\"controller\"",
    ];
    let places: Vec<usize> = order.iter().map(|text| html.find(text).expect(text)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(html.matches("<h1").count(), 1);
    assert!(html.contains("<title>✗ prod-weu – Mooring</title>"));
}

#[test]
fn image_verdict_has_counts_evidence_owner_and_commands() {
    let html = page(&morning(), "/");
    for text in [
        "<b>37 of 37</b> nodes on this image failed, <b>0 of 106</b> on other images.",
        "failed to run command &#39;oras&#39;",
        "the same line on all 37 · code 232 ERR_ORAS_BINARY_NOT_FOUND, reported as 211",
        "owner: image",
        "data-copy=\"mooring why default\"",
        "Keep running nodes on their image",
        "data-copy=\"kubectl patch nodepool default --type=json ",
        "UTC default rolls to 202601.27.0",
        "37 like it failed 1 min 12 s after launch",
        "All 37 failures of the last 24 hours",
    ] {
        assert!(html.contains(text), "{text}");
    }
    for text in ["rollback", "mooring hold"] {
        assert!(!html.contains(text), "{text}");
    }
}

#[test]
fn states_have_sentences() {
    let good = page(&healthy(), "/");
    assert!(good.contains("All 95 nodes of the last 24 hours joined"), "{good}");
    assert!(good.contains("<title>✓ prod-weu"), "{good}");
    for phase in ["register: 22 s", "ready: 5 s"] {
        assert!(good.contains(&format!("<title>{phase}</title>")), "{phase}");
    }
    let alone = page(&local(), "/?since=1h");
    assert!(alone.contains("No controller runs in this cluster."), "{alone}");
    assert!(alone.contains("Live, no record") && alone.contains("deleted nodes are not known"));
    assert!(alone.contains("Four nodes on each side are needed"), "{alone}");
    let mut follower = morning();
    follower.mode = PageMode::Follower;
    let html = page(&follower, "/");
    assert!(
        html.contains("This replica does not lead.</b> <code>mooring-6c9f7d-x2x8k-1</code> leads.")
    );
    let mut without = local();
    without.facts.has_karpenter = false;
    without.facts.inventory.nodes.retain(|node| node.node_claim.is_none());
    let html = page(&without, "/failures");
    assert!(html.contains("Karpenter is not installed."), "{html}");
    assert!(!html.contains("Nodes joining"), "{html}");
}

/// A repair that stopped at step 11 of 16.
fn stopped_repair() -> RunStatus {
    RunStatus {
        subject: Subject::Pool("system".to_owned()),
        run_id: "c696c392".to_owned(),
        state: "stopped",
        journal: "repair-system".to_owned(),
        plan_hash: String::new(),
        started_at: before(900),
        last_at: before(300),
        ends_at: None,
        step: Some(CurrentStep {
            number: 11,
            name: "wait-for-nodes",
            started_at: before(300),
            seconds: 300,
            expected_seconds: None,
        }),
        step_count: 16,
        steps: Vec::new(),
        point_of_no_return: None,
        effects: Vec::new(),
        overrides: Vec::new(),
        remaining: Vec::new(),
        stopped: None,
        lock: None,
    }
}

#[test]
fn stopped_repair_and_wedged_pool_are_the_first_verdicts() {
    let mut snapshot = healthy();
    snapshot.facts.runs = vec![stopped_repair()];
    let system =
        AksPool { name: "system".to_owned(), wanted: Some(3), state: Some("Failed".to_owned()) };
    snapshot.facts.inventory.aks_pools.push(system);
    let html = page(&snapshot, "/");
    assert!(html.contains("<title>✗ prod-weu"), "{html}");
    let verdicts = html.split_once("data-part=\"verdict\"").unwrap().1;
    let first = verdicts.find("The repair of pool system was stopped: step 11 of 16").unwrap();
    let second = verdicts.find("AKS pool system has 0 of 3 nodes").unwrap();
    assert!(first < second && verdicts[..first].contains("verdict second failed"), "{html}");
    assert!(!html.contains("verdict good"), "{html}");
    assert!(html.contains("<td class=\"num\" data-l=\"ready\">0 of 3</td>"), "{html}");
}

#[test]
fn unfinished_run_points_to_its_resumption_in_a_rollback_as_well() {
    let mut snapshot = healthy();
    for step in [stopped_repair().step, None] {
        snapshot.facts.runs = vec![RunStatus { step, ..stopped_repair() }];
        let html = page(&snapshot, "/");
        assert!(html.contains("mooring repair resume --pool system"), "{html}");
    }
    snapshot.facts.runs = vec![RunStatus { step: None, state: "repaired", ..stopped_repair() }];
    assert!(!page(&snapshot, "/").contains("repair resume"));
}

#[test]
fn what_was_not_read_is_not_checked() {
    type Set = fn(&mut Reads, Reading<()>);
    let denied = || Reading::Denied("no".to_owned());
    let unasked =
        |snapshot: &mut Snapshot| snapshot.facts.inventory.set_aks_pools(Reading::NotAsked);
    let mut snapshot = healthy();
    unasked(&mut snapshot);
    let html = page(&snapshot, "/");
    assert!(html.contains("<title>– prod-weu"), "{html}");
    assert!(html.contains("AKS pools are not checked: Azure was not asked."), "{html}");
    assert!(!html.contains("verdict good") && html.contains("not checked</"), "{html}");
    let cases: [(Set, &str); 3] = [
        (|reads, read| reads.claims = read, "NodeClaims were not read"),
        (|reads, read| reads.nodes = read, "Nodes were not read"),
        (|reads, read| reads.record = read, "The failure record was not read"),
    ];
    for (set, text) in cases {
        let mut snapshot = healthy();
        set(&mut snapshot.facts.inventory.reads, denied());
        for address in ["/", "/failures"] {
            let html = page(&snapshot, address);
            assert!(html.contains("<title>! ") && html.contains(text), "{text}: {html}");
            for none in ["verdict good", "None.", "none recorded", "No node failed", " joined</h2>"]
            {
                assert!(!html.contains(none), "{text} {address} {none}: {html}");
            }
        }
    }
}

#[test]
fn each_address_has_its_subject() {
    let morning = morning();
    for (address, text) in [
        ("/pools/default", "<h2>Pool default</h2>"),
        ("/nodes/default-b00", ">Node default-b00</h2>"),
        ("/nodes/aks-default-b00", ">Node default-b00</h2>"),
        ("/images/202601.27.0", "<h2>Image 202601.27.0</h2>"),
        ("/causes/OrasBinaryMissing", ">Cause OrasBinaryMissing</h2>"),
        ("/codes/232", ">Exit code 232</h2>"),
        ("/failures?since=7d", ">Failures in the last 7 days</h2>"),
    ] {
        let html = page(&morning, address);
        assert!(html.contains(text), "{address}");
        assert!(!html.contains("Not found"), "{address}");
    }
    let pool = page(&morning, "/pools/gpu");
    assert!(!pool.contains("default-hq7tm") && pool.contains("gpu-5nnxq"));
    for address in ["/pools/x", "/nodes/x", "/images/1", "/causes/X", "/codes/9999", "/runs/x"] {
        let view = PageView::parse(address, None).unwrap();
        let (exists, html) = render(&morning, &view);
        assert!(!exists && html.contains("Not found"), "{address}");
    }
}

#[test]
fn titles_name_what_a_page_is_about() {
    let morning = morning();
    for (address, title) in [
        ("/", "✗ prod-weu – Mooring"),
        ("/pools/default", "✗ Pool default – prod-weu – Mooring"),
        ("/nodes/default-b00", "✗ Node default-b00 – prod-weu – Mooring"),
        ("/images/202601.27.0", "✗ Image 202601.27.0 – prod-weu – Mooring"),
        ("/causes/OrasBinaryMissing", "✗ Cause OrasBinaryMissing – prod-weu – Mooring"),
        ("/codes/232", "✗ Exit code 232 – prod-weu – Mooring"),
        ("/failures", "✗ Failures – prod-weu – Mooring"),
        ("/joining", "✗ Nodes joining – prod-weu – Mooring"),
    ] {
        assert!(page(&morning, address).contains(&format!("<title>{title}</title>")), "{address}");
    }
}

#[test]
fn causes_and_codes_link_to_the_published_documents_if_a_setting_names_them() {
    let docs = DocsUrl::parse("https://docs.example/m").unwrap();
    let published = Snapshot { docs, ..morning() };
    for (address, page_name) in
        [("/causes/OrasBinaryMissing", "causes/OrasBinaryMissing"), ("/codes/232", "codes/232")]
    {
        let link =
            format!("<a href=\"https://docs.example/m/{page_name}.html\" rel=\"noreferrer\">");
        assert!(page(&published, address).contains(&link), "{address}");
        assert!(!page(&morning(), address).contains("noreferrer"), "{address}");
    }
}

#[test]
fn all_joining_nodes_can_be_reached() {
    let mut snapshot = large();
    let more =
        (0..250).map(|number| joining(&format!("k{number}"), "pool-001", BAD, 1000 + number));
    let nodes = snapshot.facts.inventory.nodes.iter().cloned().chain(more);
    snapshot.facts.inventory.nodes = nodes.collect();
    let overview = page(&snapshot, "/");
    assert!(overview.contains("<a href=\"/joining\">All 450 nodes that are joining</a>"));
    let mut names = std::collections::BTreeSet::new();
    for address in ["/joining", "/joining?from=200", "/joining?from=400"] {
        let html = page(&snapshot, address);
        let length = html.len() + stylesheet().len() + SCRIPT.len();
        assert!(length <= 300_000, "{address} {length}");
        let links = html.split("<a href=\"/nodes/").skip(1);
        names.extend(links.map(|link| link.split('"').next().unwrap().to_owned()));
    }
    assert_eq!(names.len(), 450);
}

#[test]
fn mitigation_in_effect_has_its_undo_and_is_not_advised() {
    let mut snapshot = morning();
    let budget = serde_json::json!({"nodes": "0", "reasons": ["Drifted"]});
    let pool =
        NodePool { name: "default".to_owned(), budgets: vec![budget], ..NodePool::default() };
    snapshot.facts.karpenter = Karpenter { node_pools: Some(vec![pool]), ..Karpenter::default() };
    let html = page(&snapshot, "/");
    assert!(html.contains("Drift of NodePool default is held"), "{html}");
    assert!(html.contains("data-copy=\"kubectl patch nodepool default --type=json -p &#39;[{&quot;op&quot;:&quot;test&quot;"));
    assert!(!html.contains("Keep running nodes on their image"), "{html}");
}

#[test]
fn times_are_in_utc() {
    let html = page(&morning(), "/");
    for (at, _) in html.match_indices("</time>") {
        let text = html[..at].rsplit('>').next().unwrap();
        let is_elapsed = html[..at].ends_with(&format!("data-since>{text}"));
        assert!(is_elapsed || text.ends_with(" UTC"), "{text}");
    }
}

#[test]
fn foreign_text_is_only_text() {
    let snapshot = hostile();
    for address in
        ["/", "/failures", "/?pool=%3Cscript%3E&image=%22x&cause=%27", "/pools/%3Cscript%3E"]
    {
        let html = page(&snapshot, address);
        let without = html.replace("<script src=\"/page.js\" defer></script>", "");
        assert!(!without.contains("<script"), "{address}");
        assert!(!html.contains(['\u{202e}', '\u{1b}']), "{address}");
        assert!(!html.contains("style=") && !html.contains("<img"), "{address}");
    }
    // A copied command is one shell word with what is shown.
    let html = page(&snapshot, "/");
    assert!(html.contains("data-copy=\"mooring why &#39;&lt;script&gt;"), "{html}");
}

#[test]
fn page_without_data_fits_its_budget() {
    let html = page(&snapshot(Vec::new()), "/");
    let all = [html.as_str(), &stylesheet(), SCRIPT].concat();
    assert!(SCRIPT.len() <= 12_000, "{}", SCRIPT.len());
    assert!(all.len() <= 60_000, "{}", all.len());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(all.as_bytes()).unwrap();
    let compressed = encoder.finish().unwrap().len();
    assert!(compressed <= 20_000, "{compressed}");
}

#[test]
fn page_of_a_large_cluster_fits_its_budget() {
    let snapshot = large();
    for address in ["/", "/?since=7d", "/failures?since=7d"] {
        let html = page(&snapshot, address);
        assert!(
            html.len() + stylesheet().len() + SCRIPT.len() <= 300_000,
            "{address} {}",
            html.len()
        );
        assert!(html.contains("<p class=\"hint\">and "), "{address}");
    }
}

#[test]
fn elapsed_time_changes_no_section() {
    let part = |text: &str, count: u32| {
        revision(&format!("a <time datetime=\"x\" data-since>{text}</time> b {count}"))
    };
    assert_eq!(part("9 s", 1), part("10 s", 1));
    assert_ne!(part("9 s", 1), part("9 s", 2));
}
