//! Status of a VM from its instance view.

use mooring_codes::Os;
use serde::Deserialize;

use super::body::{StatusBody, lenient, listed};
use super::progress::ProvisioningState;
use crate::claim::mode::{Role, is_known_name, role};

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct VmObservation {
    pub progress: ProvisioningState,
    pub extensions: Vec<Extension>,
    /// Failed statuses of the VM: code and text.
    pub failure: String,
    pub power: Power,
    pub agent: AgentState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CseState {
    /// The VM is not ready for extensions yet.
    NotYet,
    /// The VM is ready and has none.
    Absent,
    Running,
    /// Succeeded by its status; its text may report otherwise.
    Succeeded {
        text: String,
        os: Os,
    },
    Failed {
        text: String,
        os: Os,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Power {
    #[default]
    Unknown,
    Running,
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AgentState {
    #[default]
    Unknown,
    Ready,
    Silent,
}

/// An extension, from its resource and the instance view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub name: String,
    pub role: Role,
    pub progress: ProvisioningState,
    pub text: String,
    /// True if the resource is being updated after it was created, for example its tags.
    pub updating: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    #[serde(deserialize_with = "lenient")]
    properties: Properties,
    #[serde(deserialize_with = "listed")]
    resources: Vec<Resource>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Properties {
    #[serde(deserialize_with = "lenient")]
    provisioning_state: String,
    #[serde(deserialize_with = "lenient")]
    instance_view: InstanceView,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct InstanceView {
    #[serde(deserialize_with = "listed")]
    extensions: Vec<View>,
    #[serde(deserialize_with = "listed")]
    statuses: Vec<StatusBody>,
    #[serde(deserialize_with = "lenient")]
    vm_agent: AgentBody,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AgentBody {
    #[serde(deserialize_with = "listed")]
    extension_handlers: Vec<Handler>,
    #[serde(deserialize_with = "listed")]
    statuses: Vec<StatusBody>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Handler {
    #[serde(rename = "type", deserialize_with = "lenient")]
    kind: String,
    #[serde(deserialize_with = "lenient")]
    status: StatusBody,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct View {
    #[serde(deserialize_with = "lenient")]
    name: String,
    #[serde(rename = "type", deserialize_with = "lenient")]
    kind: String,
    #[serde(deserialize_with = "listed")]
    statuses: Vec<StatusBody>,
    #[serde(deserialize_with = "listed")]
    substatuses: Vec<StatusBody>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resource {
    #[serde(deserialize_with = "lenient")]
    name: String,
    #[serde(deserialize_with = "lenient")]
    properties: ResourceProperties,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResourceProperties {
    #[serde(deserialize_with = "lenient")]
    publisher: String,
    #[serde(rename = "type", deserialize_with = "lenient")]
    kind: String,
    #[serde(deserialize_with = "lenient")]
    provisioning_state: String,
}

impl VmObservation {
    /// Parses a VM with its instance view, or an instance view alone.
    pub fn parse(json: &[u8]) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_slice(json).ok()?;
        let object = value.as_object()?;
        if object.contains_key("properties") {
            return Some(Self::of(serde_json::from_value(value).ok()?));
        }
        let instance_view: InstanceView = serde_json::from_value(value).ok()?;
        let properties = Properties { instance_view, ..Properties::default() };
        Some(Self::of(Body { properties, resources: Vec::new() }))
    }

    fn of(body: Body) -> Self {
        let Body { properties, resources } = body;
        let InstanceView { extensions: views, statuses, vm_agent } = properties.instance_view;
        let mut extensions: Vec<Extension> = resources
            .into_iter()
            .filter(|r| !r.properties.kind.is_empty())
            .map(Extension::of)
            .collect();
        for view in views {
            let known =
                extensions.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&view.name));
            match known {
                Some(known) => known.add(view),
                None => extensions.push(Extension::of_view(view)),
            }
        }
        for extension in &mut extensions {
            let handler = vm_agent.extension_handlers.iter().find(|handler| {
                extension.text.is_empty() && role("", "", &handler.kind) == extension.role
            });
            if let Some(handler) = handler.filter(|_| extension.role != Role::Other) {
                extension.text.clone_from(&handler.status.message);
            }
        }
        let own = statuses
            .iter()
            .filter(|status| status.code.to_ascii_lowercase().starts_with("provisioningstate/"));
        let stated = own.clone().map(|status| ProvisioningState::parse(&status.code)).next();
        let failed = own
            .filter(|status| ProvisioningState::parse(&status.code) == ProvisioningState::Failed);
        let failure: Vec<String> = failed
            .map(|status| {
                let code = status.code.rsplit('/').next().unwrap_or_default();
                format!("{code}: {}", status.message)
            })
            .collect();
        let progress = match ProvisioningState::parse(&properties.provisioning_state) {
            ProvisioningState::Unknown => stated.unwrap_or_default(),
            known => known,
        };
        let power = power_of(&statuses);
        let agent = agent_of(&vm_agent.statuses, &extensions, power);
        Self { progress, extensions, failure: failure.join("\n"), power, agent }
    }

    /// Returns the extensions that may run the bootstrap: by name, else by type and report. Policies and
    /// other products add a separate `CustomScript`, which reports no bootstrap.
    fn scripts(&self) -> impl Iterator<Item = (&Extension, Os)> {
        let is_named =
            |extension: &Extension| extension.role != Role::Other && is_known_name(&extension.name);
        let named = self.extensions.iter().any(is_named);
        self.extensions.iter().filter_map(move |extension| match extension.role {
            Role::Cse(os) if is_named(extension) => Some((extension, os)),
            Role::Cse(os) if !named && extension.text.contains("ExitCode") => Some((extension, os)),
            _ => None,
        })
    }

    /// Returns true if the bootstrap extension is being updated after its creation. The bootstrap of a
    /// registered node has finished then, regardless of the state shown.
    pub fn is_updating(&self) -> bool {
        self.scripts().any(|(extension, _)| extension.updating)
    }

    pub fn cse(&self) -> CseState {
        let scripts = self.scripts();
        // Of several, a failed one explains most, and a running one has not finished.
        let rank = |extension: &Extension| match extension.progress {
            ProvisioningState::Failed => 0,
            ProvisioningState::Succeeded => 2,
            _ => 1,
        };
        let first = scripts.min_by_key(|(extension, _)| (rank(extension), extension.name.as_str()));
        let Some((extension, os)) = first else {
            return match self.progress {
                ProvisioningState::Succeeded | ProvisioningState::Failed => CseState::Absent,
                _ => CseState::NotYet,
            };
        };
        match extension.progress {
            ProvisioningState::Succeeded => {
                CseState::Succeeded { text: extension.text.clone(), os }
            }
            ProvisioningState::Failed if extension.text.is_empty() => {
                CseState::Failed { text: self.failure.clone(), os }
            }
            ProvisioningState::Failed => CseState::Failed { text: extension.text.clone(), os },
            _ => CseState::Running,
        }
    }
}

fn power_of(statuses: &[StatusBody]) -> Power {
    let codes = statuses.iter().map(|status| status.code.to_ascii_lowercase());
    let power =
        codes.filter_map(|code| code.strip_prefix("powerstate/").map(str::to_owned)).next_back();
    match power.as_deref() {
        Some("running") => Power::Running,
        Some("stopping" | "stopped" | "deallocating" | "deallocated") => Power::Stopped,
        _ => Power::Unknown,
    }
}

/// An extension that succeeded shows that the agent works, regardless of the agent's later status.
fn agent_of(statuses: &[StatusBody], extensions: &[Extension], power: Power) -> AgentState {
    let ready = statuses
        .iter()
        .any(|status| ProvisioningState::parse(&status.code) == ProvisioningState::Succeeded);
    let worked =
        extensions.iter().any(|extension| extension.progress == ProvisioningState::Succeeded);
    match (ready || worked, power) {
        (true, _) => AgentState::Ready,
        // A running VM is shown with its agent, if the agent reports.
        (false, Power::Running) => AgentState::Silent,
        (false, _) => AgentState::Unknown,
    }
}

impl Extension {
    fn of(resource: Resource) -> Self {
        let Resource { name, properties } = resource;
        // The resource may be named `vm/extension`.
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        let role = role(&name, &properties.publisher, &properties.kind);
        let progress = ProvisioningState::parse(&properties.provisioning_state);
        let updating = properties.provisioning_state.eq_ignore_ascii_case("Updating");
        Self { name, role, progress, text: String::new(), updating }
    }

    fn of_view(view: View) -> Self {
        let role = role(&view.name, "", &view.kind);
        let mut extension = Self {
            name: view.name.clone(),
            role,
            progress: ProvisioningState::Unknown,
            text: String::new(),
            updating: false,
        };
        extension.add(view);
        extension
    }

    /// Merges the instance view, which is newer than the resource: its operation may still be running.
    fn add(&mut self, view: View) {
        let mut seen = view.statuses.iter().map(|status| ProvisioningState::parse(&status.code));
        let seen = seen.rfind(|progress| *progress != ProvisioningState::Unknown);
        self.progress = match (self.progress, seen) {
            // The operation failed without a report from the guest, for example by a timeout.
            (
                ProvisioningState::Failed,
                Some(ProvisioningState::Running | ProvisioningState::Unknown) | None,
            ) => ProvisioningState::Failed,
            (_, Some(seen)) => seen,
            (own, None) => own,
        };
        let texts = view.statuses.into_iter().chain(view.substatuses).map(|status| status.message);
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        self.text = texts.join("\n");
    }
}
