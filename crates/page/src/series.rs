//! Failed and joined nodes over time.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::image::version;
use mooring_nodes::record::counts;
use mooring_nodes::{Inventory, Node};

use crate::model::PageModel;
use crate::view::TimeRange;

/// Nodes of one interval.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Interval {
    pub(crate) joined: u64,
    /// By cause.
    pub(crate) failed: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Series {
    /// Start of the first interval.
    pub(crate) start: Timestamp,
    /// Length of an interval in seconds.
    pub(crate) seconds: i64,
    pub(crate) intervals: Vec<Interval>,
}

/// A pool whose new nodes get another image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rollout {
    pub(crate) at: Timestamp,
    pub(crate) pool: String,
    pub(crate) image: String,
}

const fn interval_seconds(since: TimeRange) -> i64 {
    match since {
        TimeRange::Hour => 300,
        TimeRange::Day => 1800,
        TimeRange::Week => 7200,
    }
}

impl Series {
    /// Merges counts with nodes that are known one by one: counts are complete and up to a minute late.
    pub(crate) fn of(model: &PageModel<'_>) -> Self {
        let since = model.view.since;
        let seconds = interval_seconds(since);
        let last = model.now.as_second().div_euclid(seconds);
        let first = last + 1 - since.seconds() / seconds;
        let start = Timestamp::from_second(first * seconds).unwrap_or(Timestamp::MIN);
        let count = usize::try_from(last + 1 - first).unwrap_or(1);
        let mut series = Self { start, seconds, intervals: vec![Interval::default(); count] };
        series.add_nodes(model);
        if let (Some(counts), true) = (&model.facts.inventory.counts, since != TimeRange::Hour) {
            series.add_counts(model, counts);
        }
        series
    }

    fn index(&self, at: Timestamp) -> Option<usize> {
        let seconds = at.as_second() - self.start.as_second();
        usize::try_from(seconds.div_euclid(self.seconds))
            .ok()
            .filter(|at| *at < self.intervals.len())
    }

    fn add_nodes(&mut self, model: &PageModel<'_>) {
        for node in model.failures() {
            if let (Some(failure), Some(index)) =
                (&node.failure, node.at().and_then(|at| self.index(at)))
            {
                *self.intervals[index].failed.entry(failure.cause.clone()).or_default() += 1;
            }
        }
        let joined = |node: &&Node| node.has_joined() && !node.is_failed() && model.has_image(node);
        for node in model.inventory.nodes.iter().filter(joined) {
            if let Some(index) = node.joined_at.and_then(|at| self.index(at)) {
                self.intervals[index].joined += 1;
            }
        }
    }

    fn add_counts(&mut self, model: &PageModel<'_>, counts: &counts::CountsDocument) {
        // Counts have whole names of images; those of an address are versions.
        let image = model.filter.image.as_deref().map(|wanted| {
            let whole = model.fleet.rows.iter().map(|row| row.image.as_str());
            let mut same = whole.filter(|name| version(name) == wanted);
            same.next().unwrap_or(wanted)
        });
        let filter = counts::Filter {
            since: Some(self.start),
            pool: model.filter.pool.as_deref(),
            image,
            cause: model.filter.cause.as_deref(),
        };
        let mut counted = vec![Interval::default(); self.intervals.len()];
        for half_hour in counts.series(filter, model.now) {
            let Some(index) = self.index(half_hour.at) else { continue };
            counted[index].joined += half_hour.joined;
            for (cause, count) in half_hour.failed {
                *counted[index].failed.entry(cause).or_default() += count;
            }
        }
        for (interval, counted) in self.intervals.iter_mut().zip(counted) {
            interval.joined = interval.joined.max(counted.joined);
            for (cause, count) in counted.failed {
                let own = interval.failed.entry(cause).or_default();
                *own = count.max(*own);
            }
        }
    }

    pub(crate) fn joined(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.joined).sum()
    }

    /// Returns causes with their failures, the most frequent first.
    pub(crate) fn causes(&self) -> Vec<(String, u64)> {
        let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
        for (cause, count) in self.intervals.iter().flat_map(|interval| &interval.failed) {
            *causes.entry(cause).or_default() += count;
        }
        let mut causes: Vec<(String, u64)> =
            causes.into_iter().map(|(cause, count)| (cause.to_owned(), count)).collect();
        causes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        causes
    }

    /// Returns the part of the chart before `at`, in percent.
    pub(crate) fn percent(&self, at: Timestamp) -> f64 {
        let all = self.end().as_second() - self.start.as_second();
        let part = at.as_second() - self.start.as_second();
        #[expect(clippy::cast_precision_loss, reason = "seconds of a week")]
        let percent = part as f64 * 100.0 / all as f64;
        percent
    }

    pub(crate) fn end(&self) -> Timestamp {
        self.start_of(self.intervals.len())
    }

    /// Returns the start of an interval.
    pub(crate) fn start_of(&self, index: usize) -> Timestamp {
        let seconds = self.seconds * i64::try_from(index).unwrap_or_default();
        self.start.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
    }
}

/// Returns pools whose newest image is new in this time, the last first.
pub(crate) fn rollouts(inventory: &Inventory, start: Timestamp) -> Vec<Rollout> {
    let mut first: BTreeMap<(&str, &str), Timestamp> = BTreeMap::new();
    for node in &inventory.nodes {
        if let (Some(pool), Some(image), Some(at)) = (&node.pool, &node.image, node.began_at()) {
            let known = first.entry((pool, image)).or_insert(at);
            *known = at.min(*known);
        }
    }
    let mut rollouts: Vec<Rollout> = first
        .iter()
        .filter(|((pool, image), at)| {
            let earlier = |(other, at_other): (&(&str, &str), &Timestamp)| {
                other.0 == *pool && other.1 != *image && at_other < *at
            };
            **at >= start && first.iter().any(earlier)
        })
        .map(|((pool, image), at)| Rollout {
            at: *at,
            pool: (*pool).to_owned(),
            image: version(image).to_owned(),
        })
        .collect();
    rollouts.sort_by_key(|rollout| std::cmp::Reverse(rollout.at));
    rollouts
}
