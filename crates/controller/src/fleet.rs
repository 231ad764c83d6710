//! Which image fails, told once.

use std::collections::{BTreeMap, BTreeSet};

use mooring_diagnosis::fleet::{Finding, Fleet};

/// Images counted; further ones are not, and that is counted.
const MOST_IMAGES: usize = 256;
/// Causes counted over all images.
const MOST_CAUSES: usize = 1024;

/// Outcomes by image, and what was said about them.
#[derive(Debug, Default)]
pub struct FleetWatch {
    fleet: Fleet,
    images: BTreeSet<String>,
    causes: BTreeSet<(String, String)>,
    /// What was announced, with the rate of failures at that time.
    announced: BTreeMap<(String, String), f64>,
    overflowed: u64,
}

impl FleetWatch {
    /// Counts a node that came up (`None`) or failed with a cause.
    pub fn count(&mut self, image: &str, cause: Option<&str>) {
        if !self.images.contains(image) && self.images.len() >= MOST_IMAGES {
            self.overflowed += 1;
            return;
        }
        self.images.insert(image.to_owned());
        if let Some(cause) = cause {
            let key = (image.to_owned(), cause.to_owned());
            if !self.causes.contains(&key) && self.causes.len() >= MOST_CAUSES {
                self.overflowed += 1;
                return;
            }
            self.causes.insert(key);
        }
        self.fleet.count(image, cause);
    }

    /// Findings that have not been announced, which they are from now on.
    ///
    /// One that was is forgotten only when it no longer holds *and* its rate has halved: an image
    /// whose numbers hover around the edge is not announced again and again.
    pub fn news(&mut self) -> Vec<Finding> {
        let holding = self.fleet.findings();
        let holds =
            |key: &(String, String)| holding.iter().any(|f| f.image == key.0 && f.cause == key.1);
        let fleet = &self.fleet;
        self.announced.retain(|key, rate| holds(key) || share(fleet, &key.0, &key.1) > *rate / 2.0);
        let mut news = Vec::new();
        for finding in holding {
            let key = (finding.image.clone(), finding.cause.clone());
            if !self.announced.contains_key(&key) {
                let rate = share(&self.fleet, &finding.image, &finding.cause);
                self.announced.insert(key, rate);
                news.push(finding);
            }
        }
        news
    }

    /// How many findings hold that were announced.
    pub fn standing(&self) -> usize {
        self.announced.len()
    }

    /// Outcomes that were not counted, for there were too many images or causes.
    pub fn overflowed(&self) -> u64 {
        self.overflowed
    }
}

fn share(fleet: &Fleet, image: &str, cause: &str) -> f64 {
    let rate = fleet.rate(image, cause);
    if rate.nodes == 0 { 0.0 } else { f64::from(rate.failed) / f64::from(rate.nodes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_fails_alone_is_told_once() {
        let mut watch = FleetWatch::default();
        (0..20).for_each(|_| watch.count("202601.13.0", None));
        assert_eq!(watch.news(), []);
        (0..6).for_each(|_| watch.count("202601.27.0", Some("OrasBinaryMissing")));
        let news = watch.news();
        assert_eq!(
            news[0].to_string(),
            "Image 202601.27.0: 6 of 6 nodes failed with OrasBinaryMissing. Other images: 0 of 20."
        );
        (0..30).for_each(|_| watch.count("202601.27.0", Some("OrasBinaryMissing")));
        assert_eq!((news.len(), watch.news().len(), watch.standing()), (1, 0, 1));
    }

    #[test]
    fn a_cause_that_all_images_share_is_no_images_fault() {
        let mut watch = FleetWatch::default();
        for image in ["a", "b"] {
            (0..20).for_each(|_| watch.count(image, Some("OutboundConnFail")));
        }
        assert_eq!(watch.news(), []);
    }

    #[test]
    fn a_finding_is_news_again_only_after_it_was_over() {
        let mut watch = FleetWatch::default();
        (0..40).for_each(|_| watch.count("good", None));
        (0..10).for_each(|_| watch.count("bad", Some("X")));
        assert_eq!(watch.news().len(), 1);
        // It gets better, but not by half: the finding stands.
        (0..5).for_each(|_| watch.count("bad", None));
        assert_eq!((watch.news().len(), watch.standing()), (0, 1));
        // Others now fail with it as well: over, and its own rate has halved.
        (0..100).for_each(|_| watch.count("bad", None));
        (0..5).for_each(|_| watch.count("good", Some("X")));
        assert_eq!((watch.news().len(), watch.standing()), (0, 0));
        (0..400).for_each(|_| watch.count("bad", Some("X")));
        assert_eq!(watch.news().len(), 1);
    }

    #[test]
    fn memory_is_bounded_and_what_overflows_is_counted() {
        let mut watch = FleetWatch::default();
        for image in 0..1000 {
            watch.count(&format!("image-{image}"), Some("X"));
        }
        assert_eq!((watch.images.len(), watch.overflowed()), (MOST_IMAGES, 744));
    }
}
