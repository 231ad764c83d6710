//! Parts that the screens share.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use mooring_diagnosis::{cause_pages, find_codes};
use mooring_nodes::claim::image;
use mooring_nodes::record::counts;
use mooring_nodes::verdict::registration::RegistrationCause;
use mooring_nodes::{Advice, ClusterFacts, Filter, Inventory, Mitigation, Node, PoolKind};
use mooring_redact::{identifier, is_plain_word, markdown, markdown_code};
use mooring_terminal::{Mark, Screen, Text, suggest};
use mooring_workflow::Reading;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName, SourceState};

use crate::answers::arguments::ReadArguments;
use crate::arguments::with_kind;
use crate::output::failure::CommandFailure;
use crate::output::show;

/// Returns the filter of the flags. With counts, it begins with a half hour.
pub(super) fn filter(arguments: &ReadArguments, facts: &ClusterFacts) -> Filter {
    let since = SignedDuration::try_from(arguments.since).ok();
    let since = since.and_then(|since| facts.now.checked_sub(since).ok());
    Filter {
        since: since.map(|at| facts.filter_start(at)),
        pool: arguments.pool.clone(),
        image: arguments.image.clone(),
        cause: arguments.cause.clone(),
    }
}

pub(crate) fn print_warnings(facts: &ClusterFacts) {
    for warning in &facts.warnings {
        show::print_warning(warning);
    }
    // The exit code shows it, and not every format has a place for it.
    let unread = if facts.warnings.is_empty() { facts.unread() } else { Vec::new() };
    for text in unread {
        show::print_warning(text);
    }
}

/// Returns the nodes that exist, as kubectl takes them.
pub(super) fn names<'a>(nodes: impl Iterator<Item = &'a Node>) -> String {
    let name = |node: &Node| with_kind(node.node_claim.as_deref(), node.node.as_deref());
    let names = nodes.filter(|node| node.exists).filter_map(name);
    names.map(|name| name + "\n").collect()
}

/// Returns what limits "no failures" of some nodes, which is true only for what was read. `kind` is that of their pool.
pub(crate) fn caveat(
    facts: &ClusterFacts,
    inventory: &Inventory,
    kind: Option<PoolKind>,
) -> Option<String> {
    let mut texts = facts.unasked_of(inventory, kind);
    texts.extend(facts.unread_of(inventory, kind).into_iter().map(str::to_owned));
    let record = &inventory.reads.record;
    // It has only NodeClaims.
    let is_recorded = kind != Some(PoolKind::AksPool);
    if is_recorded && *record == Reading::NotFound {
        let text =
            "This cluster has no failure record, so failures of deleted nodes are not known.";
        texts.push(text.to_owned());
    } else if is_recorded && record.is_known() && !facts.controller.is_running() {
        let text = "The controller is not running, so recent failures may not be recorded.";
        texts.push(text.to_owned());
    }
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// Returns the error about a name that was not found. Unless it is a typo, one of these sources may have it.
pub(super) fn not_found(
    text: &str,
    hint: &str,
    is_typo: bool,
    facts: &ClusterFacts,
    sources: &[SourceName],
) -> CommandFailure {
    let is_failed = |source: &&Source| {
        source.state == SourceState::Failed && sources.contains(&source.name) && !is_typo
    };
    let failed = facts.sources.iter().find(is_failed);
    match failed.and_then(|source| Some((source.name, source.error.as_ref()?))) {
        Some((name, error)) => {
            let prefix = match name {
                SourceName::Azure => "Azure was not read: ",
                SourceName::Record => "the failure record was not read: ",
                SourceName::Cluster | SourceName::Controller | SourceName::Karpenter => "",
            };
            CommandFailure::io(format!("{text}; {prefix}{error}\n{hint}"))
        }
        None => CommandFailure::unknown_name(format!("{text}\n{hint}")),
    }
}

/// Returns true if the time of day is enough: it is of the same day or of the last hours.
fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    let day = |at: Timestamp| at.strftime("%F").to_string();
    let hours = SignedDuration::from_hours(12);
    day(at) == day(now) || (at <= now && now.duration_since(at) < hours)
}

/// Returns `09:13`, or the date if it is not recent.
pub(super) fn clock(at: Timestamp, now: Timestamp) -> String {
    at.strftime(if is_recent(at, now) { "%H:%M" } else { "%F" }).to_string()
}

/// Returns `09:13 UTC`, with the date if it is not recent.
pub(crate) fn moment(at: Timestamp, now: Timestamp) -> String {
    at.strftime(if is_recent(at, now) { "%H:%M UTC" } else { "%F %H:%M UTC" }).to_string()
}

/// Returns `09:13:04 UTC`, with the date if it is not recent.
pub(super) fn seconds_clock(at: Timestamp, now: Timestamp) -> String {
    at.strftime(if is_recent(at, now) { "%H:%M:%S UTC" } else { "%F %H:%M:%S UTC" }).to_string()
}

/// Returns `1m12s`.
pub(super) fn short_duration(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns the time whose failures are counted, `last 24h`.
pub(super) fn short_since(arguments: &ReadArguments) -> String {
    let seconds = i64::try_from(arguments.since.as_secs()).unwrap_or(i64::MAX);
    let time = match seconds {
        86_400 => "24h".to_owned(),
        seconds if seconds % 3600 == 0 && seconds < 172_800 => format!("{}h", seconds / 3600),
        seconds => short_duration(seconds),
    };
    format!("last {time}")
}

/// Returns the page of a resource in the portal of the public cloud; other clouds have other portals.
pub(super) fn portal(identity: &ClusterIdentity, id: Option<&str>) -> Option<String> {
    let server = identity.server.as_deref()?;
    let host = server.strip_prefix("https://")?.split([':', '/']).next()?;
    let id = id.filter(|_| host.ends_with(".azmk8s.io"))?;
    Some(format!("https://portal.azure.com/#resource{id}"))
}

/// Returns the page of a cluster's node pools in the portal.
pub(super) fn pools_portal(identity: &ClusterIdentity) -> Option<String> {
    let pools = identity.id.as_ref().map(|id| format!("{id}/nodePools"));
    portal(identity, pools.as_deref())
}

/// Adds next steps. Their commands have their own lines, which are never wrapped.
pub(crate) fn add_advice<'a>(
    screen: &mut Screen,
    indent: usize,
    steps: impl IntoIterator<Item = &'a Advice>,
) {
    const LABEL: usize = 10;
    let command = |label: &str, command: &str| {
        Text::new(format!("{:indent$}{label:<LABEL$}", "")).plain(command)
    };
    for (at, step) in steps.into_iter().enumerate() {
        let label = if at == 0 { "do first" } else { "then" };
        screen.labeled(indent, LABEL, label, [Text::new(&step.text)]);
        if let Some(text) = &step.command {
            screen.line(command("", text));
        }
        if let Some(text) = &step.undo {
            screen.line(command("undo", text));
        }
    }
}

/// Returns a next step in Markdown.
pub(crate) fn advice_markdown(step: &Advice) -> String {
    let code = |label: &str, command: &Option<String>| {
        let code = command.as_deref().map(markdown_code);
        code.map_or_else(String::new, |code| format!("{label}{code}"))
    };
    markdown(&step.text) + &code(" ", &step.command) + &code("; undo: ", &step.undo)
}

/// Returns the mitigations that are in effect in Markdown.
pub(crate) fn mitigations_markdown(mitigations: &[Mitigation]) -> String {
    let line = |one: &Mitigation| {
        format!("- **{}** Undo: {}\n", markdown(&one.message), markdown_code(&one.undo))
    };
    mitigations.iter().map(line).collect()
}

/// Adds the mitigations that are in effect, with the commands that end them.
pub(crate) fn add_mitigations(screen: &mut Screen, mitigations: &[Mitigation]) {
    for mitigation in mitigations {
        screen.sentence(Mark::Warning, &mitigation.message);
        screen.line(Text::new(format!("  {:<10}{}", "undo", mitigation.undo)));
    }
}

/// Returns the end of a text in Markdown, which does not list the sources.
pub(super) fn markdown_end(facts: &ClusterFacts) -> &'static str {
    if facts.has_karpenter { "" } else { "\nKarpenter is not installed.\n" }
}

/// Adds the line that names every source with its age.
pub(super) fn add_sources(screen: &mut Screen, facts: &ClusterFacts) {
    let sources: Vec<String> = facts.sources.iter().map(|one| source(one, facts)).collect();
    screen.label("Read", [Text::new(sources.join("; "))]);
}

fn source(source: &Source, facts: &ClusterFacts) -> String {
    let name = source.name.as_str();
    let age = source.at.map(|at| facts.now.duration_since(at).as_secs().max(0));
    match (source.state, source.name) {
        (SourceState::Read, SourceName::Record) => {
            let namespace = &facts.controller.namespace;
            let age = age.map_or_else(String::new, |age| format!(", {} old", short_duration(age)));
            format!("{name} of {namespace}{age}")
        }
        (SourceState::Read, _) => {
            let seconds = source.seconds.unwrap_or_default();
            format!("{name} in {seconds:.1}s")
        }
        (SourceState::Stale, _) => match age {
            Some(age) => format!("{name}, not updated for {}", short_duration(age)),
            None if facts.controller.is_unknown() => format!("{name}, perhaps not current"),
            None => format!("{name}, not updated: no controller is running"),
        },
        (SourceState::Absent, SourceName::Karpenter) => format!("{name} is not installed"),
        (SourceState::Absent, _) => format!("{name}: none"),
        (SourceState::NotAsked, _) => format!("{name} not asked"),
        (SourceState::Failed, _) => format!("{name} failed"),
    }
}

/// Ensures that the pool, the image and the cause of the flags exist. `command` is that of the hint.
pub(super) fn ensure_known(
    arguments: &ReadArguments,
    facts: &ClusterFacts,
    command: &str,
) -> Result<(), CommandFailure> {
    let known = Known::of(facts);
    let ensure = |kind: &str, name: Option<&String>, names: &BTreeSet<String>, list: &str| {
        let Some(name) = name else { return Ok(()) };
        if names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        let text = format!("{kind} `{}` not found in {}", identifier(name), facts.cluster_name());
        let names = names.iter().map(String::as_str).filter(|name| is_plain_word(name));
        let typo = suggest::hint(name, names, &format!("mooring {command} --{kind}"));
        let is_typo = typo.is_some();
        let hint = typo.unwrap_or_else(|| format!("hint: {list}"));
        let sources = [SourceName::Cluster, SourceName::Record];
        Err(not_found(&text, &hint, is_typo, facts, &sources))
    };
    ensure("pool", arguments.pool.as_ref(), &known.pools, "`mooring status` lists pools")?;
    let fleet = "`mooring fleet --since 7d` lists images and causes";
    ensure("image", arguments.image.as_ref(), &known.images, fleet)?;
    // Exit codes without a page have a cause as well.
    let cause = arguments.cause.as_ref().filter(|cause| find_codes(cause).is_empty());
    ensure("cause", cause, &known.causes, fleet)
}

/// Names of the cluster, of the record and of the diagnosis.
#[derive(Default)]
struct Known {
    pools: BTreeSet<String>,
    images: BTreeSet<String>,
    causes: BTreeSet<String>,
}

impl Known {
    fn of(facts: &ClusterFacts) -> Self {
        let mut known = Self::default();
        known.pools.extend(facts.karpenter.pool_names().map(str::to_owned));
        known.causes.extend(cause_pages().iter().map(|page| page.reason.to_owned()));
        known.causes.extend(mooring_catalog::rows().iter().map(|row| row.name.to_owned()));
        known.causes.extend(RegistrationCause::ALL.map(|cause| cause.as_str().to_owned()));
        for node in &facts.inventory.nodes {
            known.pools.extend(node.pool.as_deref().map(str::to_owned));
            known.add_image(node.image.as_deref());
            known.causes.extend(node.failure.iter().map(|failure| failure.cause.clone()));
        }
        let counts = facts.inventory.counts.iter();
        for total in counts.flat_map(|counts| counts.totals(counts::Filter::default())) {
            known.add_image(Some(&total.image));
            known.causes.extend(total.failed.into_keys());
            known.pools.insert(total.pool);
        }
        known
    }

    fn add_image(&mut self, name: Option<&str>) {
        self.images.extend(name.map(str::to_owned));
        self.images.extend(name.map(|name| image::version(name).to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mooring_nodes::JoinState;

    use super::*;
    use crate::fixtures::{at, facts, failed_node, node, now, read_arguments};

    #[test]
    fn flags_are_the_filter_of_nodes() {
        let words = ["--since", "1h", "--pool", "p", "--image", "i", "--cause", "c"];
        let some = |text: &str| Some(text.to_owned());
        let expected = Filter {
            since: Some(at("2026-11-17T08:14:00Z")),
            pool: some("p"),
            image: some("i"),
            cause: some("c"),
        };
        assert_eq!(filter(&read_arguments(&words), &facts([])), expected);
        let long = ReadArguments { since: Duration::MAX, ..read_arguments(&[]) };
        assert_eq!(filter(&long, &facts([])), Filter::default());
    }

    #[test]
    fn deleted_nodes_have_no_names_for_kubectl() {
        let nodes = [
            node("a", JoinState::Failed),
            Node { node_claim: None, ..node("b", JoinState::Failed) },
            Node { node_claim: None, node: None, ..node("c", JoinState::Failed) },
            Node { exists: false, ..node("d", JoinState::Failed) },
        ];
        assert_eq!(names(nodes.iter()), "nodeclaim.karpenter.sh/a\nnode/aks-b\n");
    }

    /// Returns the caveat of all nodes.
    fn of_all(facts: &ClusterFacts) -> Option<String> {
        caveat(facts, &facts.inventory, None)
    }

    #[test]
    fn absence_of_failures_names_what_was_not_read() {
        let read = facts([node("a", JoinState::Joining)]);
        assert_eq!(of_all(&read), None);
        let blind = |joining: usize| {
            let mut facts = facts([]);
            for at in 0..joining {
                facts.inventory.nodes.push(node(&at.to_string(), JoinState::Joining));
            }
            facts.inventory.reads.aks_pools = Reading::NotAsked;
            facts
        };
        let pools = "AKS pools are not checked: Azure was not asked.";
        assert_eq!(of_all(&blind(0)).as_deref(), Some(pools));
        for (joining, text) in [(1, "1 node is joining"), (2, "2 nodes are joining")] {
            let expected = format!("{text}, and Azure was not asked about them.");
            let shown = |kind| caveat(&blind(joining), &blind(joining).inventory, kind).unwrap();
            assert_eq!(shown(Some(PoolKind::NodePool)), expected);
            assert_eq!(shown(None), format!("{expected} {pools}"));
        }
        let mut late = facts([]);
        late.controller.state = "late";
        let stale = "The controller is not running, so recent failures may not be recorded.";
        assert_eq!(of_all(&late).unwrap(), stale);
        let mut without = facts([]);
        (without.record, without.inventory.reads.record) = (None, Reading::NotFound);
        assert!(of_all(&without).unwrap().starts_with("This cluster has no failure record, "));
    }

    #[test]
    fn source_that_failed_is_neither_absent_nor_not_asked() {
        let failed = |set: &dyn Fn(&mut Inventory)| {
            let mut facts = facts([node("a", JoinState::Joining)]);
            set(&mut facts.inventory);
            of_all(&facts)
        };
        let denied = || Reading::Denied("x".to_owned());
        let record = "The failure record was not read, so failures of deleted nodes are not known.";
        assert_eq!(failed(&|all| all.reads.record = denied()).as_deref(), Some(record));
        let claims = "NodeClaims were not read, so joining and failed nodes are not known.";
        assert_eq!(failed(&|all| all.reads.claims = denied()).as_deref(), Some(claims));
        let nodes = "Nodes were not read, so it is not known which are ready.";
        assert_eq!(failed(&|all| all.reads.nodes = denied()).as_deref(), Some(nodes));
        let azure = "Azure was not read, so joining nodes may have failed.";
        assert_eq!(failed(&|all| all.set_azure("uid-a", denied())).as_deref(), Some(azure));
    }

    #[test]
    fn sources_are_listed_with_their_age() {
        let mut facts = facts([]);
        let shown = |facts: &ClusterFacts| {
            let mut screen = Screen::default();
            add_sources(&mut screen, facts);
            crate::fixtures::piped(&screen)
        };
        facts.sources[1].at = Some(at("2026-11-17T09:12:48Z"));
        let text =
            "Read        cluster in 0.2s; record of mooring-system, 1m12s old; Azure in 0.2s\n";
        assert_eq!(shown(&facts), text);
        for source in &mut facts.sources {
            source.state = SourceState::Stale;
        }
        facts.sources[0].at = None;
        facts.sources[2].at = Some(now());
        let text = "Read        cluster, not updated: no controller is running; record, not updated for 1m12s; Azure, not updated for 0s\n";
        assert_eq!(shown(&facts), text);
    }

    #[test]
    fn times_of_other_days_are_dates() {
        let now: Timestamp = "2026-11-17T09:14:00Z".parse().unwrap();
        assert_eq!(clock("2026-11-17T05:09:59Z".parse().unwrap(), now), "05:09");
        let before = "2026-11-16T21:14:00Z".parse().unwrap();
        assert_eq!(clock(before, now), "2026-11-16");
        assert_eq!(moment(before, now), "2026-11-16 21:14 UTC");
        assert_eq!(seconds_clock(before, now), "2026-11-16 21:14:00 UTC");
        assert_eq!(moment("2026-11-16T21:14:01Z".parse().unwrap(), now), "21:14 UTC", "12 hours");
        assert_eq!(seconds_clock(now, now), "09:14:00 UTC");
    }

    #[test]
    fn portal_links_exist_for_the_public_cloud_only() {
        let link = |server: &str| {
            let identity = ClusterIdentity {
                id: Some("/subscriptions/s/x/prod".to_owned()),
                server: Some(server.to_owned()),
                ..ClusterIdentity::default()
            };
            assert_eq!(portal(&identity, None), None);
            let of_cluster = portal(&identity, identity.id.as_deref());
            let of_pools = of_cluster.as_ref().map(|url| format!("{url}/nodePools"));
            assert_eq!(pools_portal(&identity), of_pools);
            of_cluster
        };
        let expected = "https://portal.azure.com/#resource/subscriptions/s/x/prod";
        assert_eq!(link("https://prod-1.hcp.westeurope.azmk8s.io:443").as_deref(), Some(expected));
        assert_eq!(link("https://prod-1.hcp.chinaeast2.cx.prod.service.azk8s.cn:443"), None);
        assert_eq!(link("https://evil.example/x.azmk8s.io"), None);
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (seconds, expected) in
            [(0, "0s"), (59, "59s"), (72, "1m12s"), (3660, "1h01m"), (200_000, "2d")]
        {
            assert_eq!(short_duration(seconds), expected);
        }
    }

    fn check(facts: &ClusterFacts, words: &[&str]) -> Option<(&'static str, String)> {
        let checked = ensure_known(&read_arguments(words), facts, "why");
        checked.err().map(|failure| (failure.code(), failure.text()))
    }

    #[test]
    fn names_of_the_cluster_and_the_diagnosis_are_known() {
        let gone = mooring_nodes::Node {
            exists: false,
            pool: Some("gpu".into()),
            ..failed_node("g", "OwnCause")
        };
        let facts = facts([node("a", JoinState::Ready), gone]);
        for words in [
            &[][..],
            &["--pool", "default"],
            &["--pool", "gpu"],
            &["--image", "202601.27.0"],
            &["--image", "AKSAzureLinux/V3gen2/202601.27.0"],
            &["--cause", "owncause"],
            &["--cause", "OrasBinaryMissing"],
            &["--cause", "KubeletStartFail"],
            &["--cause", "NoCSR"],
        ] {
            assert_eq!(check(&facts, words), None, "{words:?}");
        }
    }

    #[test]
    fn unknown_names_are_usage_errors_with_suggestions() {
        let facts = facts([node("a", JoinState::Ready)]);
        for (flag, name, hint) in [
            ("pool", "defalt", "did you mean `default`?   mooring why --pool default"),
            ("pool", "nonsense", "`mooring status` lists pools"),
            (
                "image",
                "202601.27.1",
                "did you mean `202601.27.0`?   mooring why --image 202601.27.0",
            ),
            (
                "cause",
                "OrasBinaryMising",
                "did you mean `OrasBinaryMissing`?   mooring why --cause OrasBinaryMissing",
            ),
            ("cause", "Nonsense", "`mooring fleet --since 7d` lists images and causes"),
        ] {
            let text = format!("{flag} `{name}` not found in demo\nhint: {hint}");
            assert_eq!(check(&facts, &[&format!("--{flag}"), name]), Some(("not-found", text)));
        }
    }

    #[test]
    fn name_may_be_in_a_source_that_was_not_read() {
        let mut facts = facts([node("a", JoinState::Ready)]);
        let record = &mut facts.sources[1];
        (record.state, record.error) = (SourceState::Failed, Some("not allowed".to_owned()));
        let text = "pool `gone` not found in demo; the failure record was not read: not allowed\nhint: `mooring status` lists pools";
        assert_eq!(check(&facts, &["--pool", "gone"]), Some(("io", text.to_owned())));
        assert_eq!(check(&facts, &["--pool", "defalt"]).unwrap().0, "not-found", "it is a typo");
    }
}
