//! JSON and YAML documents of the commands.

use jiff::Timestamp;
use mooring_workflow::published::{ClusterIdentity, PublishedDocument, Source, SourceState};
use serde::Serialize;

use crate::output::failure::CommandFailure;
use crate::output::show;

/// Returns a document of now.
pub(crate) fn document<'a, T: Serialize>(
    schema: &'static str,
    cluster: impl Into<Option<&'a ClusterIdentity>>,
    sources: &'a [Source],
    content: T,
) -> PublishedDocument<'a, T> {
    PublishedDocument::new(schema, Timestamp::now(), cluster, sources, content)
}

/// Returns a document of now that needs no cluster.
pub(crate) fn without_cluster<T: Serialize>(
    schema: &'static str,
    content: T,
) -> PublishedDocument<'static, T> {
    document(schema, Option::<&ClusterIdentity>::None, &[], content)
}

/// Returns a document as one line, for `--watch`.
pub(crate) fn line<T: Serialize>(
    document: &PublishedDocument<'_, T>,
) -> Result<String, CommandFailure> {
    let text =
        serde_json::to_string(document).map_err(|error| CommandFailure::io(error.to_string()))?;
    Ok(show::escape_hidden(&text) + "\n")
}

/// Returns the exit code of an answer from these sources: 3 if one that was asked could not be read, which a warning names.
pub(crate) fn exit_code(sources: &[Source]) -> u8 {
    let failed = sources.iter().filter(|source| source.state == SourceState::Failed);
    let mut code = 0;
    for source in failed {
        let why = source.error.as_deref().and_then(|why| why.lines().next()).unwrap_or("unknown");
        show::print_warning(&format!("{} was not read completely: {why}", source.name.as_str()));
        code = 3;
    }
    code
}
