//! Outcomes counted by image version and cause, to find images that fail.
//!
//! A finding requires at least four nodes with the image, and a failure rate whose interval is above that of all other
//! images together.

use std::collections::BTreeMap;
use std::fmt;

/// Minimum number of nodes with and without an image.
pub const MIN_SAMPLE: u32 = 4;

/// The two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.96;

#[derive(Clone, Debug, Default)]
pub struct Fleet {
    images: BTreeMap<String, Image>,
}

#[derive(Clone, Debug, Default)]
struct Image {
    nodes: u32,
    causes: BTreeMap<String, u32>,
}

/// A failure rate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub failed: u32,
    pub nodes: u32,
    pub low: f64,
    pub high: f64,
}

/// "Image X fails with cause Y, other images do not."
#[derive(Clone, Debug, PartialEq)]
pub struct ImagePattern {
    pub image: String,
    /// Reason of the diagnosis.
    pub cause: String,
    pub here: Rate,
    /// Rate of all other images.
    pub elsewhere: Rate,
}

impl Fleet {
    /// Counts a node that succeeded (`None`) or failed with a cause.
    pub fn count(&mut self, image: &str, cause: Option<&str>) {
        let image = self.images.entry(image.to_owned()).or_default();
        image.nodes = image.nodes.saturating_add(1);
        if let Some(cause) = cause {
            let count = image.causes.entry(cause.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
    }

    pub fn rate(&self, image: &str, cause: &str) -> Rate {
        let (failed, nodes) = self.images.get(image).map_or((0, 0), |image| image.counts(cause));
        Rate::new(failed, nodes)
    }

    /// Returns images that fail with a cause while others do not, the most certain first.
    ///
    /// A finding needs four nodes on each side and intervals that do not overlap.
    pub fn findings(&self) -> Vec<ImagePattern> {
        let mut findings = Vec::new();
        for (name, image) in &self.images {
            for cause in image.causes.keys() {
                let here = self.rate(name, cause);
                let elsewhere = self.elsewhere(name, cause);
                let enough = here.nodes >= MIN_SAMPLE && elsewhere.nodes >= MIN_SAMPLE;
                if enough && here.low > elsewhere.high {
                    findings.push(ImagePattern {
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
        Rate::new(failed, nodes)
    }
}

impl Image {
    fn counts(&self, cause: &str) -> (u32, u32) {
        (self.causes.get(cause).copied().unwrap_or_default(), self.nodes)
    }
}

impl Rate {
    /// Computes Wilson's interval, which stays within 0 and 1 and is accurate for small samples.
    #[must_use]
    pub fn new(failed: u32, nodes: u32) -> Self {
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

impl fmt::Display for ImagePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { image, cause, here, elsewhere } = self;
        write!(f, "Image {image}: {here} nodes failed with {cause}. Other images: {elsewhere}.")
    }
}
