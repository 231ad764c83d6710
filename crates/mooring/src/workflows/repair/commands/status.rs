//! `mooring repair status`: the runs of all pools, or of one.

use jiff::Timestamp;
use mooring_repair::history::summaries;
use mooring_repair::report::RunReport;
use mooring_repair::runtime::{ApiUnavailable, JournalStatus, Operator};
use mooring_repair::screens;
use mooring_repair::workflow::{RepairRun as _, Run};
use mooring_terminal::{Column, Screen, Table, Text};
use mooring_workflow::status::RunStatus;
use mooring_workflow::store::JournalPlace;

use crate::about::schema::{ensure_document, is_former};
use crate::output::failure::CommandFailure;
use crate::output::published;
use crate::output::show::{print, print_names};
use crate::output::{print_document, print_screen};
use crate::workflows::repair::formats::{RUN, RunFormat, StatusOutput};
use crate::workflows::repair::leftover;
use crate::workflows::repair::show::{
    Earlier, Flags, PublishedRun, RunContent, former_status, run_screen, run_status,
};
use crate::workflows::runs::{
    Frame, ReadLimit, WatchEnd, WatchRow, Watched, watch, with_progress, write,
};

pub(crate) struct Status<'a> {
    /// None for all pools.
    pub(crate) pool: Option<&'a str>,
    pub(crate) all: bool,
    pub(crate) watch: bool,
    pub(crate) exit_zero: bool,
    pub(crate) limit: Option<ReadLimit>,
    pub(crate) output: &'a StatusOutput,
    pub(crate) flags: Flags<'a>,
}

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
            let records = journal.map(|journal| journal.records.as_slice()).unwrap_or_default();
            runs.push(PublishedRun::new(run, records));
        }
        RunContent { runs, earlier: &self.earlier }
    }
}

impl Status<'_> {
    pub(crate) async fn run(&self, operator: &mut Operator) -> Result<u8, CommandFailure> {
        let format = self.output.output;
        let is_document = matches!(format, RunFormat::Json | RunFormat::Yaml);
        ensure_document(self.output.schema.as_deref(), is_document)?;
        if self.watch {
            return self.watch(operator).await;
        }
        let snapshot = match with_progress(self.limit, self.read(operator)).await {
            Err(ReadError::Unavailable(ApiUnavailable::Absent(_))) => {
                return Err(leftover::not_found(operator));
            }
            read => read?,
        };
        if snapshot.runs.is_empty() {
            leftover::ensure_exists(operator).await?;
            if self.pool.is_some()
                && let Some(pools) = operator.other_pools().await
            {
                return Err(leftover::unknown_pool(operator, &pools, "status"));
            }
        }
        leftover::warn_of_0_1(operator).await;
        self.print(operator, &snapshot).await?;
        let mut is_wrong = snapshot.runs.iter().any(RunStatus::is_stopped);
        if snapshot.runs.is_empty()
            && let Some(left) = operator.temporary_pool().await
        {
            write(&format!("warning: {left}\nhint: pass its journal with `--journal`\n"));
            is_wrong = true;
        }
        Ok(u8::from(is_wrong && !self.exit_zero))
    }

    async fn read(&self, operator: &mut Operator) -> Result<Snapshot, ReadError> {
        let pools = match self.pool {
            Some(pool) => vec![pool.to_owned()],
            None => operator.pools_with_journal().await?,
        };
        let mut snapshot = Snapshot { runs: Vec::new(), earlier: Vec::new(), journals: Vec::new() };
        for pool in pools {
            operator.select_pool(&pool);
            let status = operator.status().await?;
            if let Ok(Some(run)) = Run::replay(&status.records) {
                let is_file = matches!(operator.settings().journal, JournalPlace::File(_));
                if self.pool.is_none() && is_file {
                    operator.select_pool(run.pool());
                }
                // A journal of another cluster or pool shows nothing about this one.
                operator.own(&run).map_err(CommandFailure::io)?;
            }
            snapshot.runs.extend(run_status(&status)?);
            if self.all {
                snapshot.earlier.extend(earlier(&status));
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
        let is_yaml = format == RunFormat::Yaml;
        match format {
            RunFormat::Json | RunFormat::Yaml if is_former(self.output.schema.as_deref(), RUN) => {
                print_document(&former_status(snapshot.journals.first(), self.all)?, is_yaml)
            }
            RunFormat::Json | RunFormat::Yaml => {
                let content = snapshot.content();
                let identity = operator.identity().await;
                let document = published::document(RUN, &identity, operator.sources(), &content);
                print_document(&document, is_yaml)
            }
            RunFormat::Markdown => {
                let mut text = String::new();
                for journal in &snapshot.journals {
                    let report = RunReport::of(&journal.records)
                        .map_err(|error| CommandFailure::io(error.to_string()))?;
                    text.extend(report.map(|report| report.markdown()));
                }
                print(text.as_bytes())
            }
            RunFormat::Name => print_names(snapshot.runs.iter().map(|run| run.subject.name())),
            RunFormat::Table | RunFormat::Wide => {
                print_screen(&self.screen(&operator.settings().target.cluster, snapshot))
            }
        }
    }

    fn screen(&self, cluster: &str, snapshot: &Snapshot) -> Screen {
        let is_wide = self.output.output == RunFormat::Wide;
        let mut screen =
            screens::runs(&snapshot.runs, cluster, Timestamp::now(), is_wide, self.flags);
        if self.pool.is_some() || is_wide {
            for run in &snapshot.runs {
                screen.append(run_screen(run, cluster));
            }
        }
        if !snapshot.earlier.is_empty() {
            screen.append(earlier_screen(&snapshot.earlier));
        }
        screen
    }

    async fn watch(&self, operator: &mut Operator) -> Result<u8, CommandFailure> {
        let is_json = match self.output.output {
            RunFormat::Table | RunFormat::Wide => false,
            RunFormat::Json => true,
            RunFormat::Yaml | RunFormat::Markdown | RunFormat::Name => {
                return Err(CommandFailure::usage(
                    "--watch has no such format\nhint: use `-o table`, `wide` or `json`".to_owned(),
                ));
            }
        };
        if is_former(self.output.schema.as_deref(), RUN) {
            return Err(CommandFailure::usage(
                "--watch has no earlier shape\nhint: omit --schema".to_owned(),
            ));
        }
        let cluster = operator.settings().target.cluster.clone();
        let is_wide = self.output.output == RunFormat::Wide;
        let row = |run: &RunStatus, has_heads: bool| {
            mooring_workflow::screens::run_row(run, Timestamp::now(), is_wide, has_heads)
        };
        let mut is_stopped = false;
        let read = async || {
            let snapshot = self.read(operator).await.map_err(|error| error.text())?;
            is_stopped = snapshot.runs.iter().any(RunStatus::is_stopped);
            let content = snapshot.content();
            let identity = operator.identity().await;
            let document = published::document(RUN, &identity, operator.sources(), &content);
            let line = published::line(&document).map_err(|failure| failure.text().to_owned())?;
            let screen = self.screen(&cluster, &snapshot);
            Ok(Frame { screen, line, rows: WatchRow::of_runs(&snapshot.runs, row) })
        };
        match watch(read, Watched::JOURNAL, is_json).await? {
            WatchEnd::Interrupted => Ok(130),
            WatchEnd::Quit => Ok(u8::from(is_stopped && !self.exit_zero)),
        }
    }
}

enum ReadError {
    Unavailable(ApiUnavailable),
    Other(CommandFailure),
}

impl ReadError {
    fn text(&self) -> String {
        match self {
            Self::Unavailable(error) => error.why().to_owned(),
            Self::Other(failure) => failure.text().to_owned(),
        }
    }
}

impl From<ApiUnavailable> for ReadError {
    fn from(error: ApiUnavailable) -> Self {
        Self::Unavailable(error)
    }
}

impl From<CommandFailure> for ReadError {
    fn from(failure: CommandFailure) -> Self {
        Self::Other(failure)
    }
}

impl From<ReadError> for CommandFailure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Unavailable(error) => error.into(),
            ReadError::Other(failure) => failure,
        }
    }
}

/// Returns the runs before the last one.
fn earlier(status: &JournalStatus) -> Vec<Earlier> {
    let mut runs = summaries(&status.records);
    runs.pop();
    let state = |finish| {
        let text = serde_json::to_value(finish).ok();
        text.as_ref().and_then(|text| text.as_str()).unwrap_or("stopped").to_owned()
    };
    let earlier = runs.into_iter().rev().map(|run| Earlier {
        pool: run.pool,
        run_id: run.run,
        state: run.finish.map_or_else(|| "stopped".to_owned(), state),
        started_at: run.started,
        last_at: run.last,
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
        table.row([&run.pool, &run.run_id, &run.state, &started, &last].map(Text::new));
    }
    let mut screen = Screen::default();
    screen.blank();
    screen.table(table);
    screen
}
