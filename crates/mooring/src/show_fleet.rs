//! The table of image × cause.

use std::fmt::Write as _;

use mooring_controller::observation::node::Node;
use mooring_controller::once::{Row, Table};
use mooring_controller::verdict::advice;
use mooring_redact::{markdown as escape, printable};
use serde_json::{Value, json};

use crate::cluster_cli::ReportFormat;
use crate::failure::Failure;
use crate::show;

const NOTHING: &str = "No failures are on record.\n\
    hint: `mooring controller` keeps the record; `--namespace` says where\n";

/// What the cluster shows beside the record.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// Whether an AKSNodeClass can pin an image version.
    pub(crate) has_versions: Option<bool>,
    /// Nodes without a providerID.
    pub(crate) nodes: Vec<Node>,
}

/// The table in a format.
pub(crate) fn show(
    format: ReportFormat,
    table: &Table,
    around: &Surroundings,
) -> Result<String, Failure> {
    Ok(show_nodes(format, &around.nodes)
        + &match format {
            ReportFormat::Json => return show::json(&json(table, around)),
            _ if table.rows.is_empty() => NOTHING.to_owned() + &unconfirmed(table),
            ReportFormat::Table => columns(table, around),
            ReportFormat::Markdown => markdown(table, around),
        })
}

/// Describes Nodes without a providerID, for people: one that stops Karpenter matters more than anything else.
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

/// Describes Nodes without a providerID, for programs.
pub(crate) fn nodes_json(nodes: &[Node]) -> Vec<Value> {
    nodes
        .iter()
        .map(|node| json!({"node": node.name, "pool": node.pool, "sentence": node.finding()}))
        .collect()
}

/// What can be done about an image.
fn steps(table: &Table, image: &str, around: &Surroundings) -> Vec<String> {
    advice::steps(&table.place(image, around.has_versions))
}

fn cells(row: &Row) -> [String; 5] {
    let rate = format!("{} of {}", row.failed, row.nodes);
    [row.image.clone(), row.cause.clone(), rate, row.pools.join(","), format!("{:.0}", row.last)]
}

const HEAD: [&str; 5] = ["IMAGE", "CAUSE", "FAILED", "POOLS", "LAST"];

fn columns(table: &Table, around: &Surroundings) -> String {
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
        for step in steps(table, image, around) {
            let _ = writeln!(text, "- {}", printable(&step));
        }
    }
    text + &unconfirmed(table)
}

/// What is on record and not counted.
fn unconfirmed(table: &Table) -> String {
    match table.unconfirmed {
        0 => String::new(),
        count => format!(
            "\nNot counted: {count} unconfirmed (only an event reports them; `mooring why POOL` lists them)\n"
        ),
    }
}

fn markdown(table: &Table, around: &Surroundings) -> String {
    let mut text = format!("| {} |\n|---|---|---|---|---|\n", HEAD.join(" | "));
    for row in &table.rows {
        let _ = writeln!(text, "| {} |", cells(row).map(|cell| escape(&cell)).join(" | "));
    }
    for (image, sentence) in &table.findings {
        let _ = writeln!(text, "\n**{}**\n", escape(sentence));
        for step in steps(table, image, around) {
            let _ = writeln!(text, "- {}", escape(&step));
        }
    }
    text + &unconfirmed(table)
}

fn json(table: &Table, around: &Surroundings) -> Value {
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
            let actions = steps(table, image, around);
            json!({"image": image, "sentence": sentence, "actions": actions})
        })
        .collect();
    json!({"schema": "mooring.fleet/v1", "rows": rows, "findings": findings, "dropped": table.dropped,
        "unconfirmed": table.unconfirmed, "nodesWithoutProviderID": nodes_json(&around.nodes)})
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
    fn a_failing_image_comes_with_the_exact_patches() {
        for (format, budget) in [
            (ReportFormat::Table, r#"{"nodes":"0","reasons":["Drifted"]}"#),
            (ReportFormat::Json, r#"{\"nodes\":\"0\",\"reasons\":[\"Drifted\"]}"#),
        ] {
            let text = show(format, &table(), &Surroundings::default()).unwrap();
            assert!(text.contains(budget), "{text}");
            assert!(text.contains("kubectl patch aksnodeclass linux"), "{text}");
        }
        let around = Surroundings { has_versions: Some(false), nodes: Vec::new() };
        let text = show(ReportFormat::Table, &table(), &around).unwrap();
        assert!(text.contains("no image version can be pinned"), "{text}");
    }

    #[test]
    fn a_node_that_stops_karpenter_comes_first() {
        let node = Node {
            name: "aks-default-lost".to_owned(),
            uid: "u".to_owned(),
            pool: "default".to_owned(),
            created: jiff::Timestamp::UNIX_EPOCH,
            state: NodeState::NoProviderId,
        };
        let around = Surroundings { has_versions: None, nodes: vec![node] };
        for table in [table(), Table::default()] {
            let text = show(ReportFormat::Table, &table, &around).unwrap();
            assert!(text.starts_with("Node aks-default-lost of NodePool default"), "{text}");
            assert!(text.contains("kubectl delete node aks-default-lost"), "{text}");
        }
    }
}
