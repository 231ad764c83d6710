//! `mooring repair status`: the runs of all pools, or of one.

use jiff::Timestamp;
use mooring_repair::runtime::{ApiUnavailable, Operator};
use mooring_repair::screens;
use mooring_terminal::{Column, Screen, Table, Text};
use mooring_workflow::screens::plan_hash;

use super::arguments::{RUN, StatusArguments};
use super::failures::{ensure_exists, not_found, unknown_pool};
use super::session::RepairSession;
use super::show::{EarlierRun, ShownRuns, run_screen};
use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::output::published;
use crate::workflows::runs::{RunsReading, is_wrong, watch_runs, with_progress, write};

impl StatusArguments {
    pub(crate) async fn run(&self, session: &mut RepairSession<'_>) -> Result<u8, CommandFailure> {
        let cluster = session.operator.settings().target.cluster.clone();
        if self.watch {
            return self.follow(&mut session.operator, &cluster).await;
        }
        let operator = &mut session.operator;
        let shown = match with_progress(session.limit, self.read(operator)).await {
            Err(ApiUnavailable::Absent(_)) => return Err(not_found(operator)),
            read => read?,
        };
        if shown.runs.is_empty() {
            ensure_exists(operator).await?;
            if self.target.pool.is_some()
                && let Some(pools) = operator.other_pools().await
            {
                return Err(unknown_pool(operator, &pools, "status").await);
            }
        }
        shown.print(session, self.output, |_| self.screen(&cluster, &shown)).await?;
        let mut is_wrong = is_wrong(&shown.runs);
        if shown.runs.is_empty()
            && let Some(left) = session.operator.temporary_pool().await
        {
            write(&format!("warning: {left}\nhint: pass its journal with `--journal`\n"));
            is_wrong = true;
        }
        // Without the pools of Azure, a temporary pool that is left is not known.
        Ok(match published::exit_code(&session.operator.sources()) {
            _ if is_wrong => u8::from(!self.exit_zero),
            code => code,
        })
    }

    async fn read(&self, operator: &mut Operator) -> Result<ShownRuns, ApiUnavailable> {
        let pools = match &self.target.pool {
            Some(pool) => vec![pool.clone()],
            None => operator.pools_with_journal().await?,
        };
        let mut shown = ShownRuns::default();
        for pool in pools {
            operator.select_pool(&pool);
            let journal = operator.status().await?;
            if let Some(run) = &journal.runs.last {
                // A journal of another cluster or pool shows nothing about this one.
                operator.own(run)?;
            }
            shown.add(&journal);
            if self.all {
                shown.add_earlier(&pool, &journal);
            }
        }
        Ok(shown)
    }

    fn screen(&self, cluster: &str, shown: &ShownRuns) -> Screen {
        let is_wide = self.output == AnswerFormat::Wide;
        let flags = |pool: &str| self.target.repeated(pool);
        let mut screen = screens::runs(&shown.runs, cluster, Timestamp::now(), is_wide, &flags);
        for run in &shown.runs {
            if self.target.pool.is_some() || is_wide {
                screen.append(run_screen(run, cluster));
            } else if run.is_running() || run.is_stopped() {
                let about = format!("of pool {}", run.subject.name());
                plan_hash(&mut screen, &about, &run.plan_hash);
            }
        }
        if !shown.earlier.is_empty() {
            screen.blank();
            screen.table(earlier_table(&shown.earlier));
        }
        screen
    }

    async fn follow(&self, operator: &mut Operator, cluster: &str) -> Result<u8, CommandFailure> {
        let read = async || {
            let shown = self.read(operator).await?;
            let identity = operator.identity().await;
            let sources = operator.sources();
            let document = published::document(RUN, &identity, &sources, shown.content());
            let (line, screen) = (published::line(&document)?, self.screen(cluster, &shown));
            Ok(RunsReading { runs: shown.runs, screen, line })
        };
        watch_runs(self.output, self.exit_zero, read).await
    }
}

fn earlier_table(earlier: &[EarlierRun]) -> Table {
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
    table
}
