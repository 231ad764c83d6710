//! Detection of failing images, each reported once.

use std::collections::{BTreeMap, BTreeSet};

use mooring_diagnosis::fleet::{Finding, Fleet};

const MAX_IMAGES: usize = 256;
const MAX_CAUSES: usize = 1024;

/// Outcomes by image, and the findings that were reported.
#[derive(Debug, Default)]
pub struct FleetWatch {
    fleet: Fleet,
    images: BTreeSet<String>,
    causes: BTreeSet<(String, String)>,
    /// Reported findings, with the failure rate at that time.
    announced: BTreeMap<(String, String), f64>,
    overflowed: u64,
}

impl FleetWatch {
    /// Counts a node that joined (`None`) or failed with a cause.
    pub fn count(&mut self, image: &str, cause: Option<&str>) {
        if !self.images.contains(image) && self.images.len() >= MAX_IMAGES {
            self.overflowed += 1;
            return;
        }
        self.images.insert(image.to_owned());
        if let Some(cause) = cause {
            let key = (image.to_owned(), cause.to_owned());
            if !self.causes.contains(&key) && self.causes.len() >= MAX_CAUSES {
                self.overflowed += 1;
                return;
            }
            self.causes.insert(key);
        }
        self.fleet.count(image, cause);
    }

    /// Returns findings that were not reported before, and marks them as reported.
    ///
    /// A reported finding is forgotten only when it no longer holds *and* its rate has halved, so that an
    /// image near the threshold is not reported repeatedly.
    pub fn new_findings(&mut self) -> Vec<Finding> {
        let holding = self.fleet.findings();
        let holds =
            |key: &(String, String)| holding.iter().any(|f| f.image == key.0 && f.cause == key.1);
        let fleet = &self.fleet;
        self.announced
            .retain(|key, rate| holds(key) || failure_rate(fleet, &key.0, &key.1) > *rate / 2.0);
        let mut new_findings = Vec::new();
        for finding in holding {
            let key = (finding.image.clone(), finding.cause.clone());
            if !self.announced.contains_key(&key) {
                let rate = failure_rate(&self.fleet, &finding.image, &finding.cause);
                self.announced.insert(key, rate);
                new_findings.push(finding);
            }
        }
        new_findings
    }

    pub fn reported_findings(&self) -> usize {
        self.announced.len()
    }

    /// Returns the number of outcomes not counted because of the limits.
    pub fn overflowed(&self) -> u64 {
        self.overflowed
    }
}

fn failure_rate(fleet: &Fleet, image: &str, cause: &str) -> f64 {
    let rate = fleet.rate(image, cause);
    if rate.nodes == 0 { 0.0 } else { f64::from(rate.failed) / f64::from(rate.nodes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_image_is_reported_once() {
        let mut watch = FleetWatch::default();
        (0..20).for_each(|_| watch.count("202601.13.0", None));
        assert_eq!(watch.new_findings(), []);
        (0..6).for_each(|_| watch.count("202601.27.0", Some("OrasBinaryMissing")));
        let new_findings = watch.new_findings();
        assert_eq!(
            new_findings[0].to_string(),
            "Image 202601.27.0: 6 of 6 nodes failed with OrasBinaryMissing. Other images: 0 of 20."
        );
        (0..30).for_each(|_| watch.count("202601.27.0", Some("OrasBinaryMissing")));
        assert_eq!(
            (new_findings.len(), watch.new_findings().len(), watch.reported_findings()),
            (1, 0, 1)
        );
    }

    #[test]
    fn cause_shared_by_all_images_is_not_reported() {
        let mut watch = FleetWatch::default();
        for image in ["a", "b"] {
            (0..20).for_each(|_| watch.count(image, Some("OutboundConnFail")));
        }
        assert_eq!(watch.new_findings(), []);
    }

    #[test]
    fn finding_is_reported_again_only_after_recovery() {
        let mut watch = FleetWatch::default();
        (0..40).for_each(|_| watch.count("good", None));
        (0..10).for_each(|_| watch.count("bad", Some("X")));
        assert_eq!(watch.new_findings().len(), 1);
        // The rate improves, but not by half: the finding remains.
        (0..5).for_each(|_| watch.count("bad", None));
        assert_eq!((watch.new_findings().len(), watch.reported_findings()), (0, 1));
        // Others now fail with it as well: it no longer holds, and its own rate has halved.
        (0..100).for_each(|_| watch.count("bad", None));
        (0..5).for_each(|_| watch.count("good", Some("X")));
        assert_eq!((watch.new_findings().len(), watch.reported_findings()), (0, 0));
        (0..400).for_each(|_| watch.count("bad", Some("X")));
        assert_eq!(watch.new_findings().len(), 1);
    }

    #[test]
    fn memory_is_bounded_and_overflow_is_counted() {
        let mut watch = FleetWatch::default();
        for image in 0..1000 {
            watch.count(&format!("image-{image}"), Some("X"));
        }
        assert_eq!((watch.images.len(), watch.overflowed()), (MAX_IMAGES, 744));
    }

    #[test]
    fn causes_are_bounded_and_known_ones_still_counted() {
        let mut watch = FleetWatch::default();
        for cause in 0..MAX_CAUSES + 6 {
            watch.count("image", Some(&format!("cause-{cause}")));
        }
        assert_eq!((watch.causes.len(), watch.overflowed()), (MAX_CAUSES, 6));
        watch.count("image", Some("cause-0"));
        assert_eq!((watch.fleet.rate("image", "cause-0").failed, watch.overflowed()), (2, 6));
    }
}
