//! Validates what the schema does not.

use super::definition::Scenario;
use super::image;
use super::steps::StepSpec;

impl Scenario {
    pub(super) fn check(&self) -> Result<(), String> {
        let is_speed = |speed: f64| speed.is_finite() && speed > 0.0;
        let speeds = self.stages.iter().filter_map(|stage| stage.speed);
        if !std::iter::once(self.speed).chain(speeds).all(is_speed) {
            return Err("a `speed` is a number above 0".to_owned());
        }
        if self.stages.is_empty() {
            return Err("`stages` is empty, so nothing would happen".to_owned());
        }
        for stage in &self.stages {
            for step in &stage.steps {
                step.check(self).map_err(|why| format!("stage `{}`: {why}", stage.title))?;
            }
        }
        self.cluster.check().map_err(|why| format!("cluster: {why}"))
    }
}

impl StepSpec {
    fn check(&self, scenario: &Scenario) -> Result<(), String> {
        match self {
            Self::Boot(boot) => {
                let image = scenario.images.get(&boot.image);
                let image = image.ok_or_else(|| format!("`images` has no image {}", boot.image))?;
                if let Some(fails) = &image.fails
                    && !image::STEPS.iter().any(|(step, _)| *step == fails.step)
                {
                    return Err(format!("image {}: no step is called {}", boot.image, fails.step));
                }
                let ended = boot.joined + boot.failed;
                let silent = if image.silent { boot.nodes } else { 0 };
                if ended + silent != boot.nodes || boot.nodes == 0 {
                    return Err(format!(
                        "boot: {} nodes, of which {ended} join or fail",
                        boot.nodes
                    ));
                }
                Ok(())
            }
            Self::Detect(detect) => {
                let known = ["healthy", "suspect", "confirmed", "unknown"];
                if known.contains(&detect.verdict.as_str()) {
                    return Ok(());
                }
                Err(format!("detect: no verdict is called {}", detect.verdict))
            }
            _ => Ok(()),
        }
    }
}
