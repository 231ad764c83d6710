//! Hostile text in a failure record and a NodeClaim: no escape sequence, direction mark, extra line, column or command
//! reaches the output.

use std::path::Path;

use crate::common::{Sim, text};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

/// Screen clear, hyperlink, reversed line, C1 escape, Markdown, HTML, shell command and extra lines. Without a slash, since
/// the version of an image starts after the last one.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]8;;u\u{7}\u{9b}1m\u{202e}\u{2066}\u{200b}|`$(rm -rf ~)`<script>\r\n| a | b |\n  next        reboot\n- **b**";

fn record() -> Value {
    let entry = |id: &str, claim: &str, code: Option<i32>| {
        json!({
            "id": id, "at": "2026-11-15T08:00:00Z", "uid": id, "nodeClaim": claim, "pool": HOSTILE, "node": HOSTILE,
            "reason": "CSEFailed", "message": HOSTILE, "note": HOSTILE, "key": id, "code": code, "name": HOSTILE,
            "cause": HOSTILE, "summary": HOSTILE, "owner": HOSTILE, "evidence": HOSTILE, "image": HOSTILE,
        })
    };
    let entries = [entry("1", "gone-1", Some(211)), entry("2", "gone-2", None)];
    json!({"schema": "mooring.failures/v1", "pools": {"default": entries}})
}

/// Writes the failure record, and the image of a NodeClaim whose node joined.
async fn write_hostile(state: &Path) {
    let client = mooring_k8s::kubeconfig::client_by_file(&state.join("kubeconfig")).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "kube-system");
    let map = json!({
        "metadata": {"name": "mooring-failures"},
        "data": {"failures.json": record().to_string()},
    });
    let map = serde_json::from_value(map).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
    let claims: Api<DynamicObject> = Api::all_with(client, &ApiResource::from_gvk(&kind));
    let image = json!({"status": {"imageID": format!("/gallery/versions/{HOSTILE}")}});
    let params = PatchParams::default();
    claims.patch_status("default-good1", &params, &Patch::Merge(image)).await.unwrap();
}

fn assert_safe(output: &str, what: &str) {
    for character in output.chars().filter(|c| *c != '\n') {
        assert!(!character.is_control(), "{what}: {character:?} in {output:?}");
        let mark = matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
        assert!(!mark, "{what}: {character:?} in {output:?}");
    }
}

/// Counts the columns of a Markdown row: bars without a backslash.
fn bars(row: &str) -> usize {
    row.replace("\\\\", "").replace("\\|", "").matches('|').count()
}

mod slow {
    use super::*;

    #[tokio::test]
    async fn hostile_text_affects_no_terminal_markdown_or_shell() {
        let state = tempfile::tempdir().unwrap();
        let sim = Sim::start(state.path(), &["--scenario", "oras-missing", "--kube-port", "0"]);
        write_hostile(state.path()).await;
        let run = |args: &[&str]| {
            let mut command = crate::common::mooring();
            let command = command.env_clear().envs(sim.environment()).args(args);
            let output = command.args(["--namespace", "kube-system"]).output().unwrap();
            let printed = text(&output.stdout);
            let all = format!("{printed}{}", text(&output.stderr));
            assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {all}");
            assert_safe(&all, &format!("{args:?}"));
            printed
        };
        let fleet = run(&["fleet", "--since", "3650d"]);
        assert_eq!(
            fleet.lines().filter(|line| line.contains("[2J")).count(),
            1,
            "one row: {fleet}"
        );
        let fleet = run(&["fleet", "--since", "3650d", "-o", "markdown"]);
        let rows: Vec<&str> = fleet.lines().filter(|line| line.starts_with('|')).collect();
        // Head, rule, the row of the scenario and the hostile one.
        assert_eq!(rows.len(), 4, "{fleet}");
        assert!(rows.iter().all(|row| bars(row) == 8), "{fleet}");
        // Next steps have commands of their own.
        let has_code = rows.iter().any(|row| row.contains(" `"));
        assert!(!fleet.contains("<script>") && !has_code, "{fleet}");
        let fleet: Value =
            serde_json::from_str(&run(&["fleet", "--since", "3650d", "-o", "json"])).unwrap();
        let images = fleet["rows"].as_array().unwrap().iter().map(|row| &row["image"]);
        assert!(images.into_iter().any(|image| image == HOSTILE), "JSON has the original text");

        for (what, nodes) in [("gone-1", 1), ("gone-2", 1), ("default-good1", 1)] {
            let table = run(&["why", what]);
            let next: Vec<&str> =
                table.lines().filter(|line| line.starts_with("  next ")).collect();
            assert!(next.len() <= nodes, "{table}");
            assert!(
                !next.iter().any(|line| line.contains("reboot") || line.contains("$(")),
                "{table}"
            );
            let is_head = |line: &&str| {
                !["  ", "Read ", "Deleted "].iter().any(|start| line.starts_with(start))
            };
            assert_eq!(table.lines().filter(is_head).count(), nodes, "{table}");
            let markdown = run(&["why", what, "-o", "markdown"]);
            let items = markdown.lines().filter(|line| line.starts_with("- ")).count();
            assert_eq!(items, nodes, "{markdown}");
            let prose = markdown.lines().filter(|line| !line.contains("evidence:"));
            assert!(!prose.collect::<String>().contains("<script>"), "{markdown}");
            let out = state.path().join("hostile.tar.gz");
            run(&["bundle", what, "--out", out.to_str().unwrap()]);
            run(&["trace", what]);
            let report: Value = serde_json::from_str(&run(&["why", what, "-o", "json"])).unwrap();
            assert_eq!(report["nodes"].as_array().unwrap().len(), nodes);
        }
    }
}
