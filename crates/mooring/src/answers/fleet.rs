//! `mooring fleet`: images and causes.

use std::fmt::Write as _;
use std::process::ExitCode;

use mooring_nodes::claim::image;
use mooring_nodes::status::{ClusterStatus, FLEET_SCHEMA, FleetContent, ImageFinding};
use mooring_nodes::{ClusterFacts, Fleet, FleetRow, FleetVerdict, Inventory, Node, percent};
use mooring_redact::markdown as escape;
use mooring_terminal::{Column, Mark, Screen, Table, Text};
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

use super::common::ensure_known;
use super::common::{
    add_advice, add_mitigations, add_sources, advice_markdown, caveat, clock, filter, markdown_end,
    mitigations_markdown, names, print_warnings, short_since,
};
use crate::answers::arguments::FleetArguments;
use crate::cluster::read;
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, print_document, print_screen, show};
use crate::process::build_runtime;

/// Exits with 1 if something is wrong, and with 3 if a source could not be read.
pub(crate) fn fleet(arguments: &FleetArguments) -> Result<ExitCode, CommandFailure> {
    let facts = build_runtime()?.block_on(read(&arguments.read.sources))?.facts;
    ensure_known(&arguments.read, &facts, "fleet")?;
    let filter = filter(&arguments.read, &facts);
    let inventory = facts.inventory.filtered(&filter);
    let fleet = Fleet::of(&inventory, filter.since);
    let findings = ImageFinding::all(&facts, &inventory, &fleet);
    let status = ClusterStatus::of(&facts, &filter, &inventory, &fleet);
    print_warnings(&facts);
    match arguments.output {
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let content = FleetContent::new(&facts, &fleet, &findings);
            let document = facts.document(FLEET_SCHEMA, content);
            print_document(&document, arguments.output == AnswerFormat::Yaml)?;
        }
        AnswerFormat::Markdown => {
            let problems = status.problems().map(|text| format!("**{}**\n\n", escape(text)));
            let text = problems.collect::<String>() + &markdown(&facts, &fleet, &findings);
            show::print(text.as_bytes())?;
        }
        AnswerFormat::Name => {
            let failed = |node: &&Node| node.is_failed();
            show::print(names(inventory.nodes.iter().filter(failed)).as_bytes())?;
        }
        AnswerFormat::Table | AnswerFormat::Wide => {
            let mut all = Screen::default();
            for problem in status.problems() {
                all.sentence(Mark::Bad, problem);
            }
            all.append(screen(arguments, &facts, &inventory, &fleet, &findings));
            print_screen(&all)?;
        }
    }
    Ok(ExitCode::from(facts.exit_code(status.is_wrong() && !arguments.read.exit_zero)))
}

fn screen(
    arguments: &FleetArguments,
    facts: &ClusterFacts,
    inventory: &Inventory,
    fleet: &Fleet,
    findings: &[ImageFinding],
) -> Screen {
    let mut screen = Screen::default();
    // They stop Karpenter, so they come first.
    for node in &facts.lost {
        screen.sentence(Mark::Bad, node.finding());
    }
    let name = facts.cluster_name();
    let since = short_since(&arguments.read);
    let existing = if fleet.failed.is_some() {
        format!(" ({} still exist)", fleet.failed_existing)
    } else {
        String::new()
    };
    screen.prose(
        0,
        Text::default().bold(&name).plain(format!(
            " · {since} · nodes: {} ready, {} joining, {} failed{existing}",
            fleet.ready, fleet.joining, fleet.failed
        )),
    );
    if fleet.rows.is_empty() {
        add_nothing(&mut screen, facts, inventory, fleet);
    } else {
        let mut table = Table::new([
            Column::left("IMAGE"),
            Column::left("CAUSE"),
            Column::right("NODES FAILED"),
            Column::right("RATE, 95 %").rank(1),
            Column::right("OTHERS").rank(2),
            Column::left("POOLS").truncated(8).extra().rank(5),
            Column::left("FIRST (UTC)").extra().rank(4),
            Column::left("LAST (UTC)").extra().rank(3),
            Column::left("VERDICT"),
        ]);
        for row in &fleet.rows {
            table.row(cells(row, facts));
        }
        let table = if arguments.read.no_headers { table.without_heads() } else { table };
        screen.table(table.wide(arguments.output == AnswerFormat::Wide));
    }
    if fleet.unconfirmed.is_some() {
        let text = format!("{} more failures are reported by events only", fleet.unconfirmed);
        screen.sentence(Mark::None, text);
    }
    for finding in findings {
        screen.blank();
        screen.sentence(Mark::Bad, &finding.message);
        add_advice(&mut screen, 2, &finding.actions);
    }
    let mitigations = facts.karpenter.mitigations(None);
    if !mitigations.is_empty() {
        screen.blank();
        add_mitigations(&mut screen, &mitigations);
    }
    let pools: Vec<String> = fleet
        .findings()
        .flat_map(|row| row.pools.iter())
        .map(|pool| format!("mooring why {}", mooring_redact::shell_word(pool)))
        .collect();
    let next = pools.iter().take(3).map(|command| (command.as_str(), "failed nodes of the pool"));
    screen.commands("Next", next);
    if facts.record.is_none() {
        let next = ("mooring doctor controller", "what a failure record needs");
        screen.commands("Next", pools.is_empty().then_some(next));
    }
    add_sources(&mut screen, facts);
    screen
}

/// "None" is true only for what was read.
fn add_nothing(screen: &mut Screen, facts: &ClusterFacts, inventory: &Inventory, fleet: &Fleet) {
    let exist = inventory.nodes.iter().filter(|node| node.exists).count();
    let text = if fleet.failed_existing.is_none() {
        format!("No failures among the {} that exist now.", counted(exist, "node"))
    } else if fleet.failed.is_some() {
        return;
    } else {
        "It is not known if nodes failed.".to_owned()
    };
    match caveat(facts, inventory, None) {
        Some(caveat) => screen.sentence(Mark::Warning, format!("{text} {caveat}")),
        None => screen.sentence(Mark::Good, text + " None are recorded."),
    }
}

fn cells(row: &FleetRow, facts: &ClusterFacts) -> [Text; 9] {
    let here = row.here;
    let (mark, verdict) = verdict(row.verdict);
    let time = |at: Option<jiff::Timestamp>| at.map_or_else(String::new, |at| clock(at, facts.now));
    [
        Text::new(image::version(&row.image)),
        Text::new(&row.cause),
        Text::new(format!("{}/{}", here.failed, here.nodes)),
        Text::new(format!("{}–{}", percent(here.low), percent(here.high))),
        Text::new(format!("{}/{}", row.others.failed, row.others.nodes)),
        Text::new(row.pools.join(",")),
        Text::new(time(row.first_at)),
        Text::new(time(row.last_at)),
        Text::marked(mark, verdict),
    ]
}

fn verdict(verdict: FleetVerdict) -> (Mark, &'static str) {
    match verdict {
        FleetVerdict::Image => (Mark::Bad, "the image"),
        FleetVerdict::NotTheImage => (Mark::None, "not the image"),
        FleetVerdict::TooFewNodes => (Mark::None, "too few nodes"),
    }
}

fn markdown(facts: &ClusterFacts, fleet: &Fleet, findings: &[ImageFinding]) -> String {
    let mut text = String::new();
    for node in &facts.lost {
        let _ = writeln!(text, "**{}**\n", escape(&node.finding()));
    }
    let _ = write!(
        text,
        "**{}**, nodes: {} ready, {} joining, {} failed\n\n| image | cause | nodes failed | rate, 95 % | other images | pools | verdict |\n|---|---|---|---|---|---|---|\n",
        escape(&facts.cluster_name()),
        fleet.ready,
        fleet.joining,
        fleet.failed
    );
    for row in &fleet.rows {
        let _ = writeln!(
            text,
            "| {} | {} | {}/{} | {}–{} | {}/{} | {} | {} |",
            escape(&row.image),
            escape(&row.cause),
            row.here.failed,
            row.here.nodes,
            percent(row.here.low),
            percent(row.here.high),
            row.others.failed,
            row.others.nodes,
            escape(&row.pools.join(", ")),
            verdict(row.verdict).1
        );
    }
    text.push_str(markdown_end(facts));
    if facts.inventory.reads.record == Reading::NotFound {
        text.push_str("\nThis cluster has no failure record.\n");
    }
    for finding in findings {
        let _ = writeln!(text, "\n**{}**\n", escape(&finding.message));
        for action in &finding.actions {
            let _ = writeln!(text, "- {}", advice_markdown(action));
        }
    }
    text + &mitigations_markdown(&facts.karpenter.mitigations(None))
}

#[cfg(test)]
mod tests {
    use mooring_nodes::JoinState;

    use super::*;
    use crate::fixtures::{facts, failed_node, node, piped, read_arguments};

    fn shown(facts: &ClusterFacts) -> String {
        let arguments = FleetArguments {
            read: read_arguments(&["--since", "90m"]),
            output: AnswerFormat::Table,
        };
        let fleet = Fleet::of(&facts.inventory, None);
        piped(&screen(
            &arguments,
            facts,
            &facts.inventory,
            &fleet,
            &ImageFinding::all(facts, &facts.inventory, &fleet),
        ))
    }

    #[test]
    fn cluster_without_failures_counts_all_nodes() {
        let states = [JoinState::Ready, JoinState::Ready, JoinState::NotReady, JoinState::Joining];
        let nodes = states.into_iter().enumerate();
        let mut facts = facts(nodes.map(|(at, state)| node(&format!("n{at}"), state)));
        let expected = "demo · last 1h30m · nodes: 2 ready, 1 joining, 0 failed\n✓ No failures among the 4 nodes that exist now. None are recorded.\nRead ";
        assert!(shown(&facts).starts_with(expected), "{}", shown(&facts));
        (facts.record, facts.inventory.reads.record) = (None, Reading::NotFound);
        let text = shown(&facts);
        assert!(text.contains("\n! No failures among the 4 nodes that exist now. This "), "{text}");
        assert!(text.contains("\nNext        mooring doctor controller   "), "{text}");
    }

    #[test]
    fn failures_that_only_events_report_are_counted() {
        let mut nodes = vec![failed_node("a", "X"), failed_node("b", "X"), failed_node("c", "X")];
        for node in &mut nodes[..2] {
            node.failure.as_mut().unwrap().is_confirmed = false;
        }
        nodes[1].exists = false;
        let text = shown(&facts(nodes));
        assert!(text.contains("0 joining, 3 failed (2 still exist)\n"), "{text}");
        assert!(text.contains("\n– 2 more failures are reported by events only\n"), "{text}");
        assert!(
            text.contains("X               1/1      21–100     0/0  – too few nodes\n"),
            "{text}"
        );
        assert!(!shown(&facts([failed_node("a", "X")])).contains("events only"));
    }

    #[test]
    fn time_range_is_in_its_largest_unit() {
        for (seconds, expected) in [
            (90, "1m30s"),
            (3600, "1h"),
            (5400, "1h30m"),
            (86_400, "24h"),
            (169_200, "47h"),
            (172_800, "2d"),
            (604_800, "7d"),
        ] {
            let arguments = read_arguments(&["--since", &format!("{seconds}s")]);
            assert_eq!(short_since(&arguments), format!("last {expected}"));
        }
    }

    #[test]
    fn small_percentages_have_a_decimal() {
        for (value, expected) in
            [(0.0, "0"), (0.04, "0.0"), (9.94, "9.9"), (10.0, "10"), (56.6, "57"), (100.0, "100")]
        {
            assert_eq!(percent(value), expected);
        }
    }
}
