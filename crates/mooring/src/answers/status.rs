//! `mooring status`: the cluster on one screen.

use std::process::ExitCode;

use mooring_inventory::{Fleet, Inventory, Pool, groups, pools};
use mooring_terminal::{Column, Mark, Screen, Table, Text};
use mooring_workflow::published::Next;
use serde::Serialize;

use super::common::{
    add_sources, clock, document, filter, print_warnings, short_duration, short_image,
};
use super::fleet::image_fails;
use crate::cluster::{ControllerState, Facts, read};
use crate::cluster_args::{ReadArguments, StatusArguments};
use crate::failure::Failure;
use crate::output::{AnswerFormat, print_document, print_screen};
use crate::runs::{Frame, Row, build_runtime};
use crate::show;

const SCHEMA: &str = "mooring.status/v1";

/// Something that is wrong, or that deserves attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    /// `node-without-provider-id`, `image-fails`, `nodes-fail`, `controller-missing` or `controller-late`.
    kind: &'static str,
    /// `error` or `warning`.
    severity: &'static str,
    message: String,
}

impl Finding {
    fn mark(&self) -> Mark {
        if self.severity == "error" { Mark::Bad } else { Mark::Warning }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    findings: Vec<Finding>,
    pools: Vec<Pool>,
    controller: &'a ControllerState,
    next: Vec<Next>,
}

impl<'a> Status<'a> {
    fn new(facts: &'a Facts, arguments: &ReadArguments) -> Self {
        let filter = filter(arguments, facts);
        let inventory = facts.inventory.filtered(&filter);
        let fleet = Fleet::of(&inventory, filter.since);
        Self {
            findings: findings(facts, &inventory, &fleet),
            pools: pools(&inventory, &fleet),
            controller: &facts.controller,
            next: next(&inventory, facts),
        }
    }

    fn is_wrong(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == "error")
    }
}

/// Exits with 1 if something is wrong.
pub(crate) fn status(arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    if arguments.watch {
        return super::status_watch::watch_status(arguments);
    }
    let facts = build_runtime()?.block_on(read(&arguments.read))?;
    let status = Status::new(&facts, &arguments.read);
    print_warnings(&facts);
    match arguments.output {
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let is_yaml = arguments.output == AnswerFormat::Yaml;
            print_document(&document(SCHEMA, &facts, &status), is_yaml)?;
        }
        AnswerFormat::Name => {
            let names: Vec<&str> = status.pools.iter().map(|pool| pool.name.as_str()).collect();
            show::print_names(names)?;
        }
        AnswerFormat::Markdown => {
            let screen = screen(arguments, &facts, &status);
            let text = screen.render(&mooring_terminal::Style::PIPE);
            show::print(format!("```text\n{text}```\n").as_bytes())?;
        }
        AnswerFormat::Table | AnswerFormat::Wide => {
            print_screen(&screen(arguments, &facts, &status))?;
        }
    }
    Ok(ExitCode::from(u8::from(status.is_wrong() && !arguments.read.exit_zero)))
}

/// Returns a frame of `--watch`, and true if something is wrong.
pub(super) fn frame(arguments: &StatusArguments, facts: &Facts) -> Result<(Frame, bool), Failure> {
    let status = Status::new(facts, &arguments.read);
    let line = document(SCHEMA, facts, &status).line()?;
    let mut rows = Vec::new();
    for finding in &status.findings {
        let mut screen = Screen::default();
        screen.sentence(finding.mark(), &finding.message);
        let (key, state) = (finding.message.clone(), String::new());
        rows.push(Row { key, state, plain: screen, with_heads: None });
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
        rows.push(Row { key, state, plain: row(false), with_heads: Some(row(true)) });
    }
    let screen = screen(arguments, facts, &status);
    Ok((Frame { screen, line, rows }, status.is_wrong()))
}

fn findings(facts: &Facts, inventory: &Inventory, fleet: &Fleet) -> Vec<Finding> {
    let mut found: Vec<Finding> = fleet
        .findings()
        .map(|row| Finding { kind: "image-fails", severity: "error", message: image_fails(row) })
        .collect();
    let lost = facts.lost.iter().map(|node| Finding {
        kind: "node-without-provider-id",
        severity: "error",
        message: node.finding(),
    });
    found.splice(..0, lost);
    let blamed: Vec<(&str, &str)> =
        fleet.findings().map(|row| (row.image.as_str(), row.cause.as_str())).collect();
    for group in groups(inventory) {
        let key = (group.image.as_deref().unwrap_or_default(), group.cause.as_str());
        if blamed.contains(&key) || !group.is_confirmed {
            continue;
        }
        let pool = group.pool.as_deref().unwrap_or("no pool");
        let plural = if group.failed == 1 { "node" } else { "nodes" };
        found.push(Finding {
            kind: "nodes-fail",
            severity: "error",
            message: format!("{} {plural} of pool {pool} failed: {}.", group.failed, group.cause),
        });
    }
    let controller = &facts.controller;
    match controller.state {
        "not-running" if facts.has_karpenter => found.push(Finding {
            kind: "controller-missing",
            severity: "warning",
            message: "No controller is running: failures of deleted nodes are not recorded."
                .to_owned(),
        }),
        "late" => found.push(Finding {
            kind: "controller-late",
            severity: "warning",
            message: format!(
                "The controller did not renew its Lease since {}.",
                controller
                    .renewed_at
                    .map_or_else(|| "an unknown time".to_owned(), |at| at.to_string())
            ),
        }),
        _ => {}
    }
    found
}

fn next(inventory: &Inventory, facts: &Facts) -> Vec<Next> {
    let mut next = Vec::new();
    let mut pools: Vec<String> =
        groups(inventory).into_iter().filter_map(|group| group.pool).collect();
    pools.dedup();
    for pool in pools.iter().take(2) {
        let command = format!("mooring why {}", mooring_redact::shell_word(pool));
        next.push(Next::new(command, "failed nodes of the pool"));
    }
    if !pools.is_empty() {
        next.push(Next::new("mooring fleet", "failures by image and cause"));
    }
    if facts.has_karpenter && facts.controller.state == "not-running" {
        next.push(Next::new("helm install mooring charts/mooring", "record failures"));
    }
    next
}

fn screen(arguments: &StatusArguments, facts: &Facts, status: &Status) -> Screen {
    let mut screen = Screen::default();
    screen.ends(heading(facts), Text::new(format!("{} UTC", clock(facts.now, facts.now))));
    screen.blank();
    for finding in &status.findings {
        screen.sentence(finding.mark(), &finding.message);
    }
    if status.findings.is_empty() {
        let nodes: usize = status.pools.iter().map(|pool| pool.nodes).sum();
        screen.sentence(Mark::Good, format!("No problem found in {nodes} nodes."));
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

fn heading(facts: &Facts) -> Text {
    let mut parts = vec![String::new()];
    parts.extend(facts.region.clone());
    let version = facts.version.as_deref();
    parts.extend(version.map(|text| format!("Kubernetes {}", text.trim_start_matches('v'))));
    parts.extend(facts.identity.context.as_ref().map(|context| format!("context {context}")));
    Text::default().bold(facts.cluster_name()).plain(parts.join(" · "))
}

fn table(arguments: &StatusArguments, facts: &Facts, pools: &[Pool]) -> Table {
    use mooring_inventory::PoolState;
    let mut table = Table::new([
        Column::left("POOL").truncated(8),
        Column::left("KIND").extra().rank(4),
        Column::right("READY"),
        Column::right("JOINING").rank(1),
        Column::right("FAILED"),
        Column::left("NEWEST IMAGE").rank(2),
        Column::right("USUAL JOIN").extra().rank(3),
        Column::left("LAST FAILURE").extra().rank(5),
        Column::left("STATE"),
    ]);
    for pool in pools {
        let ready = if pool.ready == pool.nodes {
            pool.ready.to_string()
        } else {
            format!("{}/{}", pool.ready, pool.nodes)
        };
        let last = pool.last_failure_at.map(|at| clock(at, facts.now));
        let mark = match pool.state {
            PoolState::Healthy => Mark::Good,
            PoolState::NotReady => Mark::Warning,
            PoolState::ImageFails | PoolState::Failing => Mark::Bad,
        };
        table.row([
            Text::default().bold(&pool.name),
            Text::new(pool.kind.as_str()),
            Text::new(ready),
            Text::new(pool.joining.to_string()),
            Text::new(pool.failed.to_string()),
            Text::new(pool.new_image.as_deref().map_or("–", short_image)),
            Text::new(pool.seconds_to_join.map_or_else(|| "–".to_owned(), short_duration)),
            Text::new(last.unwrap_or_else(|| "–".to_owned())),
            Text::marked(mark, pool.state.as_str()),
        ]);
    }
    let table = if arguments.read.no_headers { table.without_heads() } else { table };
    table.wide(arguments.output == AnswerFormat::Wide)
}

fn controller(facts: &Facts) -> Text {
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
