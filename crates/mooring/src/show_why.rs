//! Output of `mooring why`.

mod earlier;

use std::fmt::Write as _;

use mooring_controller::observation::node::Node;
use mooring_controller::query::{NodeReport, Table};
use mooring_redact::{Lines, markdown as escape, markdown_code};
use serde_json::{Value, json};

use crate::cluster_args::ReportFormat;
use crate::failure::Failure;
use crate::show;
use crate::show_fleet::{nodes_json, show_nodes};

/// Formats the reports, after Nodes without a providerID.
pub(crate) fn show(
    format: ReportFormat,
    what: &str,
    reports: &[NodeReport],
    fleet: &Table,
    lost: &[Node],
) -> Result<String, Failure> {
    Ok(show_nodes(format, lost)
        + &match format {
            ReportFormat::Table => table(what, reports, fleet),
            ReportFormat::Json => {
                let mut value = json(what, reports, fleet);
                value["nodesWithoutProviderID"] = nodes_json(lost).into();
                return show::json(&value);
            }
            ReportFormat::Markdown => markdown(what, reports, fleet),
        })
}

fn table(what: &str, reports: &[NodeReport], fleet: &Table) -> String {
    let mut text = Lines::default();
    for one in reports {
        let mark = if one.is_failed() { "failed" } else { "ok" };
        text.line(format_args!("{} ({mark}): {}", one.node, one.message()));
        let mut row = |name: &str, value: &str| {
            if !value.is_empty() {
                text.line(format_args!("  {name:<11} {value}"));
            }
        };
        row("NodeClaim", one.claim.as_deref().unwrap_or_default());
        row("pool", one.pool.as_deref().unwrap_or_default());
        row("image", one.image.as_deref().unwrap_or_default());
        row(
            "condition",
            &format!("{}/{}", one.verdict.status().as_str(), one.verdict.reason.as_str()),
        );
        if let Some(failure) = &one.verdict.failure {
            row("cause", &failure.cause);
            row("owner", failure.owner);
            row("evidence", failure.evidence.as_deref().unwrap_or_default());
        }
        row("source", one.source.as_str());
        row("earlier", &earlier::sentence(one).unwrap_or_default());
        for sentence in about(one, fleet) {
            row("fleet", sentence);
        }
        row("next", &one.next(what).unwrap_or_default());
    }
    text.into()
}

fn about<'a>(one: &'a NodeReport, fleet: &'a Table) -> impl Iterator<Item = &'a str> {
    fleet.about(one.image.as_deref().unwrap_or_default())
}

fn json(what: &str, reports: &[NodeReport], fleet: &Table) -> Value {
    let nodes: Vec<_> = reports
        .iter()
        .map(|one| {
            let failure = one.verdict.failure.as_ref();
            json!({
                "node": one.node,
                "nodeClaim": one.claim,
                "pool": one.pool,
                "image": one.image,
                "joined": one.joined,
                "failed": one.is_failed(),
                "unconfirmed": one.is_unconfirmed(),
                "status": one.verdict.status().as_str(),
                "reason": one.verdict.reason.as_str(),
                "message": one.message(),
                "code": failure.and_then(|failure| failure.code),
                "name": failure.and_then(|failure| failure.name.clone()),
                "effectiveCode": failure.and_then(|failure| failure.effective.as_ref().map(|(code, _)| *code)),
                "cause": failure.map(|failure| failure.cause.clone()),
                "owner": failure.map(|failure| failure.owner).filter(|owner| !owner.is_empty()),
                "evidence": failure.and_then(|failure| failure.evidence.clone()),
                "readFrom": one.source.as_str(),
                "earlier": earlier::json(one),
                "fleet": about(one, fleet).collect::<Vec<_>>(),
                "next": one.next(what),
            })
        })
        .collect();
    json!({"schema": "mooring.why/v1", "what": what, "nodes": nodes})
}

fn markdown(what: &str, reports: &[NodeReport], fleet: &Table) -> String {
    let mut text = format!("### Why {}\n\n", markdown_code(what));
    for one in reports {
        let mark = if one.is_failed() { "failed" } else { "ok" };
        let (node, sentence) = (escape(&one.node), escape(&one.message()));
        let _ = writeln!(text, "- **{node}** ({mark}): {sentence}");
        if let Some(evidence) =
            one.verdict.failure.as_ref().and_then(|failure| failure.evidence.as_ref())
        {
            let _ = writeln!(text, "  - evidence: {}", markdown_code(evidence));
        }
        if let Some(sentence) = earlier::sentence(one) {
            let _ = writeln!(text, "  - {}", escape(&sentence));
        }
        for sentence in about(one, fleet) {
            let _ = writeln!(text, "  - fleet: {}", escape(sentence));
        }
        if let Some(next) = one.next(what) {
            let _ = writeln!(text, "  - next: {}", markdown_code(&next));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mooring_controller::verdict::registration::NodeState;

    #[test]
    fn node_without_provider_id_is_in_every_format() {
        let node = Node {
            name: "aks-default-lost".to_owned(),
            uid: "u".to_owned(),
            pool: "default".to_owned(),
            created: jiff::Timestamp::UNIX_EPOCH,
            state: NodeState::NoProviderId,
        };
        for format in [ReportFormat::Table, ReportFormat::Json, ReportFormat::Markdown] {
            let text =
                show(format, "x", &[], &Table::default(), std::slice::from_ref(&node)).unwrap();
            assert!(text.contains("kubectl delete node aks"), "{text}");
            let without = show(format, "x", &[], &Table::default(), &[]).unwrap();
            assert!(!without.contains("kubectl delete node"), "{without}");
        }
    }
}
