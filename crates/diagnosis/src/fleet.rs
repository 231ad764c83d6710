//! Which image fails, and with what: outcomes counted by image version and cause.
//!
//! A statement is made only where the counts carry it: an image needs at least four nodes, and the
//! interval of its rate of failures must lie above that of all other images together.

use std::collections::BTreeMap;
use std::fmt;

/// Fewer nodes than this prove nothing.
pub const MINIMUM_SAMPLE: u32 = 4;

/// The two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.96;

/// Outcomes by image version and cause.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    images: BTreeMap<String, Image>,
}

#[derive(Clone, Debug, Default)]
struct Image {
    nodes: u32,
    causes: BTreeMap<String, u32>,
}

/// A rate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub failed: u32,
    pub nodes: u32,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// "Image X fails with cause Y, other images do not."
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub image: String,
    /// The cause, a diagnosis's reason.
    pub cause: String,
    /// How often nodes of the image fail with it.
    pub here: Rate,
    /// How often nodes of all other images do.
    pub elsewhere: Rate,
}

impl Fleet {
    /// Counts a node that came up (`None`) or failed with a cause.
    pub fn count(&mut self, image: &str, cause: Option<&str>) {
        let image = self.images.entry(image.to_owned()).or_default();
        image.nodes = image.nodes.saturating_add(1);
        if let Some(cause) = cause {
            let count = image.causes.entry(cause.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// How often nodes of an image failed with a cause.
    pub fn rate(&self, image: &str, cause: &str) -> Rate {
        let (failed, nodes) = self.images.get(image).map_or((0, 0), |image| image.counts(cause));
        Rate::of(failed, nodes)
    }

    /// Images that fail with a cause while others do not, the most certain first.
    ///
    /// Says nothing about a fleet with one image, about fewer than four nodes on either side, or
    /// where the intervals overlap.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (name, image) in &self.images {
            for cause in image.causes.keys() {
                let here = self.rate(name, cause);
                let elsewhere = self.elsewhere(name, cause);
                let enough = here.nodes >= MINIMUM_SAMPLE && elsewhere.nodes >= MINIMUM_SAMPLE;
                if enough && here.low > elsewhere.high {
                    findings.push(Finding {
                        image: name.clone(),
                        cause: cause.clone(),
                        here,
                        elsewhere,
                    });
                }
            }
        }
        findings.sort_by(|a, b| b.here.low.total_cmp(&a.here.low));
        findings
    }

    fn elsewhere(&self, image: &str, cause: &str) -> Rate {
        let others = self.images.iter().filter(|(name, _)| *name != image);
        let (failed, nodes) = others
            .map(|(_, image)| image.counts(cause))
            .fold((0_u32, 0_u32), |(failed, nodes), (f, n)| {
                (failed.saturating_add(f), nodes.saturating_add(n))
            });
        Rate::of(failed, nodes)
    }
}

impl Image {
    fn counts(&self, cause: &str) -> (u32, u32) {
        (self.causes.get(cause).copied().unwrap_or_default(), self.nodes)
    }
}

impl Rate {
    /// The rate with Wilson's interval, which stays within 0 and 1 and is honest for small samples.
    #[must_use]
    pub fn of(failed: u32, nodes: u32) -> Self {
        if nodes == 0 {
            return Self { failed: 0, nodes: 0, low: 0.0, high: 1.0 };
        }
        let failed = failed.min(nodes);
        let n = f64::from(nodes);
        let p = f64::from(failed) / n;
        let z2 = Z * Z;
        let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        let low = if failed == 0 { 0.0 } else { (middle - half).max(0.0) };
        let high = if failed == nodes { 1.0 } else { (middle + half).min(1.0) };
        Self { failed, nodes, low, high }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.failed, self.nodes)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { image, cause, here, elsewhere } = self;
        write!(f, "image {image} fails with {cause} on {here} nodes, other images on {elsewhere}")
    }
}
