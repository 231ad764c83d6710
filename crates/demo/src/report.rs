//! The story as one self-contained page: the fleet, the boots, the repair. No I/O.

use std::time::Duration;

use mooring_trace::bars::{self, Bar, Chart, Row, Tone};
use mooring_trace::escape::escape;
use mooring_trace::page::{Cell, Page, Severity, facts, notice, table};
use mooring_trace::{File, Timeline, html, waterfall};
use serde_json::Value;

use crate::scenario::Scenario;
use crate::story::{Moment, MomentKind, NodeEnd, NodeTold, Story};
use crate::voice::seconds;

pub(crate) type Left = Vec<File>;

/// The page; `left` has what each node of the story left, in its order.
pub(crate) fn page(name: &str, scenario: &Scenario, story: &Story, left: &[Left]) -> String {
    let mut page = Page::new(&format!("mooring demo: {name}")).lead(&lead(scenario, story));
    if let Some(fleet) = &story.fleet {
        page = page.section("The fleet verdict", &fleet_table(fleet));
    }
    if !story.repair.is_empty() {
        page = page.section("The repair", &repair(&story.repair));
    }
    if !story.nodes.is_empty() {
        page = page.section("The nodes", &nodes_table(&story.nodes));
    }
    let mut shown: Vec<(&str, NodeEnd)> = Vec::new();
    for (node, left) in story.nodes.iter().zip(left).filter(|(_, left)| !left.is_empty()) {
        // One of each kind is open; the others are a click away.
        let kind = (node.image.as_str(), node.end);
        let open = if shown.contains(&kind) { "" } else { " open" };
        shown.push(kind);
        page = page.section("", &boot(node, left, open));
    }
    let footer = format!(
        "Made by mooring {}. Azure's time ran {} times faster, or as a chapter says; the boots show real seconds of this machine.",
        env!("CARGO_PKG_VERSION"),
        scenario.speed
    );
    page.footer(&footer).finish()
}

fn lead(scenario: &Scenario, story: &Story) -> String {
    let lines: Vec<String> =
        story.summary().iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
    let about =
        format!("<p>{}</p>\n<ul>{}</ul>", escape(scenario.description.trim()), lines.concat());
    let chapters: Vec<(&str, String, String)> = story
        .chapters
        .iter()
        .map(|chapter| ("Chapter", seconds(chapter.took), chapter.title.clone()))
        .collect();
    format!("{}{}", notice(Severity::Good, "The story came true", &about), facts(&chapters))
}

fn fleet_table(fleet: &Value) -> String {
    let text = |row: &Value, name: &str| match &row[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let rows: Vec<Vec<Cell>> = fleet["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| {
            vec![
                Cell::Code(text(row, "image")),
                Cell::Code(text(row, "cause")),
                Cell::Number(format!("{} of {}", text(row, "failed"), text(row, "nodes"))),
            ]
        })
        .collect();
    let findings: String = fleet["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|finding| notice(Severity::Bad, &text(finding, "sentence"), ""))
        .collect();
    let table =
        table("Failures by node image and cause", &["Image", "Cause", "Nodes that failed"], &rows);
    format!("{findings}{table}")
}

fn nodes_table(nodes: &[NodeTold]) -> String {
    let rows: Vec<Vec<Cell>> = nodes
        .iter()
        .map(|node| {
            let end = match node.end {
                NodeEnd::Joined => "✓ joined",
                NodeEnd::Failed => "✗ failed",
                NodeEnd::Silent => "! bootstrapped, never joined",
            };
            let name = match node.root {
                Some(_) => {
                    Cell::Html(format!("<a href=\"#{0}\"><code>{0}</code></a>", escape(&node.vm)))
                }
                None => Cell::Code(node.vm.clone()),
            };
            vec![name, Cell::Code(node.image.clone()), end.into()]
        })
        .collect();
    table("Every node of the story, in the order of their ends", &["Node", "Image", "End"], &rows)
}

/// How one node came up, or did not.
fn boot(node: &NodeTold, left: &Left, open: &str) -> String {
    let timeline = Timeline::of(&node.vm, left);
    format!(
        "<details id=\"{vm}\"{open}><summary><strong>{vm}</strong> on image {image}</summary>\n{}{}</details>",
        html::summary(&timeline),
        waterfall::svg(&timeline),
        vm = escape(&node.vm),
        image = escape(&node.image),
    )
}

fn repair(moments: &[Moment]) -> String {
    let end = moments.last().map_or(0.0, |moment| moment.at.as_secs_f64());
    let mut began = 0.0;
    let mut rows = Vec::new();
    for moment in moments {
        let at = moment.at.as_secs_f64();
        let (tone, from) = match moment.kind {
            MomentKind::Step => (Tone::Plain, began),
            MomentKind::Trouble => (Tone::Failed, at),
            MomentKind::Good => (Tone::Good, began),
        };
        rows.push(Row {
            label: moment.what.clone(),
            strong: moment.kind != MomentKind::Step,
            bars: vec![Bar { from, to: at, tone, outlined: false }],
            note: if at > from {
                seconds(Duration::from_secs_f64(at - from))
            } else {
                String::new()
            },
            tip: moment.detail.clone(),
            ..Row::default()
        });
        began = at;
    }
    let label = format!("The repair step by step, over {end:.0} seconds.");
    let chart = bars::svg(&Chart { label, seconds: end.max(1.0), rows });
    let rows: Vec<Vec<Cell>> = moments
        .iter()
        .map(|moment| {
            vec![
                Cell::Number(seconds(moment.at)),
                Cell::Code(moment.what.clone()),
                moment.detail.as_str().into(),
            ]
        })
        .collect();
    format!(
        "{chart}{}",
        table("What happened, and how it was seen", &["After", "What", "How"], &rows)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::story::KILLED;

    #[test]
    fn a_page_tells_the_fleet_the_nodes_and_the_repair_and_escapes_what_others_wrote() {
        let scenario = Scenario::find("healthy-boot").unwrap();
        let node = NodeTold {
            vm: "aks-<b>".into(),
            claim: "x".into(),
            image: "202601.27.0".into(),
            root: Some("/nowhere".into()),
            end: NodeEnd::Failed,
        };
        let moment = |what: &str, seconds, kind| Moment {
            at: Duration::from_secs(seconds),
            what: what.into(),
            detail: "why & how".into(),
            kind,
        };
        let story = Story {
            nodes: vec![node],
            fleet: Some(json!({
                "rows": [{"image": "202601.27.0", "cause": "OrasBinaryMissing", "failed": 5, "nodes": 5}],
                "findings": [{"image": "202601.27.0", "sentence": "image 202601.27.0 fails"}],
            })),
            repair: vec![
                moment("create-temporary", 3, MomentKind::Step),
                moment(KILLED, 4, MomentKind::Trouble),
            ],
            ..Story::default()
        };
        let report = r#"{"ExitCode":"232","Error":"ERR_ORAS_BINARY_NOT_FOUND: oras is missing"}"#;
        let left = File { path: "var/log/azure/aks/provision.json".into(), bytes: report.into() };
        let page = page("x", &scenario, &story, &[vec![left]]);
        for word in
            ["5 of 5", "OrasBinaryMissing", "image 202601.27.0 fails", "create-temporary", KILLED]
        {
            assert!(page.contains(word), "{word}");
        }
        assert!(page.contains("aks-&lt;b&gt;") && page.contains("why &amp; how"));
        assert!(!page.contains("aks-<b>"), "what others wrote is text");
    }
}
