//! What was not read is unknown, on every screen and in every document.
//!
//! For each source of facts there are two clusters that differ in nothing but what this source alone knows: in one all is
//! well, in the other it has bad news. While the source cannot be read, nothing can tell the two apart. So whatever a
//! command or a page says then has to be true of both: good news that the unhealthy cluster would not show is made up,
//! and so is an alarm that the healthy one would not show.

mod claims;
mod pages;
mod screens;
mod worlds;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;

use pages::Server;
use screens::{Screen, Shown, screens};
use worlds::{Fact, Way, World};

/// Results of commands themselves: an archive that was written, checks that did not fail.
const OWN_RESULTS: &[&str] = &[" secrets redacted"];

/// Formats of the command that has most.
const MOST_FORMATS: usize = 12;

/// Commands at the same time, for each source.
const CONCURRENT: usize = 4;

/// A command whose purpose is to find what cannot be read.
const FINDS_SOURCES: &str = "doctor";

/// What is shown of a cluster, by command line and address.
type Baseline = BTreeMap<String, Shown>;

/// Everything that shows a cluster.
struct Surface {
    screens: Vec<Screen>,
    /// Pages and documents.
    addresses: BTreeSet<String>,
}

impl Surface {
    /// Shows a cluster of which everything can be read, in the formats of some turns.
    fn baseline(&self, world: &World, turns: Range<usize>) -> Baseline {
        let mut lines: Vec<_> = turns.flat_map(|turn| self.formats(turn)).collect();
        lines.sort_by(|(a, of_a), (b, of_b)| (&a.words, of_a).cmp(&(&b.words, of_b)));
        lines.dedup_by(|(a, of_a), (b, of_b)| a.words == b.words && of_a == of_b);
        let shown = self.show(world, &lines, None);
        let baseline: Baseline = shown.into_iter().map(|one| (one.line.clone(), one)).collect();
        for one in baseline.values() {
            assert!(one.code != Some(2), "{}: {}{}", one.line, one.out, one.err);
        }
        baseline
    }

    /// Runs commands, some at a time, and reads the pages. Without a time-out, everything can be read.
    fn show(&self, world: &World, lines: &[(&Screen, &str)], timeout: Option<&str>) -> Vec<Shown> {
        std::thread::scope(|scope| {
            let pages = [Server::Local, Server::Controller].map(|server| {
                scope.spawn(move || pages::show(world, server, &self.addresses, timeout))
            });
            let mut shown = Vec::new();
            for lines in lines.chunks(CONCURRENT) {
                let running =
                    lines.iter().map(|(screen, format)| screen.start(world, format, timeout));
                let running: Vec<_> = running.collect();
                shown.extend(running.into_iter().map(screens::Running::end));
            }
            shown.extend(pages.into_iter().flat_map(|page| page.join().unwrap()));
            shown
        })
    }

    /// Returns each command with one of its formats. Over some turns, all formats are used.
    fn formats(&self, turn: usize) -> Vec<(&Screen, &str)> {
        let mut lines = Vec::new();
        for (at, screen) in self.screens.iter().enumerate() {
            lines.push((screen, &*screen.formats[(at + turn) % screen.formats.len()]));
        }
        lines
    }
}

/// What is shown while a source is off.
struct Check<'a> {
    fact: Fact,
    way: Way,
    is_healthy: bool,
    /// The same cluster with the source on.
    own: &'a Baseline,
    healthy: &'a Baseline,
    unhealthy: &'a Baseline,
}

impl Check<'_> {
    /// Returns true if something is missing, or said to be.
    fn is_partial(&self, shown: &Shown) -> bool {
        shown.plain() != self.own[&shown.line].plain() || shown.err.contains("not read")
    }

    /// Returns what is wrong.
    fn check(&self, shown: &Shown) -> Vec<String> {
        let mut found = Vec::new();
        let line = &shown.line;
        let (unhealthy, healthy) = (&self.unhealthy[line], &self.healthy[line]);
        // What does not exist has no news.
        let text = format!("{}{}", shown.out, shown.err);
        let is_absent = self.way == Way::Missing && self.fact.is_absent_in(&text);
        let made_up = shown.claims.good.difference(&unhealthy.claims.good);
        let made_up = made_up.filter(|claim| !is_absent && self.fact.can_know(claim));
        let made_up = made_up.filter(|claim| !OWN_RESULTS.iter().any(|own| claim.contains(own)));
        found.extend(made_up.map(|claim| format!("claims `{claim}`")));
        let finds_sources = line.starts_with(FINDS_SOURCES);
        // The number of its checks.
        found.retain(|one| !finds_sources || !one.contains("`.failed: 0`"));
        if !finds_sources {
            let alarms = shown.claims.alarms.difference(&healthy.claims.alarms);
            found.extend(alarms.map(|alarm| format!("raises `{alarm}`")));
        }
        if self.is_partial(shown) && shown.code == Some(0) && !is_absent {
            found.push("exits with 0".to_owned());
        }
        if shown.code == Some(3) && !self.fact.is_named_in(&text) {
            found.push("exits with 3 and does not name what was not read".to_owned());
        }
        let cluster = if self.is_healthy { "healthy" } else { "unhealthy" };
        let place = format!("{:?} {:?}, {cluster}: {line}", self.fact, self.way);
        found.into_iter().map(|what| format!("{place}: {what}")).collect()
    }
}

/// Switches one source off in every way, in both clusters. Each way has other formats, and over all sources seven formats
/// of a command are used in every way: all but two of `trace`, all of any other command.
fn check_source(number: usize, fact: Fact, surface: &Surface, healthy: &Baseline) -> Vec<String> {
    let unhealthy_world = World::unhealthy(fact);
    let turns = number..number + Way::ALL.len();
    let unhealthy = surface.baseline(&unhealthy_world, turns.clone());
    let healthy_world = World::healthy();
    let unhealthy = &unhealthy;
    let check_world = |is_healthy: bool, world: &World, own: &Baseline| {
        let mut found = Vec::new();
        for (turn, way) in turns.clone().zip(Way::ALL) {
            let timeout = if matches!(way, Way::Silent | Way::Cut) { "2s" } else { "30s" };
            let lines = surface.formats(turn);
            world.switch_off(fact, way);
            let check = Check { fact, way, is_healthy, own, healthy, unhealthy };
            let all = surface.show(world, &lines, Some(timeout));
            let is_read = all.iter().any(|shown| shown.code.is_some() && check.is_partial(shown));
            assert!(is_read, "no command reads {fact:?}");
            found.extend(all.iter().flat_map(|shown| check.check(shown)));
            world.switch_on();
        }
        found
    };
    std::thread::scope(|scope| {
        let of_healthy = scope.spawn(|| check_world(true, &healthy_world, healthy));
        let of_unhealthy = check_world(false, &unhealthy_world, unhealthy);
        [of_healthy.join().unwrap(), of_unhealthy].concat()
    })
}

#[test]
fn what_was_not_read_is_unknown_on_every_screen() {
    let healthy_world = World::healthy();
    let addresses = pages::find_addresses(&[&healthy_world, &World::unhealthy(Fact::Record)]);
    let surface = Surface { screens: screens(), addresses };
    let healthy = surface.baseline(&healthy_world, 0..MOST_FORMATS);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for (number, fact) in Fact::ALL.into_iter().enumerate() {
            let (surface, healthy, found) = (&surface, &healthy, &found);
            scope.spawn(move || {
                let more = check_source(number, fact, surface, healthy);
                found.lock().unwrap().extend(more);
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    let mut list = String::new();
    for one in &found {
        let _ = writeln!(list, "{one}");
    }
    assert!(found.is_empty(), "{} findings:\n{list}", found.len());
}
