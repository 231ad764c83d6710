//! The repair: looked at, planned, applied, killed, resumed.

use mooring_repair::plan::Step;
use mooring_workflow::Step as _;
use serde_json::Value;

use crate::commands::Answer;
use crate::scenario::{Apply, Detect, Resume};
use crate::stage::Stage;
use crate::story::{KILLED, Moment, MomentKind};
use crate::trouble::{Trouble, expect, expect_words};
use crate::voice::{Mark, seconds};
use crate::wrap::cut;

const LOG: &str = "repair.log";

/// No faster than this, a step is not over before its middle was told.
const KILLABLE: f64 = 30.0;

const STOP_AT_BUDGETS: &[&str] = &["--budgets", "stop"];

/// The expiry and the first digits of a plan's hash.
fn short(hash: &str) -> &str {
    hash.get(..25).unwrap_or(hash)
}

impl Stage<'_> {
    pub(super) async fn detect(&mut self, detect: &Detect) -> Result<(), Trouble> {
        let answer = self.mooring.ask(&["repair", "detect", "-o", "json"]).await?;
        self.keep(LOG, &format!("$ mooring repair detect\n{}{}", answer.stdout, answer.stderr));
        let report: Value = serde_json::from_str(&answer.stdout)
            .map_err(|error| Trouble::broken("mooring repair detect", error))?;
        let verdict = report["verdict"].as_str().unwrap_or("none").to_owned();
        self.voice.say(Mark::Note, "mooring repair detect, its guards in short:");
        for guard in report["guards"].as_array().into_iter().flatten() {
            let word = |name: &str| guard[name].as_str().unwrap_or_default();
            let evidence = shortened(guard["evidence"][0].as_str().unwrap_or_default());
            self.voice.say(
                Mark::Note,
                &format!("{:<4} {:<14} {evidence}", word("outcome"), word("name")),
            );
        }
        let pool = report["pool"].as_str().unwrap_or("system").to_owned();
        let healed = verdict == "healthy" && self.struck.is_some();
        let text = match verdict.as_str() {
            "healthy" if healed => format!("pool {pool} is healed"),
            "confirmed" => format!("pool {pool} is confirmed to be wedged"),
            other => format!("pool {pool}: {other}"),
        };
        let mark = if verdict == "healthy" { Mark::Good } else { Mark::Bad };
        self.voice.say(mark, &format!("{text}  {}", seconds(answer.took)));
        let kind = if healed { MomentKind::Good } else { MomentKind::Trouble };
        self.remember("detect", &text, kind);
        expect("the verdict", &verdict, &detect.verdict)?;
        expect_words("mooring repair detect", &answer.stdout, &detect.says)
    }

    /// Returns where the journal is: a file, whose lock is free as soon as a repair is killed.
    fn journal(&self) -> String {
        self.log("repair.journal").display().to_string()
    }

    /// Makes a plan with these flags and returns its hash.
    async fn hash(&mut self, flags: &[&str]) -> Result<String, Trouble> {
        let journal = self.journal();
        let words = [&["repair", "plan", "-o", "json", "--journal", &journal], flags].concat();
        let answer = self.mooring.ask(&words).await?;
        self.keep(
            LOG,
            &format!("$ mooring {}\n{}{}", words.join(" "), answer.stdout, answer.stderr),
        );
        let plan: Value = serde_json::from_str(&answer.stdout).map_err(|error| {
            Trouble::broken("mooring repair plan", format!("{error}: {}", answer.stderr))
        })?;
        Ok(plan["hash"].as_str().unwrap_or_default().to_owned())
    }

    pub(super) async fn plan(&mut self) -> Result<(), Trouble> {
        let hash = self.hash(&[]).await?;
        let short = short(&hash);
        let names: Vec<&str> = Step::ALL.iter().map(|step| step.name()).collect();
        self.voice.say(Mark::Note, &format!("mooring repair plan: {short}, {}", names.join(" → ")));
        self.remember("plan", &format!("{} steps, hash {short}", names.len()), MomentKind::Step);
        self.story.plan = Some(hash);
        Ok(())
    }

    pub(super) async fn apply(&mut self, apply: &Apply) -> Result<(), Trouble> {
        if apply.stop_at_budgets {
            // Another policy is another plan.
            self.story.plan = Some(self.hash(STOP_AT_BUDGETS).await?);
        }
        let hash = self.planned()?;
        let journal = self.journal();
        let mut words = vec!["repair", "apply", "--poll", "1", "--yes", "--plan-hash", &hash];
        words.extend(["--journal", &journal]);
        if apply.stop_at_budgets {
            words.extend(STOP_AT_BUDGETS);
        }
        let shown = format!("mooring repair apply --yes --plan-hash {}…", short(&hash));
        let answer = self.run(&shown, &words, apply.kill_at, apply.exit).await?;
        expect_words(
            "mooring repair apply",
            &format!("{}{}", answer.stdout, answer.stderr),
            &apply.says,
        )
    }

    pub(super) async fn resume(&mut self, resume: &Resume) -> Result<(), Trouble> {
        let hash = self.planned()?;
        let journal = self.journal();
        let words = ["repair", "resume", "--yes", "--plan-hash", &hash, "--journal", &journal];
        let shown = format!("mooring repair resume --yes --plan-hash {}…", short(&hash));
        self.run(&shown, &words, resume.kill_at, resume.exit).await?;
        Ok(())
    }

    /// The hash of the plan that was approved.
    fn planned(&self) -> Result<String, Trouble> {
        let hash = self.story.plan.clone();
        hash.ok_or_else(|| Trouble::Broken("there is no plan to apply".to_owned()))
    }

    /// Runs a repair, tells its steps, and kills it in the middle of one if that is wanted.
    async fn run(
        &mut self,
        shown: &str,
        words: &[&str],
        kill_at: Option<Step>,
        exit: i32,
    ) -> Result<Answer, Trouble> {
        self.voice.say(Mark::Note, &format!("{shown}, step by step:"));
        self.keep(LOG, &format!("$ {shown}\n"));
        let speed = self.speed();
        if kill_at.is_some() {
            self.set_speed(speed.min(KILLABLE));
        }
        let struck = self.struck;
        let (voice, story) = (&mut *self.voice, &mut self.story);
        let (mut killed, mut stopped, mut under_way) = (false, false, 0);
        let answer = self
            .mooring
            .follow(words, |line| {
                let at = struck.map_or_else(Default::default, |struck| struck.elapsed());
                let mut remember = |what: &str, detail: &str, kind| {
                    let (what, detail) = (what.to_owned(), detail.to_owned());
                    story.repair.push(Moment { at, what, detail, kind });
                };
                let Some(told) = Told::read(line) else { return false };
                let place = format!("{:>2}/16 {:<16}", told.number, told.step);
                if let Some(proof) = told.done {
                    voice.say(Mark::Good, &format!("{place} {}", shortened(proof)));
                    remember(told.step, proof, MomentKind::Step);
                    under_way = 0;
                } else if let Some(why) = told.what.strip_prefix("stopping: ") {
                    voice.say(Mark::Note, &format!("{place} {why}"));
                    remember("stopped", why, MomentKind::Trouble);
                    stopped = true;
                } else {
                    voice.now(&format!("{place} {}", told.what));
                    under_way += 1;
                }
                // In the middle: an effect of the step is under way, and its end is not known.
                let middle = told.what.starts_with("waiting") || under_way > 1;
                killed = kill_at.is_some_and(|step| step.name() == told.step)
                    && told.done.is_none()
                    && middle;
                if killed {
                    let text = format!("kill -9 in the middle of {}", told.step);
                    voice.say(Mark::Struck, &text);
                    remember(KILLED, &text, MomentKind::Trouble);
                }
                killed
            })
            .await?;
        self.set_speed(speed);
        self.keep(LOG, &format!("{}{}", answer.stderr, answer.stdout));
        match (killed, kill_at) {
            (true, _) => {
                expect("how the repair ended", &words_of(answer.code), &words_of(None))?;
            }
            (false, Some(step)) => {
                return Err(Trouble::Unmet(format!(
                    "the repair ended before it waited in {}, where it was to be killed",
                    step.name()
                )));
            }
            (false, None) => {
                let mut lines = answer.stderr.lines();
                if let Some(why) = lines.find_map(|line| line.strip_suffix("; nothing to do")) {
                    self.voice.say(Mark::Note, &format!("nothing to do: {why}"));
                    self.remember("stopped", why, MomentKind::Trouble);
                }
                let mut lines = answer.stderr.lines();
                let why = lines.find_map(|line| line.strip_prefix("mooring: "));
                if let Some(why) = why.filter(|_| !stopped) {
                    self.voice.say(Mark::Note, &format!("exit {}: {why}", words_of(answer.code)));
                    self.remember("stopped", why, MomentKind::Trouble);
                }
                expect("the exit code of the repair", &words_of(answer.code), &exit.to_string())?;
            }
        }
        Ok(answer)
    }
}

fn words_of(code: Option<i32>) -> String {
    code.map_or_else(|| "a signal".to_owned(), |code| code.to_string())
}

/// A line of progress: `step 4/16 create-temporary: done: pool systmp is Succeeded`.
#[derive(Debug, PartialEq, Eq)]
struct Told<'a> {
    number: &'a str,
    step: &'a str,
    what: &'a str,
    done: Option<&'a str>,
}

impl<'a> Told<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (place, what) = line.strip_prefix("step ")?.split_once(": ")?;
        let (number, step) = place.split_once(' ')?;
        let number = number.split('/').next()?;
        Some(Self { number, step, what, done: what.strip_prefix("done: ") })
    }
}

/// Evidence in so many characters as a line has room for.
fn shortened(text: &str) -> String {
    cut(text, 88)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_as_the_repair_writes_it() {
        let told =
            Told::read("step 4/16 create-temporary: done: pool systmp is Succeeded").unwrap();
        assert_eq!((told.number, told.step), ("4", "create-temporary"));
        assert_eq!(told.done, Some("pool systmp is Succeeded"));
        let told =
            Told::read("step 9/16 delete-pool: waiting for pool system to be deleted").unwrap();
        assert!(told.what.starts_with("waiting") && told.done.is_none());
        assert_eq!(Told::read("pool system of demo: confirmed"), None);
    }
}
