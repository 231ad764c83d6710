//! Runs the checks and prints their results.

use super::catalog::CHECKS;
use super::check::{Result, first_fatal, run};
use super::facts::{ConfigState, PreflightFacts};
use super::{network, show};
use crate::cli::{OutputFormat, PreflightFlags, PreflightStage};
use crate::node::paths::Layout;
use crate::world::{Stream, World};

pub(crate) fn preflight(
    world: &mut dyn World,
    layout: &Layout,
    version: &'static str,
    flags: &PreflightFlags,
) -> u8 {
    let config = ConfigState::read(world, layout, flags.config.as_deref());
    let facts = PreflightFacts {
        stage: flags.stage,
        layout,
        version,
        config,
        imds: flags.network.as_ref(),
    };
    let mut results = run(world, &facts, CHECKS);
    if flags.network.is_some() {
        results.extend(network::run(world, &facts));
    }
    let exit_code = exit_code(flags.stage, &results);
    let text = match flags.format {
        OutputFormat::Table => show::table(flags.stage, &results),
        OutputFormat::Json => show::json(flags.stage, exit_code, &results),
    };
    world.print(Stream::Out, text.as_bytes());
    exit_code
}

fn exit_code(stage: PreflightStage, results: &[Result]) -> u8 {
    match (first_fatal(results), stage) {
        (None, _) => 0,
        (Some(_), PreflightStage::Image) => 1,
        (Some((check, _)), PreflightStage::Node) => {
            check.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
        }
    }
}
