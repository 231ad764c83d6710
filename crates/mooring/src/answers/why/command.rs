//! The command, and its document for other commands.

use std::process::ExitCode;

use mooring_nodes::{ClusterFacts, Node};
use mooring_terminal::{Mark, Screen};
use serde_json::Value;

use super::answer::WhyAnswer;
use super::request::{ask, select};
use super::{groups, markdown};
use crate::answers::arguments::{ReadArguments, WhyArguments};
use crate::answers::common::{add_mitigations, add_sources, names, print_warnings};
use crate::answers::filters::ensure_known;
use crate::arguments::SourceArguments;
use crate::cluster::{ConnectedCluster, read_cluster};
use crate::output::failure::CommandFailure;
use crate::output::show;
use crate::output::{AnswerFormat, print_document, print_screen};
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
