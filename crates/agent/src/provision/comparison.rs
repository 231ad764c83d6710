//! Comparison of a config with the NBC command that ran.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::command::{build, check_version, read_config};
use crate::cli::ProvisionFlags;
use crate::format::event::{EventLevel, Task};
use crate::format::go_text::read_failure;
use crate::node::agent::Agent;
use crate::node::log::LogValue;
use crate::node::secrets::MAX_FILE_BYTES;
use crate::node::{compare, nbc};

/// Logs the differences between the config and the NBC command. Best effort: the result of the
/// bootstrap does not change.
pub(super) fn compare(agent: &mut Agent<'_>, flags: &ProvisionFlags) {
    let (Some(config), Some(nbc)) = (&flags.config, &flags.nbc_command) else { return };
    agent.info("ProvisionConfig and NBCCmd both provided, comparing envs", &[]);
    let built = read_config(agent, config).and_then(|config| {
        check_version(agent, &config)?;
        build(agent, &config)
    });
    let environment = match built {
        Ok(Ok(environment)) => environment,
        Ok(Err(error)) => return log_failed_comparison(agent, &error.to_string()),
        Err(error) => return log_failed_comparison(agent, &error),
    };
    let text = match agent.world.read(nbc, MAX_FILE_BYTES) {
        Ok(text) => text,
        Err(failure) => return log_failed_comparison(agent, &read_failure(nbc, &failure)),
    };
    let inherited: BTreeMap<String, String> =
        agent.world.environment().into_iter().filter_map(text_pair).collect();
    let inherited = inherited.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let comparison =
        compare::compare(environment.expose_all(), inherited, &nbc::assignments(&text));
    let (message, event) = (comparison.log_message(), comparison.event_message());
    agent.info(&message, &[]);
    let now = agent.world.now();
    agent.event(Task::CompareEnvs, EventLevel::Informational, &event, now);
}

fn text_pair((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

fn log_failed_comparison(agent: &mut Agent<'_>, error: &str) {
    agent.error(
        "compareEnvs: failed to build cmd from provision config",
        &[("error", LogValue::Text(error))],
    );
}
