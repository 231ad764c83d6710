//! Comparison of a config with the NBC command that ran.

use std::ffi::OsString;
use std::path::Path;

use super::command::{build, check_version, read_config};
use crate::cli::ProvisionFlags;
use crate::format::event::{EventLevel, Task};
use crate::format::go_text::read_failure;
use crate::node::agent::Agent;
use crate::node::compare::{self, ConfigComparison};
use crate::node::host_info::ContainerdProbe;
use crate::node::log::LogValue::Text;
use crate::node::nbc;
use crate::node::secrets::MAX_FILE_BYTES;

/// Logs the differences between the config and the NBC command. Best effort: the result of the
/// bootstrap does not change.
pub(super) fn compare(agent: &mut Agent<'_>, flags: &ProvisionFlags) {
    let (Some(config), Some(nbc)) = (&flags.config, &flags.nbc_command) else { return };
    agent.info("ProvisionConfig and NBCCmd both provided, comparing envs", &[]);
    match compared(agent, config, nbc) {
        Ok(comparison) => {
            agent.info(&comparison.log_message(), &[]);
            let (event, now) = (comparison.event_message(), agent.world.now());
            agent.event(Task::CompareEnvs, EventLevel::Informational, &event, now);
        }
        Err(error) => agent.error(
            "compareEnvs: failed to build cmd from provision config",
            &[("error", Text(&error))],
        ),
    }
}

fn compared(agent: &mut Agent<'_>, config: &Path, nbc: &Path) -> Result<ConfigComparison, String> {
    let containerd = ContainerdProbe::start(agent.world);
    let config = read_config(agent, config)?;
    check_version(agent, &config)?;
    let environment = build(agent, &config, containerd)?.map_err(|error| error.to_string())?;
    let text = agent.world.read(nbc, MAX_FILE_BYTES);
    let text = text.map_err(|failure| read_failure(nbc, &failure))?;
    let inherited: Vec<(String, String)> =
        agent.world.environment().into_iter().filter_map(text_pair).collect();
    let inherited = inherited.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Ok(compare::compare(environment.expose_all(), inherited, &nbc::assignments(&text)))
}

fn text_pair((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}
