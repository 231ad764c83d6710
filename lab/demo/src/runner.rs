//! Runs a scenario from start to cleanup.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::environment::{DemoEnvironment, DemoOptions, POLL_INTERVAL};
use crate::error::DemoError;
use crate::host::workdir::Workdir;
use crate::host::{files, processes};
use crate::present::output::{DemoMark, Output, seconds};
use crate::present::report;
use crate::present::result::StageResult;
use crate::scenario::{NodeEnd, ScenarioStage, StepSpec};

/// Runs a scenario; `stop` ends it at any time. Nothing that was started outlives this.
pub async fn run(
    options: &DemoOptions,
    output: &mut Output,
    stop: impl Future<Output = ()>,
) -> Result<(), DemoError> {
    let mut workdir = Workdir::new(options.out.as_deref())?;
    let mut stop = std::pin::pin!(stop);
    let outcome = {
        let result = run_stages(options, output, &workdir);
        let mut result = std::pin::pin!(result);
        tokio::select! {
            outcome = &mut result => outcome,
            () = &mut stop => Err(DemoError::Interrupted),
        }
    };
    let ended = match outcome {
        Ok(environment) => {
            if options.keep {
                stop.await;
            }
            // Stops the clouds and the controller.
            drop(environment);
            Ok(())
        }
        Err(error) => Err(error),
    };
    if let Err(DemoError::Unmet(_) | DemoError::Broken(_)) = &ended {
        workdir.keep();
    }
    // Nodes may have processes in separate process groups, and VMs that are being created continue for a moment: both
    // write into the directory while they live.
    let mut quiet = 0;
    for _ in 0..200 {
        let left = processes::sweep(&workdir.directory);
        quiet = if left == 0 && workdir.clear() { quiet + 1 } else { 0 };
        if quiet == 2 {
            break;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    ended
}

/// Runs the stages. Returns the environment, so that it can be kept open.
async fn run_stages<'v>(
    options: &DemoOptions,
    output: &'v mut Output,
    workdir: &Workdir,
) -> Result<DemoEnvironment<'v>, DemoError> {
    let began = Instant::now();
    let DemoOptions { scenario, name, .. } = options;
    let speed = scenario.speed * options.speed;
    output.plain(&format!("mooring-lab demo: {name}"));
    output.plain(scenario.description.trim());
    output.plain(&scenario.what_is_real());
    output.plain(&format!("Time runs {speed} times faster than in Azure."));
    output.heading(1, "Azure, a cluster and Karpenter");
    let mut environment = DemoEnvironment::set(options, &workdir.directory, output)
        .await
        .map_err(|error| stage_failed(error, 1, &workdir.directory))?;
    let took = began.elapsed();
    environment
        .result
        .stages
        .push(StageResult { title: "Azure, a cluster and Karpenter".to_owned(), took });
    for (number, stage) in (2..).zip(&scenario.stages) {
        run_stage(&mut environment, number, stage, options.speed)
            .await
            .map_err(|error| stage_failed(error, number, &workdir.directory))?;
    }
    let nodes = environment.result.nodes.iter();
    let left: Vec<_> =
        nodes.map(|node| node.root.as_deref().map(files::left_by).unwrap_or_default()).collect();
    let page = report::page(name, scenario, &environment.result, &left);
    files::replace(&workdir.report, &page).map_err(|error| {
        DemoError::Broken(format!(
            "cannot write the report {}: {error}\nhint: `--out DIR` names a directory for it",
            workdir.report.display()
        ))
    })?;
    end(&mut environment, workdir, began.elapsed(), options);
    Ok(environment)
}

async fn run_stage(
    environment: &mut DemoEnvironment<'_>,
    number: usize,
    stage: &ScenarioStage,
    faster: f64,
) -> Result<(), DemoError> {
    let began = Instant::now();
    environment.output.heading(number, &stage.title);
    if let Some(speed) = stage.speed {
        environment.set_speed(speed * faster);
        environment.output.print(
            DemoMark::Note,
            &format!("time runs {} times faster from here on", speed * faster),
        );
    }
    let limit = Duration::from_secs(stage.limit_seconds);
    let steps = async {
        for step in &stage.steps {
            run_step(environment, step).await?;
        }
        Ok(())
    };
    tokio::time::timeout(limit, steps)
        .await
        .map_err(|_| DemoError::Broken(format!("it was not over after {}", seconds(limit))))??;
    let result = StageResult { title: stage.title.clone(), took: began.elapsed() };
    environment.result.stages.push(result);
    Ok(())
}

async fn run_step(environment: &mut DemoEnvironment<'_>, step: &StepSpec) -> Result<(), DemoError> {
    match step {
        StepSpec::Boot(boot) => environment.boot(boot).await,
        StepSpec::Describe(describe) => environment.describe(describe).await,
        StepSpec::Why(why) => environment.why(why).await,
        StepSpec::Fleet(fleet) => environment.fleet(fleet).await,
        StepSpec::Wedge(wedge) => environment.wedge(wedge),
        StepSpec::Fault(fault) => {
            environment.fault(fault);
            Ok(())
        }
        StepSpec::Delete(delete) => environment.delete(delete).await,
        StepSpec::Detect(detect) => environment.detect(detect).await,
        StepSpec::Plan {} => environment.plan().await,
        StepSpec::Apply(apply) => environment.apply(apply).await,
        StepSpec::Resume(resume) => environment.resume(resume).await,
    }
}

/// Adds the stage number and the directory of the logs to an error.
fn stage_failed(error: DemoError, number: usize, directory: &Path) -> DemoError {
    let logs = directory.join("logs");
    error.with(&format!("\nstage {number} failed; logs: {}", logs.display()))
}

/// Prints the results, and where to find more.
fn end(
    environment: &mut DemoEnvironment<'_>,
    workdir: &Workdir,
    took: Duration,
    options: &DemoOptions,
) {
    let stages = environment.result.stages.clone();
    let lines = environment.result.summary();
    let failed = environment.result.last(NodeEnd::Failed).cloned();
    let joined = environment.result.last(NodeEnd::Joined).cloned();
    let booted = environment.result.nodes.iter().rev().find_map(|node| node.root.clone());
    let page = environment.page.clone();
    let repaired = !environment.result.repair.is_empty();
    let output = &mut *environment.output;
    output.heading(stages.len() + 1, "What happened");
    for line in lines {
        output.print(DemoMark::Good, &line);
    }
    let times: Vec<String> = stages
        .iter()
        .zip(1..)
        .map(|(stage, number)| format!("{number}: {}", seconds(stage.took)))
        .collect();
    output
        .print(DemoMark::Note, &format!("{} in all (stages {})", seconds(took), times.join(", ")));
    output.print(DemoMark::Note, &format!("report: {}", workdir.report.display()));
    output.plain("");
    let stays = options.keep || workdir.stays();
    if options.keep {
        let azure = workdir.directory.join("azure");
        output.plain("Everything stays open until Ctrl-C. In another terminal:");
        output.plain(&format!("  PATH={}:$PATH", workdir.directory.join("bin").display()));
        output.plain(&format!("  . {}", azure.join("env.sh").display()));
        output.plain(&format!(
            "  kubectl --kubeconfig {} describe nodepool default",
            azure.join("kubeconfig").display()
        ));
        if let Some(node) = &joined {
            output.plain(&format!("  kubectl describe nodeclaim {}", node.claim));
        }
        if let Some(node) = &failed {
            output.plain(&format!("  mooring why {}", node.claim));
        }
        output.plain("  mooring fleet");
        if let Some(page) = page {
            output.plain(&format!("  {page} in a browser: the live page"));
        }
        if repaired {
            output.plain("  mooring repair status");
        }
    } else {
        output.plain(
            "To look further: `mooring-lab demo --keep` holds everything open for kubectl and mooring,",
        );
        output.plain("`mooring-lab demo --out DIR` keeps nodes and logs, `mooring-lab demo --list` lists other scenarios.");
    }
    if let Some(root) = booted.filter(|_| stays) {
        output.plain(&format!("  mooring trace {}", root.display()));
    }
}
