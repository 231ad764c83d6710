//! `mooring status`: the cluster on one screen.

use std::process::ExitCode;

use mooring_nodes::claim::image;
use mooring_nodes::status::{ClusterStatus, STATUS_SCHEMA, StatusFinding};
use mooring_nodes::{ClusterFacts, Fleet, Pool};
use mooring_terminal::{Column, Mark, Screen, Table, Text};
use mooring_workflow::plural::counted;

use super::common::ensure_known;
use super::common::{
    add_advice, add_sources, clock, filter, pools_portal, portal, print_warnings, short_duration,
    short_since,
};
use crate::answers::arguments::{ReadArguments, StatusArguments};
use crate::cluster::read;
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, print_document, print_markdown, print_screen, published, show};
use crate::process::build_runtime;
use crate::workflows::runs::{Frame, WatchRow};

fn status_of(facts: &ClusterFacts, arguments: &ReadArguments) -> ClusterStatus {
    let filter = filter(arguments, facts);
    let inventory = facts.inventory.filtered(&filter);
    let fleet = Fleet::of(&inventory, filter.since);
    ClusterStatus::of(facts, &filter, &inventory, &fleet)
}

fn mark(finding: &StatusFinding) -> Mark {
    if finding.severity == "error" { Mark::Bad } else { Mark::Warning }
}

/// Exits with 1 if something is wrong, and with 3 if a source could not be read.
pub(crate) fn status(arguments: &StatusArguments) -> Result<ExitCode, CommandFailure> {
    let sources = &arguments.read.sources;
    let facts = build_runtime()?.block_on(async {
        let mut cluster = read(sources).await?;
        cluster.read_runs(sources.timeout).await;
        Ok::<_, CommandFailure>(cluster.facts)
    })?;
    ensure_known(&arguments.read, &facts, "status")?;
    let status = status_of(&facts, &arguments.read);
    print_warnings(&facts);
    match arguments.output {
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let is_yaml = arguments.output == AnswerFormat::Yaml;
            print_document(&facts.document(STATUS_SCHEMA, &status), is_yaml)?;
        }
        AnswerFormat::Name => {
            let names: Vec<&str> = status.pools.iter().map(|pool| pool.name.as_str()).collect();
            show::print_names(names)?;
        }
        AnswerFormat::Markdown => print_markdown(&screen(arguments, &facts, &status))?,
        AnswerFormat::Table | AnswerFormat::Wide => {
            print_screen(&screen(arguments, &facts, &status))?;
        }
    }
    Ok(ExitCode::from(facts.exit_code(status.is_wrong() && !arguments.read.exit_zero)))
}

/// Returns a frame of `--watch`, and true if something is wrong.
pub(super) fn frame(
    arguments: &StatusArguments,
    facts: &ClusterFacts,
) -> Result<(Frame, bool), CommandFailure> {
    ensure_known(&arguments.read, facts, "status")?;
    let status = status_of(facts, &arguments.read);
    let line = published::line(&facts.document(STATUS_SCHEMA, &status))?;
    let mut rows = Vec::new();
    for finding in &status.findings {
        let mut screen = Screen::default();
        screen.sentence(mark(finding), &finding.message);
        add_advice(&mut screen, 2, &finding.advice);
        let (key, state) = (finding.message.clone(), String::new());
        rows.push(WatchRow { key, state, plain: screen, with_heads: None });
    }
    for pool in &status.pools {
        let row = |has_heads: bool| {
            let table = table(arguments, facts, std::slice::from_ref(pool));
            let mut screen = Screen::default();
            screen.table(if has_heads { table } else { table.without_heads() });
            screen
        };
        let key = format!("pool {} {}", pool.kind.as_str(), pool.name);
        let state = format!("{pool:?}");
        rows.push(WatchRow { key, state, plain: row(false), with_heads: Some(row(true)) });
    }
    let screen = screen(arguments, facts, &status);
    Ok((Frame { screen, line, rows }, status.is_wrong()))
}

fn screen(arguments: &StatusArguments, facts: &ClusterFacts, status: &ClusterStatus) -> Screen {
    let mut screen = Screen::default();
    screen.ends(
        heading(facts, &arguments.read),
        Text::new(format!("{} UTC", clock(facts.now, facts.now))),
    );
    screen.blank();
    for finding in &status.findings {
        screen.sentence(mark(finding), &finding.message);
        add_advice(&mut screen, 2, &finding.advice);
    }
    let unasked = facts.unasked().join(" ");
    if status.findings.is_empty() {
        let nodes: usize = status.pools.iter().filter_map(|pool| pool.nodes.found()).sum();
        let text = format!("No problem found in {}.", counted(nodes, "node"));
        if status.is_healthy() && unasked.is_empty() {
            screen.sentence(Mark::Good, text);
        } else {
            screen.sentence(Mark::None, format!("{text} {unasked}").trim_end());
        }
    } else if !unasked.is_empty() {
        screen.sentence(Mark::None, unasked);
    }
    screen.blank();
    if !status.pools.is_empty() {
        screen.table(table(arguments, facts, &status.pools));
        screen.blank();
    }
    screen.label("Controller", [controller(facts)]);
    let next = status.next.iter().map(|next| (next.command.as_str(), next.purpose.as_str()));
    screen.commands("Next", next);
    add_sources(&mut screen, facts);
    screen
}

fn heading(facts: &ClusterFacts, arguments: &ReadArguments) -> Text {
    let since = vec![short_since(arguments)];
    let about = [vec![String::new()], facts.about(), since].concat().join(" · ");
    let portal = portal(&facts.identity, facts.identity.id.as_deref());
    Text::default().bold_link(facts.cluster_name(), portal.as_deref()).plain(about)
}

fn table(arguments: &StatusArguments, facts: &ClusterFacts, pools: &[Pool]) -> Table {
    use mooring_nodes::{PoolKind, PoolState};
    let mut table = Table::new([
        Column::left("POOL").truncated(8),
        Column::left("KIND").extra().rank(4),
        Column::right("NODES READY"),
        Column::right("JOINING").rank(1),
        Column::right("FAILED"),
        Column::left("NEWEST IMAGE").rank(2),
        Column::right("USUAL JOIN").extra().rank(3),
        Column::left("LAST FAILURE (UTC)").extra().rank(5),
        Column::left("STATE"),
    ]);
    let portal = pools_portal(&facts.identity);
    for pool in pools {
        let all = pool.wanted.map_or(pool.nodes, |wanted| pool.nodes.max_with(wanted));
        let ready = if pool.ready == all {
            pool.ready.to_string()
        } else {
            format!("{}/{all}", pool.ready)
        };
        let last = pool.last_failure_at.map(|at| clock(at, facts.now));
        let mark = match pool.state {
            PoolState::Healthy => Mark::Good,
            PoolState::NotChecked => Mark::None,
            PoolState::NotReady | PoolState::Unknown => Mark::Warning,
            PoolState::ImageFails | PoolState::Failing | PoolState::Degraded | PoolState::Late => {
                Mark::Bad
            }
        };
        let portal = portal.as_deref().filter(|_| pool.kind == PoolKind::AksPool);
        table.row([
            Text::default().bold_link(&pool.name, portal),
            Text::new(pool.kind.as_str()),
            Text::new(ready),
            Text::new(pool.joining.to_string()),
            Text::new(pool.failed.to_string()),
            Text::new(pool.new_image.as_deref().map_or("–", image::version)),
            Text::new(pool.seconds_to_join.map_or_else(|| "–".to_owned(), short_duration)),
            Text::new(last.unwrap_or_else(|| "–".to_owned())),
            Text::marked(mark, pool.state.as_str()),
        ]);
    }
    let table = if arguments.read.no_headers { table.without_heads() } else { table };
    table.wide(arguments.output == AnswerFormat::Wide)
}

fn controller(facts: &ClusterFacts) -> Text {
    let state = &facts.controller;
    let version = state.version.as_ref().map_or_else(String::new, |version| format!("{version}, "));
    let leader = state.leader.as_deref().unwrap_or("unknown");
    match state.state {
        "running" => Text::marked(Mark::Good, format!("{version}{leader} leads")),
        "late" => Text::marked(Mark::Bad, format!("{version}{leader} does not renew its Lease")),
        "not-running" => {
            let namespace = &state.namespace;
            Text::marked(Mark::None, format!("not running (no Lease held in {namespace})"))
        }
        _ => {
            let why = state.error.as_deref().unwrap_or("no permission");
            Text::marked(Mark::None, format!("unknown: {why}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use mooring_nodes::JoinState;
    use mooring_workflow::Reading;

    use super::*;
    use crate::fixtures::{facts, node, piped, read_arguments};

    fn shown(facts: &ClusterFacts) -> String {
        let arguments = StatusArguments {
            read: read_arguments(&[]),
            watch: false,
            output: AnswerFormat::Table,
        };
        piped(&screen(&arguments, facts, &status_of(facts, &arguments.read)))
    }

    type Change<'a> = &'a dyn Fn(&mut ClusterFacts);

    #[test]
    fn absence_of_problems_requires_all_sources() {
        let healthy = facts([node("a", JoinState::Ready), node("b", JoinState::Joining)]);
        let text = shown(&healthy);
        assert!(text.contains("\n✓ No problem found in 1 node.\n"), "{text}");
        assert!(text.contains("✓ healthy\n"), "{text}");
        let denied = || Reading::Denied("x".to_owned());
        let cases: [(Change<'_>, &str, &str, &str); 5] = [
            (
                &|facts| facts.inventory.reads.claims = denied(),
                "NodeClaims were not read, so joining and failed nodes are not known.",
                "default            1       1+       ?",
                "! unknown",
            ),
            (
                &|facts| facts.inventory.reads.nodes = denied(),
                "Nodes were not read, so it is not known which are ready.",
                "default           1+        1       ?",
                "! unknown",
            ),
            (
                &|facts| facts.inventory.reads.record = denied(),
                "The failure record was not read, so failures of deleted nodes are not known.",
                "default            1        1       ?",
                "! unknown",
            ),
            (
                &|facts| facts.inventory.set_azure("uid-b", denied()),
                "Azure was not read, so joining nodes may have failed.",
                "default            1        1       ?",
                "! unknown",
            ),
            (
                &|facts| facts.inventory.reads.runs = denied(),
                "Repairs were not read, so stopped ones are not known.",
                "default            1        1       0",
                "✓ healthy",
            ),
        ];
        for (deny, sentence, counts, state) in cases {
            let mut facts = healthy.clone();
            deny(&mut facts);
            let text = shown(&facts);
            assert!(text.contains(&format!("\n! {sentence}\n")), "{text}");
            assert!(text.contains(&format!("{state}\n")) && !text.contains("No problem"), "{text}");
            assert!(text.contains(counts), "{text}");
            let status = status_of(&facts, &read_arguments(&[]));
            let code = if state == "! unknown" { 1 } else { 3 };
            assert_eq!(facts.exit_code(status.is_wrong()), code, "{sentence}");
        }
        let mut unasked = healthy.clone();
        unasked.inventory.set_azure("uid-b", Reading::NotAsked);
        let text = shown(&unasked);
        let expected = "\n– No problem found in 1 node. 1 node is joining, and Azure was not asked about them.\n";
        assert!(text.contains(expected) && text.contains("– not checked\n"), "{text}");
        let status = status_of(&unasked, &read_arguments(&[]));
        assert_eq!(unasked.exit_code(status.is_wrong()), 0, "what was not asked for is no error");
        for (state, sentence) in [
            (
                "not-running",
                "No controller is running: failures of deleted nodes are not recorded.",
            ),
            ("unknown", "The state of the controller was not read: failures may not be recorded."),
        ] {
            let mut facts = healthy.clone();
            (facts.has_karpenter, facts.controller.state) = (false, state);
            let text = shown(&facts);
            assert!(text.contains(&format!("\n! {sentence}\n")), "{text}");
            assert!(!text.contains("No problem") && !text.contains("mooring doctor"), "{text}");
        }
    }

    #[test]
    fn state_of_the_controller_has_its_reason() {
        let mut facts = facts([]);
        facts.controller.version = Some("0.2.0".to_owned());
        for (state, expected) in [
            ("running", "✓ 0.2.0, mooring-1 leads"),
            ("late", "✗ 0.2.0, mooring-1 does not renew its Lease"),
            ("not-running", "– not running (no Lease held in mooring-system)"),
            ("unknown", "– unknown: no permission"),
        ] {
            facts.controller.state = state;
            let mut screen = Screen::default();
            screen.line(controller(&facts));
            assert_eq!(piped(&screen).trim(), expected);
        }
    }
}
