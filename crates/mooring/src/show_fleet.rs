//! Output of `mooring fleet`: failures by image and cause.

use std::fmt::Write as _;

use mooring_controller::observation::node::Node;
use mooring_controller::query::{Row, Table};
use mooring_controller::verdict::advice;
use mooring_redact::{markdown as escape, printable};
use serde_json::{Value, json};

use crate::cluster_args::ReportFormat;
use crate::failure::Failure;
use crate::show;

const NOTHING: &str = "No failures recorded.\n\
    hint: failures are recorded by `mooring controller`; check --namespace\n";

/// State of the cluster, in addition to the failure record.
#[derive(Debug, Default)]
pub(crate) struct ClusterState {
    /// True if an AKSNodeClass can pin an image version; `None` if unknown.
    pub(crate) has_versions: Option<bool>,
    pub(crate) nodes_without_provider_id: Vec<Node>,
}

pub(crate) fn show(
    format: ReportFormat,
    table: &Table,
    state: &ClusterState,
) -> Result<String, Failure> {
    Ok(show_nodes(format, &state.nodes_without_provider_id)
        + &match format {
            ReportFormat::Json => return show::json(&json(table, state)),
            _ if table.rows.is_empty() => NOTHING.to_owned() + &unconfirmed(table),
            ReportFormat::Table => columns(table, state),
            ReportFormat::Markdown => markdown(table, state),
        })
}

/// Describes Nodes without a providerID. They stop Karpenter, so they come first.
pub(crate) fn show_nodes(format: ReportFormat, nodes: &[Node]) -> String {
    let mut text = String::new();
    for node in nodes {
        let _ = match format {
            ReportFormat::Json => Ok(()),
            ReportFormat::Table => writeln!(text, "{}\n", printable(&node.finding())),
            ReportFormat::Markdown => writeln!(text, "**{}**\n", escape(&node.finding())),
        };
    }
    text
}

pub(crate) fn nodes_json(nodes: &[Node]) -> Vec<Value> {
    nodes
        .iter()
        .map(|node| json!({"node": node.name, "pool": node.pool, "sentence": node.finding()}))
        .collect()
}

fn steps(table: &Table, image: &str, state: &ClusterState) -> Vec<String> {
    advice::steps(&table.affected_resources(image, state.has_versions))
}

fn cells(row: &Row) -> [String; 5] {
    let rate = format!("{} of {}", row.failed, row.nodes);
    [row.image.clone(), row.cause.clone(), rate, row.pools.join(","), format!("{:.0}", row.last)]
}

const HEAD: [&str; 5] = ["IMAGE", "CAUSE", "FAILED", "POOLS", "LAST"];

fn columns(table: &Table, state: &ClusterState) -> String {
    let rows: Vec<[String; 5]> =
        table.rows.iter().map(|row| cells(row).map(|cell| printable(&cell))).collect();
    let width = |column: usize| {
        let longest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        longest.max(HEAD[column].len())
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut text = String::new();
    let mut line = |cells: [&str; 5]| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    };
    line(HEAD);
    for row in &rows {
        line([&row[0], &row[1], &row[2], &row[3], &row[4]]);
    }
    for (image, sentence) in &table.findings {
        let _ = writeln!(text, "\n{}", printable(sentence));
        for step in steps(table, image, state) {
            let _ = writeln!(text, "- {}", printable(&step));
        }
    }
    text + &unconfirmed(table)
}

fn unconfirmed(table: &Table) -> String {
    match table.unconfirmed {
        0 => String::new(),
        count => format!(
            "\nNot counted: {count} unconfirmed (reported only by events; `mooring why POOL` lists them)\n"
        ),
    }
}

fn markdown(table: &Table, state: &ClusterState) -> String {
    let mut text = format!("| {} |\n|---|---|---|---|---|\n", HEAD.join(" | "));
    for row in &table.rows {
        let _ = writeln!(text, "| {} |", cells(row).map(|cell| escape(&cell)).join(" | "));
    }
    for (image, sentence) in &table.findings {
        let _ = writeln!(text, "\n**{}**\n", escape(sentence));
        for step in steps(table, image, state) {
            let _ = writeln!(text, "- {}", escape(&step));
        }
    }
    text + &unconfirmed(table)
}

fn json(table: &Table, state: &ClusterState) -> Value {
    let rows: Vec<_> = table
        .rows
        .iter()
        .map(|row| {
            json!({"image": row.image, "cause": row.cause, "failed": row.failed, "nodes": row.nodes,
                   "pools": row.pools, "last": row.last.to_string()})
        })
        .collect();
    let findings: Vec<_> = table
        .findings
        .iter()
        .map(|(image, sentence)| {
            let actions = steps(table, image, state);
            json!({"image": image, "sentence": sentence, "actions": actions})
        })
        .collect();
    json!({"schema": "mooring.fleet/v1", "rows": rows, "findings": findings, "dropped": table.dropped,
        "unconfirmed": table.unconfirmed, "nodesWithoutProviderID": nodes_json(&state.nodes_without_provider_id)})
}

#[cfg(test)]
mod tests {
    use super::*;
    use mooring_controller::verdict::registration::NodeState;

    fn table() -> Table {
        let row = Row {
            image: "202601.27.0".to_owned(),
            cause: "OrasBinaryMissing".to_owned(),
            failed: 5,
            nodes: 5,
            pools: vec!["default".to_owned()],
            classes: vec!["linux".to_owned()],
            last: jiff::Timestamp::UNIX_EPOCH,
        };
        let findings = vec![("202601.27.0".to_owned(), "image 202601.27.0 fails".to_owned())];
        Table { rows: vec![row], findings, ..Table::default() }
    }

    #[test]
    fn failing_image_has_the_exact_kubectl_patches() {
        for (format, expected) in [
            (ReportFormat::Table, r#"{"nodes":"0","reasons":["Drifted"]}"#),
            (ReportFormat::Json, r#"{\"nodes\":\"0\",\"reasons\":[\"Drifted\"]}"#),
        ] {
            let text = show(format, &table(), &ClusterState::default()).unwrap();
            assert!(text.contains(expected), "{text}");
            assert!(text.contains("kubectl patch aksnodeclass linux"), "{text}");
        }
        let state =
            ClusterState { has_versions: Some(false), nodes_without_provider_id: Vec::new() };
        let text = show(ReportFormat::Table, &table(), &state).unwrap();
        assert!(text.contains("no image version can be pinned"), "{text}");
    }

    #[test]
    fn nodes_without_provider_id_come_first() {
        let node = Node {
            name: "aks-default-lost".to_owned(),
            uid: "u".to_owned(),
            pool: "default".to_owned(),
            created: jiff::Timestamp::UNIX_EPOCH,
            state: NodeState::NoProviderId,
        };
        let state = ClusterState { has_versions: None, nodes_without_provider_id: vec![node] };
        for table in [table(), Table::default()] {
            let text = show(ReportFormat::Table, &table, &state).unwrap();
            assert!(text.starts_with("Node aks-default-lost of NodePool default"), "{text}");
            assert!(text.contains("kubectl delete node aks-default-lost"), "{text}");
        }
    }
}
