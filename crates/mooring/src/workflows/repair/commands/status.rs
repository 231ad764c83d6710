//! `mooring repair status`: the runs of all pools, or of one.

use jiff::Timestamp;
use mooring_repair::report::RunReport;
use mooring_repair::runtime::{ApiUnavailable, JournalStatus, Operator};
use mooring_repair::screens;
use mooring_terminal::{Column, Screen, Table, Text};
use mooring_workflow::Finish;
use mooring_workflow::status::RunStatus;

use crate::output::failure::CommandFailure;
use crate::output::published;
use crate::output::show::{print, print_names};
use crate::output::{AnswerFormat, print_screen};
use crate::workflows::repair::arguments::StatusArguments;
use crate::workflows::repair::formats::RUN;
use crate::workflows::repair::leftover;
use crate::workflows::repair::session::RepairSession;
use crate::workflows::repair::show::{
    Earlier, PublishedRun, RunContent, print_published, run_screen,
};
use crate::workflows::runs::{RunsReading, is_wrong, run_status, watch_runs, with_progress, write};

/// All runs at one time.
struct Snapshot {
    runs: Vec<RunStatus>,
    earlier: Vec<Earlier>,
    /// The journal of each run, and journals without one.
    journals: Vec<JournalStatus>,
}

impl Snapshot {
    fn content(&self) -> RunContent<'_> {
        let mut runs = Vec::new();
        for run in &self.runs {
            let mut journals = self.journals.iter();
            let journal = journals.find(|journal| journal.place == run.journal);
            runs.push(PublishedRun::new(
                run,
                journal.and_then(|journal| journal.runs.last.as_ref()),
            ));
        }
        RunContent { runs, earlier: &self.earlier }
    }
}

impl StatusArguments {
    /// Returns the pool; none for all pools.
    fn pool(&self) -> Option<&str> {
        self.target.pool.as_deref()
    }

    pub(crate) async fn run(&self, session: &mut RepairSession<'_>) -> Result<u8, CommandFailure> {
        let operator = &mut session.operator;
        if self.watch {
            return self.follow(operator).await;
        }
        let snapshot = match with_progress(session.limit, self.read(operator)).await {
            Err(ApiUnavailable::Absent(_)) => return Err(leftover::not_found(operator)),
            read => read?,
        };
        if snapshot.runs.is_empty() {
            leftover::ensure_exists(operator).await?;
            if self.pool().is_some()
                && let Some(pools) = operator.other_pools().await
            {
                return Err(leftover::unknown_pool(operator, &pools, "status").await);
            }
        }
        self.print(operator, &snapshot).await?;
        let mut is_wrong = is_wrong(&snapshot.runs);
        if snapshot.runs.is_empty()
            && let Some(left) = operator.temporary_pool().await
        {
            write(&format!("warning: {left}\nhint: pass its journal with `--journal`\n"));
            is_wrong = true;
        }
        Ok(u8::from(is_wrong && !self.exit_zero))
    }

    async fn read(&self, operator: &mut Operator) -> Result<Snapshot, ApiUnavailable> {
        let pools = match self.pool() {
            Some(pool) => vec![pool.to_owned()],
            None => operator.pools_with_journal().await?,
        };
        let mut snapshot = Snapshot { runs: Vec::new(), earlier: Vec::new(), journals: Vec::new() };
        for pool in pools {
            operator.select_pool(&pool);
            let status = operator.status().await?;
            if let Some(run) = &status.runs.last {
                // A journal of another cluster or pool shows nothing about this one.
                operator.own(run)?;
            }
            snapshot.runs.extend(run_status(&status));
            if self.all {
                snapshot.earlier.extend(earlier(&pool, &status));
            }
            snapshot.journals.push(status);
        }
        Ok(snapshot)
    }

    async fn print(
        &self,
        operator: &mut Operator,
        snapshot: &Snapshot,
    ) -> Result<(), CommandFailure> {
        let format = self.output.output;
        let is_yaml = format == AnswerFormat::Yaml;
        match format {
            AnswerFormat::Json | AnswerFormat::Yaml => {
                print_published(operator, RUN, &snapshot.content(), is_yaml).await
            }
            AnswerFormat::Markdown => {
                let mut text = String::new();
                for journal in &snapshot.journals {
                    let run = journal.runs.last.as_ref();
                    text.extend(run.map(|run| RunReport::of(run).markdown()));
                }
                print(text.as_bytes())
            }
            AnswerFormat::Name => print_names(snapshot.runs.iter().map(|run| run.subject.name())),
            AnswerFormat::Table | AnswerFormat::Wide => {
                print_screen(&self.screen(&operator.settings().target.cluster, snapshot))
            }
        }
    }

    fn screen(&self, cluster: &str, snapshot: &Snapshot) -> Screen {
        let is_wide = self.output.output == AnswerFormat::Wide;
        let mut screen =
            screens::runs(&snapshot.runs, cluster, Timestamp::now(), is_wide, &|pool| {
                self.target.repeated(pool)
            });
        for run in &snapshot.runs {
            if self.pool().is_some() || is_wide {
                screen.append(run_screen(run, cluster));
            } else if run.is_running() || run.is_stopped() {
                let about = format!("of pool {}", run.subject.name());
                mooring_workflow::screens::plan_hash(&mut screen, &about, &run.plan_hash);
            }
        }
        if !snapshot.earlier.is_empty() {
            screen.append(earlier_screen(&snapshot.earlier));
        }
        screen
    }

    async fn follow(&self, operator: &mut Operator) -> Result<u8, CommandFailure> {
        let cluster = operator.settings().target.cluster.clone();
        let read = async || {
            let snapshot = self.read(operator).await?;
            let content = snapshot.content();
            let identity = operator.identity().await;
            let sources = operator.sources();
            let line = published::line(&published::document(RUN, &identity, &sources, &content))?;
            let screen = self.screen(&cluster, &snapshot);
            Ok(RunsReading { runs: snapshot.runs, screen, line })
        };
        watch_runs(self.output.output, self.exit_zero, read).await
    }
}

/// Returns the runs before the last one, newest first.
fn earlier(pool: &str, status: &JournalStatus) -> Vec<Earlier> {
    let earlier = status.runs.past.iter().rev().map(|run| {
        let state = match run.finish {
            Finish::Complete | Finish::Partial => "repaired",
            Finish::NothingToDo => "nothing-to-do",
            Finish::Refused => "refused",
            Finish::Aborted => "aborted",
        };
        Earlier {
            pool: pool.to_owned(),
            run_id: run.id.clone(),
            state,
            started_at: run.started,
            last_at: run.last,
        }
    });
    earlier.collect()
}

fn earlier_screen(earlier: &[Earlier]) -> Screen {
    let mut table = Table::new([
        Column::left("POOL"),
        Column::left("EARLIER RUN"),
        Column::left("STATE"),
        Column::left("STARTED"),
        Column::left("ENDED").rank(1),
    ]);
    for run in earlier {
        let (started, last) = (format!("{:.0}", run.started_at), format!("{:.0}", run.last_at));
        table.row([&run.pool, &run.run_id, run.state, &started, &last].map(Text::new));
    }
    let mut screen = Screen::default();
    screen.blank();
    screen.table(table);
    screen
}
