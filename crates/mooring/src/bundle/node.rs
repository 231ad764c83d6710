//! What Azure and the record show of a node that cannot be looked into.

use mooring_redact::Redactor;

use super::archive::{Contents, Entry};
use super::clean::clean;
use crate::cluster_cli::{ClusterArguments, ReportFormat};
use crate::failure::Failure;
use crate::{show_why, why};

/// The answer of `mooring why`, and each extension's own words.
pub(crate) fn collect(name: &str, cluster: &ClusterArguments) -> Result<Contents, Failure> {
    let (told, answer) = why::runtime()?.block_on(async {
        let looker = why::looker(cluster, false, true).await?;
        let told = looker.why(name).await.map_err(|failed| why::of(&failed))?;
        let fleet = looker.fleet().await.unwrap_or_default();
        let lost = looker.nodes_without_provider_id().await;
        let answer = show_why::show(ReportFormat::Json, name, &told, &fleet, &lost)?;
        Ok::<_, Failure>((told, answer))
    })?;
    let mut contents = Contents::default();
    contents.entries.push(entry(
        "why.json".to_owned(),
        "the cause, as `mooring why` tells it",
        &answer,
    ));
    for one in told {
        let path = format!("{}/extension.txt", file_name(&one.node));
        if one.said.is_empty() {
            contents.left_out.push((path, "Azure shows no text of the extension's".to_owned()));
        } else {
            contents.entries.push(entry(
                path,
                "what the extension says, with the node's report in it",
                &one.said,
            ));
        }
    }
    let why = "is on the node: `mooring bundle /` there, or of a disk that is mounted elsewhere, takes it";
    contents.left_out.push(("logs and events".to_owned(), why.to_owned()));
    Ok(contents)
}

fn entry(path: String, why: &str, text: &str) -> Entry {
    // Nothing is known of the node's secrets here; what looks like one goes.
    let cleaned = clean(&Redactor::new([""; 0]), text.as_bytes());
    Entry {
        path,
        why: why.to_owned(),
        original: text.len() as u64,
        is_cut: false,
        redactions: cleaned.redactions,
        bytes: cleaned.bytes,
    }
}

/// A name that is safe as a part of a path.
pub(crate) fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain: String = name.chars().take(100).map(|c| if is_plain(c) { c } else { '-' }).collect();
    if plain.is_empty() { "node".to_owned() } else { plain }
}
