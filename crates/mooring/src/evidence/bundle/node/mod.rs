//! Bundle of a node by its name: what the cluster, Azure and the failure record have of it.
//!
//! Every file is read separately: one that cannot be read is left out with the reason.

mod azure;
mod cluster;
mod documents;
mod files;
mod own_files;
mod source;
mod subject;

use jiff::Timestamp;
use mooring_trace::TraceFile;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName};

pub(crate) use self::files::file_name;
use self::files::{FileContent, FileInfo};
use self::source::Sources;
use self::subject::BundledNode;
use super::archive::{Contents, FileOrigin};
use crate::arguments::{AzureMode, SourceArguments};
use crate::output::failure::CommandFailure;
use crate::process::build_runtime;

/// Nodes of a pool that are collected.
const MAX_NODES: usize = 10;

/// Collects all files of the nodes with this name.
pub(crate) fn collect(
    name: &str,
    arguments: &SourceArguments,
    run_command: bool,
) -> Result<Contents, CommandFailure> {
    build_runtime()?.block_on(async {
        let sources = Box::pin(Sources::open(name, arguments, arguments.azure)).await?;
        let (subjects, found) = subjects(&sources, "mooring bundle").await?;
        let mut contents = Contents {
            subject: Some(name.to_owned()),
            cluster: sources.facts().ok().map(|facts| facts.identity.clone()),
            ..Contents::default()
        };
        for subject in &subjects {
            cluster::add_objects(subject, &mut contents);
            cluster::add_events(&sources, subject, &mut contents).await;
        }
        cluster::add_pools(&sources, &subjects, &mut contents).await;
        for subject in &subjects {
            azure::add_vm(&sources, subject, true, &mut contents).await;
        }
        add_own_files(&sources, &subjects, run_command, &mut contents).await;
        azure::add_agent_pool(&sources, &subjects, &mut contents).await;
        azure::add_activity_log(&sources, &subjects, &mut contents).await;
        let log = cluster::read_controller_log(&sources).await;
        contents.sources = sources.published();
        for subject in &subjects {
            documents::add_record(&sources, subject, &mut contents);
            documents::add_usual(&sources, subject, &mut contents);
        }
        Box::pin(documents::add_outputs(&sources, &mut contents)).await;
        let why = "last lines of the log of the leader";
        let info = FileInfo(FileOrigin::Mooring, "controller's log", why);
        contents.add(info, "controller.log", log.map(FileContent::Text));
        if found > subjects.len() {
            let why = format!("only {MAX_NODES} of {found} nodes are collected");
            contents.skip_as("nodes", "other nodes", why);
        }
        Ok(contents)
    })
}

/// Adds the files on the node, if Run Command is permitted for it.
async fn add_own_files(
    sources: &Sources<'_>,
    subjects: &[BundledNode],
    run_command: bool,
    contents: &mut Contents,
) {
    let why = match subjects {
        [subject] if run_command => return own_files::add(sources, subject, contents).await,
        _ if run_command => "`--run-command` needs the name of one node",
        _ => {
            "`--run-command` was not given; `mooring bundle /` on the node, or on a host that mounts its disk, has all of them"
        }
    };
    contents.skip_as(own_files::DIRECTORY, own_files::LABEL, why);
}

/// The files of a node that have times, as a bundle has them.
#[derive(Default)]
pub(crate) struct NodeFiles {
    pub(crate) files: Vec<TraceFile>,
    /// Reasons of files that were not read.
    pub(crate) left_out: Vec<String>,
    /// Time of the read; none for a path.
    pub(crate) now: Option<Timestamp>,
    /// The cluster, and what was read of it; none for a path.
    pub(crate) cluster: Option<ClusterIdentity>,
    pub(crate) sources: Vec<Source>,
}

/// Collects the files that a timeline needs.
pub(crate) fn trace_files(
    name: &str,
    arguments: &SourceArguments,
    run_command: bool,
) -> Result<NodeFiles, CommandFailure> {
    build_runtime()?.block_on(async {
        let sources = Box::pin(Sources::open(name, arguments, AzureMode::Never)).await?;
        let (subjects, _) = subjects(&sources, "mooring trace").await?;
        let mut contents = Contents::default();
        for subject in &subjects {
            cluster::add_objects(subject, &mut contents);
            azure::add_vm(&sources, subject, false, &mut contents).await;
            documents::add_record(&sources, subject, &mut contents);
            documents::add_usual(&sources, subject, &mut contents);
        }
        if run_command {
            add_own_files(&sources, &subjects, run_command, &mut contents).await;
        }
        let left_out = contents.skipped.iter().filter(|one| has_times(&one.path));
        let published = sources.published();
        // The VM has the reason of Azure.
        let others = published.iter().filter(|source| source.name != SourceName::Azure);
        let unread =
            others.filter_map(|source| Some((source.name.as_str(), source.error.as_ref()?)));
        Ok(NodeFiles {
            files: documents::trace_files(&contents),
            left_out: left_out
                .map(|one| format!("{}: {}", one.label, one.why))
                .chain(unread.map(|(name, why)| format!("{name}: {why}")))
                .collect(),
            now: Some(sources.now),
            cluster: sources.facts().ok().map(|facts| facts.identity.clone()),
            sources: published,
        })
    })
}

/// Returns true for a file of a bundle without which a timeline is incomplete.
pub(crate) fn has_times(path: &str) -> bool {
    path.ends_with("/vm.json") || path.ends_with(own_files::DIRECTORY)
}

/// Returns the nodes with the name and their number, or an error with similar names.
async fn subjects(
    sources: &Sources<'_>,
    command: &str,
) -> Result<(Vec<BundledNode>, usize), CommandFailure> {
    let mut subjects = BundledNode::find_all(sources).await;
    if subjects.is_empty() {
        return Err(sources.unknown_name(command));
    }
    let found = subjects.len();
    subjects.truncate(MAX_NODES);
    Ok((subjects, found))
}
