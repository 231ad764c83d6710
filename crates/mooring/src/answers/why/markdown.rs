//! The answer in Markdown.

use std::fmt::Write as _;

use mooring_nodes::ClusterFacts;
use mooring_redact::{markdown as escape, markdown_code};

use super::answer::WhyAnswer;
use super::{groups, node};
use crate::answers::common::{
    advice_markdown as advice, markdown_end, mitigations_markdown as mitigations,
};

pub(super) fn text(facts: &ClusterFacts, answer: &WhyAnswer) -> String {
    let mut text = String::new();
    for lost in &answer.lost {
        let _ = writeln!(text, "**{}**\n", escape(&lost.message));
    }
    let (_, sentence) = match answer.single() {
        Some(entry) => node::sentence(facts, entry),
        None => groups::sentence(facts, answer),
    };
    let _ = writeln!(text, "### {}\n", escape(&sentence));
    for diagnosis in &answer.diagnoses {
        let group = &diagnosis.group;
        let _ = writeln!(
            text,
            "- **{} × {}**: {}",
            group.failed,
            escape(&group.cause),
            escape(&group.summary)
        );
        let pool = group.pool.as_deref().unwrap_or("none");
        let image = group.image.as_deref().unwrap_or("unknown");
        let _ = writeln!(text, "  - pool {}, image {}", escape(pool), escape(image));
        if let Some(code) = groups::code(group) {
            let _ = writeln!(text, "  - code {}", escape(&code));
        }
        for evidence in &group.evidence {
            let _ = writeln!(text, "  - evidence: {}", markdown_code(&evidence.line));
        }
        let names: Vec<String> = group.nodes.iter().map(|name| escape(name)).collect();
        let _ = writeln!(text, "  - nodes: {}", names.join(", "));
        if let Some(first) = diagnosis.actions.first() {
            let _ = writeln!(text, "  - do first: {}", advice(first));
        }
        for next in &diagnosis.next {
            let _ = writeln!(text, "  - next: {}", markdown_code(&next.command));
        }
    }
    if let Some(entry) = answer.single() {
        let place = escape(&node::place(&entry.node, None).content());
        if answer.diagnoses.is_empty() {
            let _ = writeln!(text, "- {place}");
        }
        if let Some(earlier) = &entry.earlier {
            let _ = writeln!(text, "  - {}", escape(&node::earlier_attempt(earlier)));
        }
    } else {
        let _ = writeln!(text, "\nnodes: {} joining, {} joined", answer.joining, answer.joined);
    }
    text + markdown_end(facts) + &mitigations(&answer.mitigations)
}
