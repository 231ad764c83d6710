//! Answers from facts, without a cluster.

use mooring_codes::Os;
use mooring_nodes::{ClusterFacts, Code, ConditionReason, Evidence, JoinState, Node};
use mooring_terminal::Style;
use mooring_workflow::Reading;

use super::answer::WhyAnswer;
use super::command::{add_node, screen, select};
use super::subject::WhySubject;
use crate::answers::arguments::WhyArguments;
use crate::cluster::{NamedVms, Reports, VmRequest};
use crate::fixtures::{
    at, cluster, facts, failed_node, failure, node, now, piped, read_arguments, report, with_image,
};
use crate::output::AnswerFormat;

fn answer_with(facts: &ClusterFacts, name: Option<&str>, reports: &Reports) -> WhyAnswer {
    let subject = WhySubject::find(name, &facts.inventory, &facts.karpenter);
    let selected = select(&arguments(name, AnswerFormat::Table), facts, &subject);
    let read = read_arguments(&[]);
    WhyAnswer::new(&cluster(facts.clone()), &subject, &selected, reports, &read)
}

fn answer(facts: &ClusterFacts, name: Option<&str>) -> WhyAnswer {
    answer_with(facts, name, &Reports::new())
}

fn arguments(name: Option<&str>, output: AnswerFormat) -> WhyArguments {
    WhyArguments {
        what: name.map(str::to_owned),
        read: read_arguments(&[]),
        run_command: false,
        output,
    }
}

fn shown(facts: &ClusterFacts, name: Option<&str>) -> String {
    piped(&screen(&arguments(name, AnswerFormat::Table), facts, &answer(facts, name)))
}

fn first_line(facts: &ClusterFacts, name: Option<&str>) -> String {
    shown(facts, name).lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn sentence_counts_failures_and_causes() {
    let one = failed_node("a", "X");
    let first =
        |nodes: &[&Node]| first_line(&facts(nodes.iter().map(|node| (*node).clone())), None);
    assert_eq!(first(&[&one]), "✗ demo: 1 node failed since 09:06 UTC.");
    let same = failed_node("b", "X");
    assert_eq!(first(&[&one, &same]), "✗ demo: 2 nodes failed since 09:06 UTC, all for one cause.");
    let other = failed_node("c", "Y");
    assert_eq!(first(&[&one, &other]), "✗ demo: 2 nodes failed since 09:06 UTC, for 2 causes.");
    let (ready, joining) = (node("d", JoinState::Ready), node("e", JoinState::Joining));
    assert_eq!(first(&[&ready, &ready, &joining]), "✓ demo: no failures among its 3 nodes.");
    let mut blind = facts([ready]);
    (blind.record, blind.inventory.reads.record) = (None, Reading::NotFound);
    assert!(first_line(&blind, None).starts_with("! demo: no failures among its 1 node. This "));
}

#[tokio::test]
async fn counts_follow_the_groups() {
    let empty = shown(&facts([]), None);
    assert!(empty.starts_with("✓ demo: no failures among its 0 nodes.\nRead "), "{empty}");
    let young =
        Node { created_at: Some(at("2026-11-17T09:13:00Z")), ..node("y", JoinState::Joining) };
    let failed = failed_node("f", "X");
    let facts = facts([node("a", JoinState::Joining), young, failed.clone()]);
    let text = shown(&facts, None);
    let joining =
        "\n 2  nodes joining, the oldest for 10m00s (Karpenter deletes it after 15m00s)\nNext  ";
    assert!(text.contains(joining), "{text}");
    let lines = |facts: &ClusterFacts, name| {
        let narrow = Style { width: Some(23), ..Style::PIPE };
        screen(&arguments(name, AnswerFormat::Table), facts, &answer(facts, name)).render(&narrow)
    };
    assert!(lines(&facts, None).contains("\n 2  nodes joining, the\n    oldest for 10m00s\n"));
    let many = |state: JoinState| {
        let node = Node { joined_at: Some(at("2026-11-17T09:05:59Z")), ..node("r", state) };
        let nodes = std::iter::repeat_n(node, 100).chain([failed.clone()]);
        lines(&crate::fixtures::facts(nodes), None)
    };
    let (joining, joined) = (many(JoinState::Joining), many(JoinState::Ready));
    assert!(joining.contains("\n100  nodes joining, the"), "{joining}");
    assert!(joined.contains("\n100  nodes joined\n     before 09:06 UTC"), "{joined}");
    let joined_at = |joined: &str| {
        let nodes =
            [Node { joined_at: Some(at(joined)), ..node("r", JoinState::Ready) }, failed.clone()];
        crate::fixtures::facts(nodes)
    };
    let before = joined_at("2026-11-17T09:05:59Z");
    assert!(shown(&before, None).contains("\n 1  node joined before 09:06 UTC\n"));
    assert!(lines(&before, None).contains("\n 1  node joined before\n    09:06 UTC\n"));
    let narrow = Style { width: Some(16), ..Style::PIPE };
    let screen = screen(&arguments(None, AnswerFormat::Table), &before, &answer(&before, None));
    let text = screen.render(&narrow);
    assert!(text.contains("\n 1  node joined\n    before 09:06\n    UTC\n"), "{text}");
    assert!(shown(&joined_at("2026-11-17T09:06:00Z"), None).contains("\n 1  node joined\n"));
}

#[tokio::test]
async fn names_of_a_group_are_limited() {
    let evidence = |nodes: &mut [Node]| {
        for node in nodes {
            let one = Evidence { line: "no oras".to_owned(), file: None, source: "azure" };
            node.failure.as_mut().unwrap().evidence = vec![one];
        }
    };
    for (count, with_evidence, expected) in [
        (1, 0, "n0"),
        (1, 1, "n0"),
        (2, 0, "n0, n1"),
        (2, 1, "n0, n1, 1 of them with this evidence"),
        (2, 2, "n0, n1, all with this evidence"),
        (3, 3, "n0, n1, n2, all with this evidence"),
        (4, 0, "n0, n1, n2, n3"),
        (5, 3, "n0, n1, n2 and 2 more, 3 of them with this evidence"),
    ] {
        let mut nodes: Vec<Node> =
            (0..count).map(|at| failed_node(&format!("n{at}"), "X")).collect();
        evidence(&mut nodes[..with_evidence]);
        let text = shown(&facts(nodes), None);
        assert!(text.contains(&format!("\n    nodes     {expected}\n")), "{expected}: {text}");
    }
}

#[tokio::test]
async fn evidence_is_wrapped_on_a_terminal_and_whole_in_a_pipe() {
    let line =
        "oras is missing on this image, so the bootstrap registry cannot be used. ".repeat(3);
    let one = Evidence { line: line.trim().to_owned(), file: None, source: "record" };
    let mut failed = failed_node("n0", "X");
    failed.failure.as_mut().unwrap().evidence = vec![one];
    let facts = facts([failed]);
    for name in [None, Some("n0")] {
        let screen = screen(&arguments(name, AnswerFormat::Table), &facts, &answer(&facts, name));
        assert!(piped(&screen).contains(&format!("evidence  {}\n", line.trim())));
        let terminal = screen.render(&Style { width: Some(80), ..Style::PIPE });
        assert!(terminal.contains("evidence  oras is missing on this image, "), "{terminal}");
        assert!(terminal.lines().all(|line| line.chars().count() <= 80), "{terminal}");
    }
}

#[tokio::test]
async fn group_shows_when_its_nodes_failed() {
    let failed = |name: &str, time: &str| {
        let mut node = failed_node(name, "X");
        node.failure.as_mut().unwrap().failed_at = Some(at(time));
        node
    };
    let (first, last) = (failed("a", "2026-11-17T09:05:00Z"), failed("b", "2026-11-17T09:07:59Z"));
    let row = |nodes: &[&Node]| {
        let text = shown(&facts(nodes.iter().map(|node| (*node).clone())), None);
        text.lines().find_map(|line| line.trim().strip_prefix("when ").map(str::to_owned))
    };
    assert_eq!(row(&[&first]).unwrap().trim(), "09:05 UTC, after 1m00s");
    assert_eq!(
        row(&[&first, &last]).unwrap().trim(),
        "09:05 UTC to 09:07 UTC, each after about 3m59s"
    );
    let unknown = Node { launched_at: None, created_at: None, ..first.clone() };
    assert_eq!(row(&[&unknown]).unwrap().trim(), "09:05 UTC");
    let mut never = unknown;
    never.failure.as_mut().unwrap().failed_at = None;
    assert_eq!(row(&[&never]).unwrap().trim(), "unknown");
    let undated = Node { launched_at: first.launched_at, ..never };
    assert_eq!(row(&[&undated]).unwrap().trim(), "unknown", "the launch is no failure");
    assert_eq!(first_line(&facts([undated.clone()]), None), "✗ demo: 1 node failed.");
    let text = shown(&facts([undated]), Some("a"));
    assert!(
        text.contains("  when      launched 09:04:00 UTC, failed at an unknown time\n"),
        "{text}"
    );
}

#[tokio::test]
async fn exit_code_depends_on_failed_and_lost_nodes() {
    let healthy = facts([node("a", JoinState::Ready)]);
    assert!(!answer(&healthy, None).is_wrong() && !answer(&healthy, Some("a")).is_wrong());
    let failed = facts([failed_node("a", "X")]);
    assert!(answer(&failed, None).is_wrong() && answer(&failed, Some("a")).is_wrong());
    let mut lost = facts([node("a", JoinState::Ready)]);
    let object = r#"{"metadata": {"name": "aks-lost", "uid": "u", "creationTimestamp": "2026-11-17T08:00:00Z", "labels": {"karpenter.sh/nodepool": "default"}}}"#;
    let object = serde_json::value::RawValue::from_string(object.to_owned()).unwrap();
    let item = mooring_nodes::NodeItem::parse(&object).unwrap();
    lost.lost = vec![item.lost(now()).unwrap()];
    assert!(answer(&lost, None).is_wrong() && answer(&lost, Some("default")).is_wrong());
    assert!(!answer(&lost, Some("a")).is_wrong(), "one node");
    assert!(first_line(&lost, None).starts_with("✗ Node aks-lost of NodePool default has no "));
    lost.karpenter = crate::fixtures::karpenter(["default", "other"]);
    assert!(!answer(&lost, Some("other")).is_wrong(), "another pool");
    // A finished bootstrap without a Node.
    let joining = facts([node("a", JoinState::Joining)]);
    let reports = |reason| Reports::from([("uid-a".to_owned(), report("aks-a", None, reason))]);
    let finished = reports(ConditionReason::CseSucceeded);
    assert!(answer_with(&joining, Some("a"), &finished).is_wrong());
    assert!(!answer_with(&joining, None, &finished).is_wrong(), "not named");
    assert!(!answer_with(&joining, Some("a"), &reports(ConditionReason::CseRunning)).is_wrong());
}

#[tokio::test]
async fn failure_of_an_earlier_attempt_is_shown() {
    let earlier = |recorded: serde_json::Value, node: Node| {
        let entry = serde_json::json!({
            "id": "1", "at": "2026-11-17T08:00:00Z", "uid": recorded[0], "nodeClaim": "n",
            "node": recorded[1], "reason": "CSEFailed", "message": "m", "note": "", "key": "k",
            "code": 50, "cause": recorded[2], "summary": "m",
        });
        let mut facts = facts([node]);
        let pools = &mut std::sync::Arc::make_mut(facts.record.as_mut().unwrap()).pools;
        pools.insert("default".to_owned(), vec![serde_json::from_value(entry).unwrap()]);
        let answer = answer(&facts, Some("n"));
        answer.nodes[0].earlier.as_ref().map(super::node::earlier_attempt)
    };
    let ready = || node("n", JoinState::Ready);
    let text = Some("previous attempt failed (exit code 50, X): m".to_owned());
    for (entry, node, expected) in [
        (["uid-n", "aks-n", "X"], ready(), true),
        (["uid-n", "aks-other", "X"], ready(), true),
        (["uid-other", "aks-n", "X"], ready(), true),
        (["uid-other", "aks-other", "X"], ready(), false),
        (["uid-n", "aks-n", "X"], Node { exists: false, ..ready() }, false),
        (["uid-n", "aks-n", "X"], failed_node("n", "X"), false),
        (["uid-n", "aks-n", "X"], failed_node("n", "Y"), true),
    ] {
        let found = earlier(entry.into(), node);
        assert_eq!(found, text.clone().filter(|_| expected), "{entry:?}");
    }
}

#[tokio::test]
async fn group_is_compared_with_its_own_image_and_cause() {
    let mut unconfirmed = failed_node("u", "Unconfirmed");
    unconfirmed.failure.as_mut().unwrap().is_confirmed = false;
    let nodes = [
        failed_node("a", "X"),
        failed_node("b", "X"),
        failed_node("c", "Y"),
        with_image(failed_node("d", "X"), "202601.13.0"),
        with_image(node("e", JoinState::Ready), "202601.13.0"),
        unconfirmed,
    ];
    let answer = answer(&facts(nodes), None);
    let shares: Vec<_> = answer
        .diagnoses
        .iter()
        .map(|one| {
            let image = one.group.image.as_deref().unwrap().rsplit('/').next().unwrap();
            let nodes: Vec<&str> = answer.of_group(&one.group).map(Node::name).collect();
            let here = one.here.map(|here| (here.failed, here.nodes));
            (one.group.cause.as_str(), image, here, nodes.join(" "))
        })
        .collect();
    assert_eq!(
        shares,
        [
            ("X", "202601.27.0", Some((2, 3)), "a b".to_owned()),
            ("X", "202601.13.0", Some((1, 2)), "d".to_owned()),
            ("Y", "202601.27.0", Some((1, 3)), "c".to_owned()),
            ("Unconfirmed", "202601.27.0", None, "u".to_owned()),
        ]
    );
}

#[tokio::test]
async fn code_and_cause_have_actions_and_a_page() {
    let diagnose = |cause: &str, code: Option<i32>, image: &str| {
        let mut node = failed_node("a", cause);
        node.image = Some(image.into());
        node.pool = None;
        node.failure.as_mut().unwrap().reported = code.map(|code| Code { code, name: None });
        let answer = answer(&facts([node]), None);
        let one = &answer.diagnoses[0];
        let next: Vec<&str> = one.next.iter().map(|next| next.command.as_str()).collect();
        (one.actions.iter().map(ToString::to_string).collect::<Vec<_>>(), next.join("; "))
    };
    let action = |os| vec![mooring_codes::lookup(os, 5, None).first().unwrap().action.to_owned()];
    let linux = diagnose("X", Some(5), "AKSUbuntu/2204/202601.27.0");
    assert_eq!(linux, (action(Os::Linux), "mooring explain 5 --image 202601.27.0".to_owned()));
    let windows = diagnose("X", Some(5), "AKSWindows/windows-2022/a b");
    assert_eq!(windows, (action(Os::Windows), "mooring explain 5".to_owned()));
    let (actions, next) = diagnose("OrasBinaryMissing", None, "i");
    assert_eq!(next, "mooring explain OrasBinaryMissing");
    let page = mooring_diagnosis::cause_page("OrasBinaryMissing").unwrap();
    assert_eq!(actions, page.actions);
    let next = |cause: &str| diagnose(cause, None, "i").1;
    assert_eq!(next("KubeletStartFail"), "mooring explain KubeletStartFail");
    assert_eq!(next("NoSuchCause"), "");
}

#[tokio::test]
async fn node_that_is_not_ready_has_a_bundle_as_next_command() {
    let last = |node: Node| {
        let next = answer(&facts([node]), Some("a")).next;
        next.last().map(|next| next.command.clone())
    };
    let bundle = Some("mooring bundle a".to_owned());
    assert_eq!(last(failed_node("a", "X")), bundle);
    assert_eq!(last(Node { exists: false, ..failed_node("a", "X") }), bundle);
    assert_eq!(last(node("a", JoinState::Joining)), bundle);
    assert_eq!(last(node("a", JoinState::Ready)), None);
}

#[tokio::test]
async fn sentence_of_a_node_has_its_stage() {
    let staged = |stage| {
        let mut node = failed_node("a", "X");
        node.failure.as_mut().unwrap().stage = stage;
        first_line(&facts([node]), Some("a"))
    };
    assert_eq!(staged("launch"), "✗ a was not launched in demo: it failed.");
    assert_eq!(staged("ready"), "✗ a joined demo and is not ready: it failed.");
    assert_eq!(staged("boot"), "✗ a did not join demo: it failed.");
    let first = |state| first_line(&facts([node("a", state)]), Some("a"));
    assert_eq!(first(JoinState::NotReady), "! a has joined demo and is not ready.");
    assert_eq!(first(JoinState::Joining), "! a is joining demo for 10m00s.");
    let gone =
        Node { exists: false, failure: Some(failure("X").into()), ..node("a", JoinState::Failed) };
    let text = shown(&facts([gone, failed_node("b", "Y")]), Some("a"));
    assert!(text.contains("\n  like it   no node with this image; no node with other"), "{text}");
    assert!(text.contains("\nDeleted     the NodeClaim; these facts are"), "{text}");
    assert!(
        text.contains("\n  when      launched 09:04:00 UTC, failed 09:06:00 UTC (2m00s)\n"),
        "{text}"
    );
    let bare = Node { launched_at: None, ..node("a", JoinState::Ready) };
    assert!(!shown(&facts([bare]), Some("a")).contains(" when "));
}

#[test]
fn azure_is_asked_about_a_node_without_a_verdict() {
    let node_only = Node { node_claim: None, ..node("v", JoinState::Joining) };
    let ready = Node { node_claim: None, ..node("w", JoinState::Ready) };
    let other = Node { pool: Some("other".into()), ..node("o", JoinState::Joining) };
    let mut facts = facts([
        node("a", JoinState::Joining),
        node("b", JoinState::Joining),
        node("c", JoinState::Ready),
        other,
        node_only,
        ready,
    ]);
    for uid in ["uid-a", "uid-b", "uid-o", "uid-v"] {
        facts.inventory.set_azure(uid, Reading::NotAsked);
    }
    let ask = |name: &str, command: bool| {
        let mut request = VmRequest::default();
        add_node(&mut request, &facts, &format!("uid-{name}"), command);
        let claims = request.claims.iter().map(|uid| uid.trim_start_matches("uid-"));
        let claims: Vec<&str> = claims.collect();
        let vm = match request.named {
            Some(NamedVms::Unknown(name)) => name,
            named => named.map_or_else(String::new, |named| panic!("{named:?}")),
        };
        (claims.join(" "), vm, request.run_command)
    };
    for (name, command, claims, vm) in [
        ("b", false, "b a", ""),
        ("b", true, "b", ""),
        ("c", false, "", ""),
        ("c", true, "c", ""),
        ("v", false, "", "aks-v"),
        ("v", true, "", "aks-v"),
        ("w", false, "", ""),
        ("w", true, "", "aks-w"),
    ] {
        let expected = (claims.to_owned(), vm.to_owned(), command);
        assert_eq!(ask(name, command), expected, "{name} {command}");
    }
    assert_eq!(ask("gone", true), (String::new(), String::new(), false));
}
