//! Detection of failing images, each reported once.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use mooring_diagnosis::fleet::{Fleet, ImagePattern};

const MAX_IMAGES: usize = 256;
const MAX_CAUSES: usize = 1024;
/// Time after the last failure at which a finding ends.
const FINDING_TTL: SignedDuration = SignedDuration::from_hours(24);

/// Outcomes by image, and the findings that were reported.
#[derive(Debug, Default)]
pub struct FleetWatch {
    fleet: Fleet,
    images: BTreeSet<String>,
    /// Times of the last failures, by image and cause.
    causes: BTreeMap<(String, String), Option<Timestamp>>,
    /// Findings that were reported, with their failure rates at that time.
    announced: BTreeMap<(String, String), f64>,
    overflowed: u64,
}

#[derive(Debug, Default, PartialEq)]
pub struct FindingChanges {
    pub new: Vec<ImagePattern>,
    /// Image and cause of findings that ended.
    pub over: Vec<(String, String)>,
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
            if !self.causes.contains_key(&key) && self.causes.len() >= MAX_CAUSES {
                self.overflowed += 1;
                return;
            }
            self.causes.entry(key).or_default();
        }
        self.fleet.count(image, cause);
    }

    /// Notes the time of a counted failure.
    pub fn failed_at(&mut self, image: &str, cause: &str, at: Timestamp) {
        if let Some(last) = self.causes.get_mut(&(image.to_owned(), cause.to_owned())) {
            *last = (*last).max(Some(at));
        }
    }

    /// Returns findings that were not reported before, and those that ended, and remembers both.
    ///
    /// A reported finding ends only when it no longer holds *and* its rate has halved, so that an image near the
    /// threshold is not reported repeatedly, or a day after its last failure.
    pub fn update(&mut self, now: Timestamp) -> FindingChanges {
        let mut holding = self.fleet.findings();
        holding.retain(|finding| !self.is_old(&finding.image, &finding.cause, now));
        let mut changes = FindingChanges::default();
        for (key, rate) in self.announced.clone() {
            let (image, cause) = &key;
            let holds = holding.iter().any(|f| f.image == *image && f.cause == *cause);
            let lasts = !self.is_old(image, cause, now)
                && failure_rate(&self.fleet, image, cause) > rate / 2.0;
            if !holds && !lasts {
                self.announced.remove(&key);
                changes.over.push(key);
            }
        }
        for finding in holding {
            let key = (finding.image.clone(), finding.cause.clone());
            if !self.announced.contains_key(&key) {
                let rate = failure_rate(&self.fleet, &finding.image, &finding.cause);
                self.announced.insert(key, rate);
                changes.new.push(finding);
            }
        }
        changes
    }

    /// Returns true for a finding that ends by its age.
    pub fn has_old_finding(&self, now: Timestamp) -> bool {
        self.announced.keys().any(|(image, cause)| self.is_old(image, cause, now))
    }

    fn is_old(&self, image: &str, cause: &str, now: Timestamp) -> bool {
        let last = self.causes.get(&(image.to_owned(), cause.to_owned())).copied().flatten();
        last.is_some_and(|last| now.duration_since(last) > FINDING_TTL)
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

    fn update(watch: &mut FleetWatch) -> FindingChanges {
        watch.update(Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn finding_ends_a_day_after_its_last_failure() {
        let mut watch = FleetWatch::default();
        let at = |hours: i64| Timestamp::from_second(1_800_000_000 + hours * 3600).unwrap();
        (0..20).for_each(|_| watch.count("good", None));
        let fail = |watch: &mut FleetWatch, hours| {
            watch.count("bad", Some("X"));
            watch.failed_at("bad", "X", at(hours));
        };
        (0..10).for_each(|_| fail(&mut watch, 0));
        assert_eq!(watch.update(at(1)).new.len(), 1);
        fail(&mut watch, 2);
        assert_eq!((watch.update(at(26)), watch.has_old_finding(at(26))), Default::default());
        assert!(watch.has_old_finding(at(27)));
        let over = vec![("bad".to_owned(), "X".to_owned())];
        assert_eq!(watch.update(at(27)), FindingChanges { new: vec![], over });
        assert_eq!((watch.update(at(28)), watch.announced.len()), Default::default());
        fail(&mut watch, 30);
        assert_eq!(watch.update(at(30)).new.len(), 1);
    }

    #[test]
    fn failing_image_is_reported_once() {
        let mut watch = FleetWatch::default();
        (0..20).for_each(|_| watch.count("202601.13.0", None));
        assert_eq!(update(&mut watch).new, []);
        (0..6).for_each(|_| watch.count("202601.27.0", Some("OrasBinaryMissing")));
        let new_findings = update(&mut watch).new;
        assert_eq!(
            new_findings[0].to_string(),
            "Image 202601.27.0: 6 of 6 nodes failed with OrasBinaryMissing. Other images: 0 of 20."
        );
        (0..30).for_each(|_| watch.count("202601.27.0", Some("OrasBinaryMissing")));
        assert_eq!(
            (new_findings.len(), update(&mut watch).new.len(), watch.announced.len()),
            (1, 0, 1)
        );
    }

    #[test]
    fn cause_shared_by_all_images_is_not_reported() {
        let mut watch = FleetWatch::default();
        for image in ["a", "b"] {
            (0..20).for_each(|_| watch.count(image, Some("OutboundConnFail")));
        }
        assert_eq!(update(&mut watch).new, []);
    }

    #[test]
    fn finding_is_reported_again_only_after_recovery() {
        let mut watch = FleetWatch::default();
        (0..40).for_each(|_| watch.count("good", None));
        (0..10).for_each(|_| watch.count("bad", Some("X")));
        assert_eq!(update(&mut watch).new.len(), 1);
        // The rate improves, but not by half: the finding remains.
        (0..5).for_each(|_| watch.count("bad", None));
        assert_eq!((update(&mut watch).new.len(), watch.announced.len()), (0, 1));
        // Others now fail with it as well: it no longer holds, and its own rate has halved.
        (0..100).for_each(|_| watch.count("bad", None));
        (0..5).for_each(|_| watch.count("good", Some("X")));
        assert_eq!((update(&mut watch).new.len(), watch.announced.len()), (0, 0));
        (0..400).for_each(|_| watch.count("bad", Some("X")));
        assert_eq!(update(&mut watch).new.len(), 1);
    }

    #[test]
    fn finding_remains_until_its_rate_has_halved() {
        let mut watch = FleetWatch::default();
        (0..40).for_each(|_| watch.count("good", None));
        (0..10).for_each(|_| watch.count("bad", Some("X")));
        assert_eq!(update(&mut watch).new.len(), 1);
        // Others fail with it as well, so it no longer holds.
        (0..40).for_each(|_| watch.count("good", Some("X")));
        (0..9).for_each(|_| watch.count("bad", None));
        assert_eq!(update(&mut watch), FindingChanges::default(), "10 of 19");
        watch.count("bad", None);
        let over = vec![("bad".to_owned(), "X".to_owned())];
        assert_eq!(update(&mut watch), FindingChanges { new: vec![], over }, "10 of 20");
    }

    #[test]
    fn findings_of_an_image_and_of_a_cause_end_separately() {
        let mut watch = FleetWatch::default();
        let at = |hours: i64| Timestamp::from_second(1_800_000_000 + hours * 3600).unwrap();
        (0..80).for_each(|_| watch.count("good", None));
        for (image, cause, hours) in [("a", "X", 9), ("a", "Y", 0), ("b", "Z", 0)] {
            (0..10).for_each(|_| watch.count(image, Some(cause)));
            watch.failed_at(image, cause, at(hours));
        }
        assert_eq!(watch.update(at(9)).new.len(), 3);
        assert_eq!(watch.announced.len(), 3);
        let over = [("a", "Y"), ("b", "Z")].map(|(image, cause)| (image.into(), cause.into()));
        assert_eq!(watch.update(at(25)), FindingChanges { new: vec![], over: over.into() });
        assert_eq!(watch.announced.len(), 1);
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
