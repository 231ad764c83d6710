//! Detects a wedged pool, and plans, applies, kills and resumes its repair.

use mooring_repair::plan::Step;
use serde_json::Value;

use crate::environment::DemoEnvironment;
use crate::error::{DemoError, expect, expect_words};
use crate::host::processes::EndedProcess;
use crate::present::output::{DemoMark, seconds};
use crate::present::result::{KILLED, Moment, MomentKind};
use crate::present::wrap::cut_end;
use crate::scenario::{ApplyStep, DetectStep, ResumeStep};

const LOG: &str = "repair.log";

/// Maximum speed at which a step can be killed: in faster ones, no line of progress comes before its end.
const KILLABLE: f64 = 30.0;

const STOP_AT_BUDGETS: &[&str] = &["--budgets", "stop"];

impl DemoEnvironment<'_> {
    pub(crate) async fn detect(&mut self, detect: &DetectStep) -> Result<(), DemoError> {
        let answer =
            self.mooring.ask(&["repair", "detect", "--pool", "system", "-o", "json"]).await?;
        self.keep(LOG, &format!("$ mooring repair detect\n{}{}", answer.stdout, answer.stderr));
        let report: Value = serde_json::from_str(&answer.stdout)
            .map_err(|error| DemoError::broken("mooring repair detect", error))?;
        let verdict = report["verdict"].as_str().unwrap_or("none").to_owned();
        let screen = self.mooring.ask(&["repair", "detect", "--pool", "system"]).await?;
        self.output.command("mooring repair detect --pool system");
        self.output.quote(&screen.stdout);
        let pool = report["pools"][0]["name"].as_str().unwrap_or("system").to_owned();
        let healed = verdict == "healthy" && self.struck.is_some();
        let text = match verdict.as_str() {
            "healthy" if healed => format!("pool {pool} is repaired"),
            "confirmed" => format!("pool {pool} is wedged"),
            other => format!("pool {pool}: {other}"),
        };
        let mark = if verdict == "healthy" { DemoMark::Good } else { DemoMark::Bad };
        self.output.print(mark, &format!("{text}  {}", seconds(answer.took)));
        let kind = if healed { MomentKind::Good } else { MomentKind::Fault };
        self.remember("detect", &text, kind);
        expect("the verdict", &verdict, &detect.verdict)?;
        expect_words("mooring repair detect", &answer.stdout, &detect.contains)
    }

    /// Creates a plan with these flags and returns its hash.
    async fn hash(&mut self, flags: &[&str]) -> Result<String, DemoError> {
        let words = [&["repair", "plan", "-o", "json"], flags].concat();
        let answer = self.mooring.ask(&words).await?;
        let shown = format!("mooring {}", words.join(" "));
        self.output.command(&shown);
        self.keep(LOG, &format!("$ {shown}\n{}{}", answer.stdout, answer.stderr));
        let plan: Value = serde_json::from_str(&answer.stdout).map_err(|error| {
            DemoError::broken("mooring repair plan", format!("{error}: {}", answer.stderr))
        })?;
        Ok(plan["hash"].as_str().unwrap_or_default().to_owned())
    }

    pub(crate) async fn plan(&mut self) -> Result<(), DemoError> {
        let hash = self.hash(&[]).await?;
        let names: Vec<&str> = Step::ALL.iter().map(|step| step.name()).collect();
        let text = format!("{} steps: {}", names.len(), names.join(" → "));
        self.output.print(DemoMark::Note, &text);
        self.remember("plan", &format!("{} steps, hash {hash}", names.len()), MomentKind::Step);
        self.result.plan = Some(hash);
        Ok(())
    }

    pub(crate) async fn apply(&mut self, apply: &ApplyStep) -> Result<(), DemoError> {
        if apply.stop_at_budgets {
            // Another policy is another plan.
            self.result.plan = Some(self.hash(STOP_AT_BUDGETS).await?);
        }
        let hash = self.planned()?;
        let mut words = vec!["repair", "apply", "--poll", "1", "--yes", "--plan-hash", &hash];
        if apply.stop_at_budgets {
            words.extend(STOP_AT_BUDGETS);
        }
        let answer = self.run(&words, apply.kill_at, apply.exit).await?;
        expect_words(
            "mooring repair apply",
            &format!("{}{}", answer.stdout, answer.stderr),
            &apply.contains,
        )
    }

    pub(crate) async fn resume(&mut self, resume: &ResumeStep) -> Result<(), DemoError> {
        let hash = self.planned()?;
        let words = ["repair", "resume", "--yes", "--plan-hash", &hash];
        self.run(&words, resume.kill_at, resume.exit).await?;
        Ok(())
    }

    fn planned(&self) -> Result<String, DemoError> {
        let hash = self.result.plan.clone();
        hash.ok_or_else(|| DemoError::Broken("no plan to apply".to_owned()))
    }

    /// Runs a repair, prints its steps, and kills it during a step if requested.
    async fn run(
        &mut self,
        words: &[&str],
        kill_at: Option<Step>,
        exit: i32,
    ) -> Result<EndedProcess, DemoError> {
        let shown = format!("mooring {}", words.join(" "));
        self.output.command(&shown);
        self.keep(LOG, &format!("$ {shown}\n"));
        let speed = self.speed();
        if kill_at.is_some() {
            self.set_speed(speed.min(KILLABLE));
        }
        let (struck, room) = (self.struck, self.output.room());
        let (output, result) = (&mut *self.output, &mut self.result);
        let (mut killed, mut stopped, mut under_way) = (false, false, 0);
        let answer = self
            .mooring
            .follow(words, |line| {
                let at = struck.map_or_else(Default::default, |struck| struck.elapsed());
                let mut remember = |what: &str, detail: &str, kind| {
                    let (what, detail) = (what.to_owned(), detail.to_owned());
                    result.repair.push(Moment { at, what, detail, kind });
                };
                let Some(line) = ProgressLine::read(line) else { return false };
                let prefix = format!("{:>2}/16 {:<17}", line.number, line.step);
                if let Some(evidence) = line.done {
                    output.print(DemoMark::Good, &cut_end(&format!("{prefix} {evidence}"), room));
                    remember(line.step, evidence, MomentKind::Step);
                    under_way = 0;
                } else if let Some(why) = line.what.strip_prefix("stopping: ") {
                    output.print(DemoMark::Note, &format!("{prefix} {why}"));
                    remember("stopped", why, MomentKind::Fault);
                    stopped = true;
                } else {
                    output.now(&format!("{prefix} {}", line.what));
                    under_way += 1;
                }
                // An effect of the step is in progress, and its result is unknown.
                let middle = line.what.starts_with("waiting") || under_way > 1;
                killed = kill_at.is_some_and(|step| step.name() == line.step)
                    && line.done.is_none()
                    && middle;
                if killed {
                    let text = format!("kill -9 in the middle of {}", line.step);
                    output.print(DemoMark::Struck, &text);
                    remember(KILLED, &text, MomentKind::Fault);
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
                return Err(DemoError::Unmet(format!(
                    "the repair ended before it waited in {}, where it was to be killed",
                    step.name()
                )));
            }
            (false, None) => {
                let mut lines = answer.stderr.lines();
                if let Some(why) = lines.find_map(|line| line.strip_suffix("; nothing to do")) {
                    self.output.print(DemoMark::Note, &format!("nothing to do: {why}"));
                    self.remember("stopped", why, MomentKind::Fault);
                }
                let mut lines = answer.stderr.lines();
                let why = lines.find_map(|line| line.strip_prefix("error: "));
                if let Some(why) = why.filter(|_| !stopped) {
                    self.output
                        .print(DemoMark::Note, &format!("exit {}: {why}", words_of(answer.code)));
                    self.remember("stopped", why, MomentKind::Fault);
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

/// A line of progress: ` 4/16  create-temporary   ✓   3:14  pool systmp is Succeeded`.
#[derive(Debug, PartialEq, Eq)]
struct ProgressLine<'a> {
    number: &'a str,
    step: &'a str,
    what: &'a str,
    done: Option<&'a str>,
}

impl<'a> ProgressLine<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (number, rest) = line.trim_start().split_once('/')?;
        number.parse::<usize>().ok()?;
        let (_, rest) = rest.split_once("  ")?;
        let (step, rest) = rest.split_once(' ')?;
        let (mark, rest) = rest.trim_start().split_once(' ')?;
        let (_, what) = rest.trim_start().split_once("  ")?;
        let is_done = matches!(mark, "✓" | "ok");
        Some(Self { number, step, what, done: is_done.then_some(what) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_as_the_repair_writes_it() {
        let line = " 4/16  create-temporary   ✓   3:14  pool systmp is Succeeded";
        let line = ProgressLine::read(line).unwrap();
        assert_eq!((line.number, line.step), ("4", "create-temporary"));
        assert_eq!(line.done, Some("pool systmp is Succeeded"));
        let line = " 9/16  delete-pool        ...   0:12  waiting for pool system to be deleted";
        let line = ProgressLine::read(line).unwrap();
        assert!(line.what.starts_with("waiting") && line.done.is_none());
        assert_eq!(line.what, "waiting for pool system to be deleted");
        assert_eq!(
            ProgressLine::read("✗ Pool system of demo is wedged: all 5 signs are present."),
            None
        );
        assert_eq!(ProgressLine::read("  server    https://127.0.0.1:1"), None);
    }
}
