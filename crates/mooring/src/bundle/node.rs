//! Bundle of a node whose disk is not accessible: results of Azure and the failure record.

use mooring_redact::Redactor;

use super::archive::{Contents, Entry};
use super::redact::redact;
use crate::cluster_args::ClusterArguments;
use crate::failure::Failure;
use crate::runs::build_runtime;
use crate::{former, show};

/// Collects the output of `mooring why` and the messages of the extensions.
pub(crate) fn collect(name: &str, cluster: &ClusterArguments) -> Result<Contents, Failure> {
    let (reports, answer) = build_runtime()?.block_on(async {
        let query = former::node_query(cluster, false, true).await?;
        let reports = query.why(name).await.map_err(|error| Failure::query(&error))?;
        let fleet = query.fleet().await.unwrap_or_default();
        let lost = query.nodes_without_provider_id().await;
        let answer =
            former::why_document(name, &reports, &fleet, &lost, &query.scope.node_resource_group);
        Ok::<_, Failure>((reports, show::json(&answer)?))
    })?;
    let mut contents = Contents::default();
    contents.entries.push(entry("why.json".to_owned(), "output of `mooring why`", &answer));
    for one in reports {
        let path = format!("{}/extension.txt", file_name(&one.node));
        if one.report_text.is_empty() {
            contents.skipped.push((path, "Azure has no message of the extension".to_owned()));
        } else {
            contents.entries.push(entry(
                path,
                "message of the extension, with the bootstrap report",
                &one.report_text,
            ));
        }
    }
    let why = "only on the node: run `mooring bundle /` there, or on a host that mounts its disk";
    contents.skipped.push(("logs and events".to_owned(), why.to_owned()));
    Ok(contents)
}

fn entry(path: String, why: &str, text: &str) -> Entry {
    // The node's secrets are unknown here; only patterns apply.
    let redacted = redact(&Redactor::new([""; 0]), text.as_bytes());
    Entry {
        path,
        why: why.to_owned(),
        original_bytes: text.len() as u64,
        is_truncated: false,
        redactions: redacted.redactions,
        bytes: redacted.bytes,
    }
}

/// Returns `name` as a safe file name.
pub(crate) fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain: String = name.chars().take(100).map(|c| if is_plain(c) { c } else { '-' }).collect();
    if plain.is_empty() { "node".to_owned() } else { plain }
}
