//! `mooring why`: why nodes did not join, in groups or for one node.

mod answer;
mod groups;
mod markdown;
mod node;
mod subject;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use mooring_inventory::{Facts, Inventory, JoinState, Node, PoolKind};
use mooring_terminal::{Mark, Screen};
use serde_json::Value;

use self::answer::Answer;
use self::subject::Subject;
use super::common::{filter, names, print_warnings};
use super::filters::ensure_known;
use super::schemas::WHY;
use crate::about::schema::{ensure_document, is_former};
use crate::answers::arguments::{ReadArguments, WhyArguments};
use crate::arguments::{SourceArguments, without_kind};
use crate::cluster::{Cluster, Reports, Request, read_cluster};
use crate::output::failure::Failure;
use crate::output::show;
use crate::output::{AnswerFormat, print_document, print_screen};
use crate::process::build_runtime;

/// Exits with 1 if a node failed.
pub(crate) fn why(arguments: &WhyArguments) -> Result<ExitCode, Failure> {
    let is_document = matches!(arguments.output, AnswerFormat::Json | AnswerFormat::Yaml);
    ensure_document(arguments.schema.as_deref(), is_document)?;
    if is_former(arguments.schema.as_deref(), WHY) {
        return crate::answers::former::why(arguments);
    }
    let runtime = build_runtime()?;
    let (cluster, subject, reports) = runtime.block_on(read(arguments))?;
    let facts = &cluster.facts;
    ensure_known(&arguments.read, facts, "why")?;
    let selected = select(arguments, facts, &subject);
    let answer = Answer::new(&cluster, &subject, &selected, &reports, &arguments.read);
    print_warnings(facts);
    match arguments.output {
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let is_yaml = arguments.output == AnswerFormat::Yaml;
            print_document(&facts.document(WHY, &answer), is_yaml)?;
        }
        AnswerFormat::Markdown => show::print(markdown::text(facts, &answer).as_bytes())?,
        AnswerFormat::Name => {
            let is_wanted = |node: &&Node| answer.is_single() || node.is_failed();
            show::print(names(selected.nodes.iter().filter(is_wanted)).as_bytes())?;
        }
        AnswerFormat::Table | AnswerFormat::Wide => {
            print_screen(&screen(arguments, facts, &answer))?;
        }
    }
    Ok(ExitCode::from(u8::from(answer.is_wrong() && !arguments.read.exit_zero)))
}

/// Reads the cluster and the record, and from Azure only what they lack.
async fn read(arguments: &WhyArguments) -> Result<(Cluster, Subject, Reports), Failure> {
    let mut cluster = read_cluster(&arguments.read.sources).await?;
    let (subject, reports) = ask(arguments, &mut cluster).await?;
    Ok((cluster, subject, reports))
}

/// Returns the document about a name in a cluster that was read. Azure is read for what the cluster lacks.
pub(crate) async fn document(
    name: &str,
    sources: SourceArguments,
    cluster: &mut Cluster,
) -> Result<Value, Failure> {
    let arguments = WhyArguments {
        what: Some(name.to_owned()),
        read: ReadArguments::all(sources),
        run_command: false,
        output: AnswerFormat::Json,
        schema: None,
    };
    let (subject, reports) = ask(&arguments, cluster).await?;
    let selected = select(&arguments, &cluster.facts, &subject);
    let answer = Answer::new(cluster, &subject, &selected, &reports, &arguments.read);
    let document = serde_json::to_value(cluster.facts.document(WHY, &answer));
    document.map_err(|error| Failure::io(error.to_string()))
}

/// Finds the subject, and reads from Azure only what the cluster lacks.
async fn ask(
    arguments: &WhyArguments,
    cluster: &mut Cluster,
) -> Result<(Subject, Reports), Failure> {
    let facts = &cluster.facts;
    let name = arguments.what.as_deref().map(without_kind);
    let subject = Subject::find(name, &facts.inventory, &facts.node_pools);
    let selected = select(arguments, facts, &subject);
    let mut request = Request::unknown(&selected.nodes, facts.now);
    match &subject {
        Subject::Cluster | Subject::Pool { kind: PoolKind::NodePool, .. } => {}
        Subject::Pool { name, kind: PoolKind::AksPool } => request.pool = Some(name.clone()),
        Subject::Unknown(name) => request.name = Some(name.clone()),
        Subject::Node(uid) => add_node(&mut request, facts, uid, arguments.run_command),
    }
    let reports = cluster.ask_azure(&arguments.read.sources, &request).await?;
    let subject = match subject {
        Subject::Unknown(name) => subject::resolve(&name, &cluster.facts, &reports)?,
        known => known,
    };
    Ok((subject, reports))
}

/// Requests one node: with Run Command also one that has a result, and one without a NodeClaim by its name. A node without
/// a verdict is compared with others of its pool.
fn add_node(request: &mut Request, facts: &Facts, uid: &str, command: bool) {
    let Some(node) = facts.inventory.by_uid(uid).filter(|node| node.exists) else { return };
    request.run_command = command;
    let is_joining = node.state == JoinState::Joining;
    match &node.node_claim {
        Some(claim) if command => request.claims = vec![(node.uid.clone(), claim.clone())],
        Some(claim) if is_joining => {
            let of_pool = facts.inventory.nodes.iter().filter(|other| other.pool == node.pool);
            *request = Request::unknown(of_pool, facts.now);
            request.claims.retain(|(uid, _)| *uid != node.uid);
            request.claims.insert(0, (node.uid.clone(), claim.clone()));
        }
        None if command || is_joining => request.name.clone_from(&node.node),
        _ => {}
    }
}

fn select(arguments: &WhyArguments, facts: &Facts, subject: &Subject) -> Inventory {
    let mut filter = filter(&arguments.read, facts);
    match subject {
        Subject::Cluster => {}
        Subject::Pool { name, .. } => filter.pool = Some(name.clone()),
        Subject::Node(uid) => {
            let nodes = facts.inventory.by_uid(uid).cloned().into_iter().collect();
            return Inventory { nodes, ..Inventory::default() };
        }
        Subject::Unknown(_) => return Inventory::default(),
    }
    facts.inventory.filtered(&filter)
}

fn screen(arguments: &WhyArguments, facts: &Facts, answer: &Answer) -> Screen {
    let mut screen = Screen::default();
    // They stop Karpenter, so they come first.
    for node in &answer.lost {
        screen.sentence(Mark::Bad, &node.message);
    }
    let is_wide = arguments.output == AnswerFormat::Wide;
    match answer.single() {
        Some(node) => self::node::add(&mut screen, facts, answer, node),
        None => groups::add(&mut screen, facts, answer, is_wide),
    }
    super::common::add_sources(&mut screen, facts);
    screen
}
