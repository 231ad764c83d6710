//! The same facts as we have recorded or implemented them.

use super::found;
use mooring_agent::environment::{self, ContainerdLayout, GpuImages};
use mooring_codes::{Os, Status};
use mooring_contract::NodeConfig;
use mooring_contract::node_config::{ENUMS, Label, MESSAGES};

use crate::upstream::found::Facts;

/// Checksums of upstream's files at the recordings' commit: 06836ee2301e of 2026-08-21.
const FILES: &str = include_str!("files.tsv");
const LAUNCHER: &str = include_str!("../../../packaging/aks-node-controller-launcher.sh");

/// What only our launcher has.
const OUR_LAUNCHER: [&str; 3] =
    ["command apply-embedded-hotfix", "variable EVENTS_DIR", "variable HOSTNAME_PATH"];

pub(super) fn contract() -> Facts {
    let fields = MESSAGES.iter().flat_map(|message| {
        message.fields.iter().map(|field| {
            let label = match field.label {
                Label::Implicit => "implicit",
                Label::Optional => "optional",
                Label::Repeated => "repeated",
                Label::Map => "map",
            };
            let fact = format!("{} {} {} {label}", field.number, field.json_name, field.value_type);
            (format!("{}.{}", message.name, field.name), fact)
        })
    });
    let values = ENUMS.iter().flat_map(|choice| {
        let values = choice.values.iter();
        values.map(|(number, name)| (format!("{}.{name}", choice.name), number.to_string()))
    });
    fields.chain(values).collect()
}

pub(super) fn codes(os: Os) -> Facts {
    let current =
        mooring_codes::all().filter(|code| code.os == os && code.status == Status::Current);
    let constants = current.filter(|code| code.name.starts_with(char::is_uppercase));
    constants.map(|code| (code.name.to_owned(), code.number.to_string())).collect()
}

/// Returns the variables of an empty config, which has all but certificates.
pub(super) fn variables() -> Facts {
    let gpu = GpuImages::default();
    let built = environment::build(&NodeConfig::default(), &gpu, ContainerdLayout::One, None);
    let names = built.map(|built| built.environment.names().map(str::to_owned).collect::<Vec<_>>());
    names.unwrap_or_default().into_iter().map(|name| (name, String::new())).collect()
}

/// Variables of the template that the agent does not set: other node types have them, or they are of the command itself.
const ONLY_TEMPLATE: [&str; 5] = [
    "BLOCK_OUTBOUND_NETWORK",
    "CLOUD_INIT_STATUS_SCRIPT",
    "HYPERKUBE_URL",
    "KUBELET_IMAGE",
    "MCR_REPOSITORY_BASE",
];
/// The template sets it for one program only.
const NOT_TEMPLATE: &str = "REPO_DEPOT_ENDPOINT";

pub(super) fn template() -> Facts {
    let mut facts = variables();
    facts.remove(NOT_TEMPLATE);
    facts.extend(ONLY_TEMPLATE.map(|name| (name.to_owned(), String::new())));
    facts
}

pub(super) fn launcher() -> Facts {
    let mut facts = found::launcher(LAUNCHER);
    facts.retain(|name, _| !OUR_LAUNCHER.contains(&name.as_str()));
    facts
}

pub(super) fn behavior() -> Facts {
    let lines = FILES.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(path, checksum)| (path.to_owned(), checksum.to_owned())).collect()
}
