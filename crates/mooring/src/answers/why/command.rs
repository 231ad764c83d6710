//! The command, and its document for other commands.

use std::process::ExitCode;

use mooring_nodes::{ClusterFacts, Inventory, JoinState, Node, PoolKind};
use mooring_terminal::{Mark, Screen};
use serde_json::Value;

use crate::answers::arguments::{ReadArguments, WhyArguments};
use crate::answers::common::ensure_known;
use crate::answers::common::{add_mitigations, add_sources, filter, names, print_warnings};
use crate::answers::why::answer::WhyAnswer;
use crate::answers::why::subject::{self, WhySubject};
use crate::answers::why::{groups, markdown};
use crate::arguments::{SourceArguments, without_kind};
use crate::cluster::{ConnectedCluster, NamedVms, Reports, VmRequest, read_cluster};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, print_document, print_screen, show};
use crate::process::build_runtime;

const WHY: &str = "mooring.why/v1";

/// Exits with 1 if a node failed, is late or unknown, and with 3 if a source could not be read.
pub(crate) fn why(arguments: &WhyArguments) -> Result<ExitCode, CommandFailure> {
    let (cluster, subject, reports) = build_runtime()?.block_on(async {
        let mut cluster = read_cluster(&arguments.read.sources).await?;
        let (subject, reports) = ask(arguments, &mut cluster).await?;
        Ok::<_, CommandFailure>((cluster, subject, reports))
    })?;
    let facts = &cluster.facts;
    ensure_known(&arguments.read, facts, "why")?;
    let selected = select(arguments, facts, &subject);
    let answer = WhyAnswer::new(&cluster, &subject, &selected, &reports, &arguments.read);
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
    Ok(ExitCode::from(facts.exit_code(answer.is_wrong() && !arguments.read.exit_zero)))
}

/// Returns the document about a name in a cluster that was read. Azure is read for what the cluster lacks.
pub(crate) async fn document(
    name: &str,
    sources: SourceArguments,
    cluster: &mut ConnectedCluster,
) -> Result<Value, CommandFailure> {
    let arguments = WhyArguments {
        what: Some(name.to_owned()),
        read: ReadArguments::all(sources),
        run_command: false,
        output: AnswerFormat::Json,
    };
    let (subject, reports) = ask(&arguments, cluster).await?;
    let selected = select(&arguments, &cluster.facts, &subject);
    let answer = WhyAnswer::new(cluster, &subject, &selected, &reports, &arguments.read);
    let document = serde_json::to_value(cluster.facts.document(WHY, &answer));
    document.map_err(|error| CommandFailure::io(error.to_string()))
}

pub(super) fn screen(arguments: &WhyArguments, facts: &ClusterFacts, answer: &WhyAnswer) -> Screen {
    let mut screen = Screen::default();
    // They stop Karpenter, so they come first.
    for node in &answer.lost {
        screen.sentence(Mark::Bad, &node.message);
    }
    let is_wide = arguments.output == AnswerFormat::Wide;
    match answer.single() {
        Some(node) => super::node::add(&mut screen, facts, answer, node),
        None => groups::add(&mut screen, facts, answer, is_wide),
    }
    add_mitigations(&mut screen, &answer.mitigations);
    add_sources(&mut screen, facts);
    screen
}

/// Finds the subject, and reads from Azure only what the cluster lacks.
pub(super) async fn ask(
    arguments: &WhyArguments,
    cluster: &mut ConnectedCluster,
) -> Result<(WhySubject, Reports), CommandFailure> {
    let facts = &cluster.facts;
    let name = arguments.what.as_deref().map(without_kind);
    let subject = WhySubject::find(name, &facts.inventory, &facts.karpenter);
    let selected = select(arguments, facts, &subject);
    let mut request = VmRequest::unknown(&selected.nodes);
    match &subject {
        WhySubject::Pool { kind: PoolKind::NodePool, .. } => {}
        WhySubject::Cluster => request = request.with_pools(),
        WhySubject::Pool { name, kind: PoolKind::AksPool } => {
            let named = Some(NamedVms::Pool(name.clone()));
            request = VmRequest { named, ..request }.with_pools();
        }
        WhySubject::Unknown(name) => request.named = Some(NamedVms::Unknown(name.clone())),
        WhySubject::Node(uid) => add_node(&mut request, facts, uid, arguments.run_command),
    }
    let reports = cluster.ask_azure(&arguments.read.sources, &request).await?;
    let subject = match subject {
        WhySubject::Unknown(name) => subject::resolve(&name, &cluster.facts, &reports)?,
        known => known,
    };
    Ok((subject, reports))
}

/// Requests one node: with Run Command also one that has a result, and one without a NodeClaim by its name. A node without
/// a verdict is compared with others of its pool.
pub(super) fn add_node(request: &mut VmRequest, facts: &ClusterFacts, uid: &str, command: bool) {
    let Some(node) = facts.inventory.by_uid(uid).filter(|node| node.exists) else { return };
    request.run_command = command;
    let is_joining = node.state == JoinState::Joining;
    match &node.node_claim {
        Some(_) if command => request.claims = vec![node.uid.clone()],
        Some(_) if is_joining => {
            let of_pool = facts.inventory.nodes.iter().filter(|other| other.pool == node.pool);
            *request = VmRequest::unknown(of_pool);
            request.claims.retain(|uid| *uid != node.uid);
            request.claims.insert(0, node.uid.clone());
        }
        None if command || is_joining => {
            request.named = node.node.clone().map(|name| named(node, name));
        }
        _ => {}
    }
}

fn named(node: &Node, name: String) -> NamedVms {
    let pool = node.pool.as_deref().map(str::to_owned);
    match node.vm_id.clone() {
        Some(vm_id) => NamedVms::Node { name, vm_id, pool },
        None => NamedVms::Unknown(name),
    }
}

pub(super) fn select(
    arguments: &WhyArguments,
    facts: &ClusterFacts,
    subject: &WhySubject,
) -> Inventory {
    let mut filter = filter(&arguments.read, facts);
    match subject {
        WhySubject::Cluster => {}
        WhySubject::Pool { name, .. } => filter.pool = Some(name.clone()),
        WhySubject::Node(uid) => {
            let nodes = facts.inventory.by_uid(uid).cloned().into_iter().collect();
            let reads = facts.inventory.reads.clone();
            return Inventory { nodes, reads, ..Inventory::default() };
        }
        WhySubject::Unknown(_) => return Inventory::default(),
    }
    facts.inventory.filtered(&filter)
}
