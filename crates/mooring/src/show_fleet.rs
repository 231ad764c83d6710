//! The table of image × cause.

use std::fmt::Write as _;

use mooring_contract::printable::{markdown as escape, printable};
use mooring_controller::once::{Row, Table};
use serde_json::{Value, json};

use crate::cluster_cli::ReportFormat;
use crate::failure::Failure;
use crate::show;

const NOTHING: &str = "No failures are on record.\n\
    hint: `mooring controller` keeps the record; `--namespace` says where\n";

/// The table in a format.
pub(crate) fn show(format: ReportFormat, table: &Table) -> Result<String, Failure> {
    Ok(match format {
        ReportFormat::Json => return show::json(&json(table)),
        _ if table.rows.is_empty() => NOTHING.to_owned() + &unconfirmed(table),
        ReportFormat::Table => columns(table),
        ReportFormat::Markdown => markdown(table),
    })
}

fn cells(row: &Row) -> [String; 5] {
    let rate = format!("{} of {}", row.failed, row.nodes);
    [row.image.clone(), row.cause.clone(), rate, row.pools.join(","), format!("{:.0}", row.last)]
}

const HEAD: [&str; 5] = ["IMAGE", "CAUSE", "FAILED", "POOLS", "LAST"];

fn columns(table: &Table) -> String {
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
    for (_, sentence) in &table.findings {
        let _ = writeln!(text, "\n{}", printable(sentence));
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

fn markdown(table: &Table) -> String {
    let mut text = format!("| {} |\n|---|---|---|---|---|\n", HEAD.join(" | "));
    for row in &table.rows {
        let _ = writeln!(text, "| {} |", cells(row).map(|cell| escape(&cell)).join(" | "));
    }
    for (_, sentence) in &table.findings {
        let _ = writeln!(text, "\n**{}**", escape(sentence));
    }
    text + &unconfirmed(table)
}

fn json(table: &Table) -> Value {
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
        .map(|(image, sentence)| json!({"image": image, "sentence": sentence}))
        .collect();
    json!({"schema": "mooring.fleet/v1", "rows": rows, "findings": findings, "dropped": table.dropped,
        "unconfirmed": table.unconfirmed})
}
