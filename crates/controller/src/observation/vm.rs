//! Status of a VM from its instance view.

use jiff::Timestamp;
use mooring_arm::calls::{
    ExtensionView, InstanceView, Machine, ProvisioningError, Vm, VmExtension, VmStatus,
};
use mooring_codes::Os;
use mooring_nodes::claim::{Role, is_known_name, role};
use mooring_nodes::verdict::registration::{AgentState, Power, VmState};

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

/// An extension, from its resource and the instance view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub name: String,
    pub role: Role,
    pub progress: ProvisioningState,
    pub text: String,
    /// Time of its status.
    pub at: Option<Timestamp>,
    /// True if the resource is being updated after it was created, for example its tags.
    pub updating: bool,
}

impl VmObservation {
    #[must_use]
    pub fn of(vm: &Vm) -> Self {
        let unseen = InstanceView::default();
        let view = vm.properties.instance_view.as_ref().unwrap_or(&unseen);
        let resources = vm.resources.iter();
        let mut extensions: Vec<Extension> = resources
            .filter(|resource| !resource.properties.kind.is_empty())
            .map(Extension::of)
            .collect();
        for view in &view.extensions {
            let name = &view.name;
            match extensions.iter_mut().find(|known| known.name.eq_ignore_ascii_case(name)) {
                Some(known) => known.add(view),
                None => extensions.push(Extension::of_view(view)),
            }
        }
        let handlers = || view.vm_agent.iter().flat_map(|agent| &agent.extension_handlers);
        for extension in extensions.iter_mut().filter(|one| one.text.is_empty()) {
            let handler = handlers().find(|handler| role("", "", &handler.kind) == extension.role);
            if let Some(handler) = handler.filter(|_| extension.role != Role::Other) {
                extension.text.clone_from(&handler.status.message);
            }
        }
        let own = view
            .statuses
            .iter()
            .filter(|status| status.code.to_ascii_lowercase().starts_with("provisioningstate/"));
        let stated = own.clone().map(progress_of).next();
        let failed = own.filter(|status| progress_of(status) == ProvisioningState::Failed);
        let failure: Vec<String> = failed
            .map(|VmStatus { code, message, .. }| {
                format!("{}: {message}", code.rsplit('/').next().unwrap_or_default())
            })
            .collect();
        let progress = match ProvisioningState::parse(&vm.properties.provisioning_state) {
            ProvisioningState::Unknown => stated.unwrap_or_default(),
            known => known,
        };
        let power = power_of(view);
        let agent = agent_of(view, &extensions, power);
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

    /// Returns the extension that shows most of the bootstrap: of several, a failed one explains most, and a
    /// running one has not finished.
    fn script(&self) -> Option<(&Extension, Os)> {
        let rank = |extension: &Extension| match extension.progress {
            ProvisioningState::Failed => 0,
            ProvisioningState::Succeeded => 2,
            _ => 1,
        };
        self.scripts().min_by_key(|(extension, _)| (rank(extension), extension.name.as_str()))
    }

    /// Returns what shows why a node does not register.
    pub fn state(&self) -> VmState {
        let cse = self.cse();
        VmState {
            power: self.power,
            agent: self.agent,
            lacks_extension: cse == CseState::Absent,
            runs_extension: cse == CseState::Running,
        }
    }

    /// Returns when the bootstrap ended: by the status of its extension, else by the report in its text.
    pub fn ended_at(&self) -> Option<Timestamp> {
        let (extension, _) = self.script()?;
        extension.at.or_else(|| mooring_trace::ended_at(&extension.text))
    }

    pub fn cse(&self) -> CseState {
        let Some((extension, os)) = self.script() else {
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

fn progress_of(status: &VmStatus) -> ProvisioningState {
    ProvisioningState::parse(&status.code)
}

fn power_of(view: &InstanceView) -> Power {
    let codes = view.statuses.iter().rev().map(|status| status.code.to_ascii_lowercase());
    let mut power = codes.filter_map(|code| code.strip_prefix("powerstate/").map(str::to_owned));
    match power.next().as_deref() {
        Some("running") => Power::Running,
        Some("stopping" | "stopped" | "deallocating" | "deallocated") => Power::Stopped,
        _ => Power::Unknown,
    }
}

/// An extension that succeeded shows that the agent works, regardless of the agent's later status.
fn agent_of(view: &InstanceView, extensions: &[Extension], power: Power) -> AgentState {
    let mut statuses = view.vm_agent.iter().flat_map(|agent| &agent.statuses);
    let ready = statuses.any(|status| progress_of(status) == ProvisioningState::Succeeded);
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
    fn of(VmExtension { name, properties }: &VmExtension) -> Self {
        let name = name.rsplit('/').next().unwrap_or_default();
        let role = role(name, &properties.publisher, &properties.kind);
        Self::new(name, role, &properties.provisioning_state)
    }

    fn of_view(view: &ExtensionView) -> Self {
        let mut extension = Self::new(&view.name, role(&view.name, "", &view.kind), "");
        extension.add(view);
        extension
    }

    fn new(name: &str, role: Role, state: &str) -> Self {
        Self {
            name: name.to_owned(),
            role,
            progress: ProvisioningState::parse(state),
            text: String::new(),
            at: None,
            updating: state.eq_ignore_ascii_case("Updating"),
        }
    }

    /// Merges the instance view, which is newer than the resource: its operation may still be running.
    fn add(&mut self, view: &ExtensionView) {
        let is_known = |status: &&VmStatus| progress_of(status) != ProvisioningState::Unknown;
        let known = view.statuses.iter().rfind(is_known);
        let seen = known.map(progress_of);
        self.at = known.and_then(|status| status.time.parse().ok());
        self.progress = match (self.progress, seen) {
            // The operation failed without a report from the guest, for example by a timeout.
            (ProvisioningState::Failed, Some(ProvisioningState::Running) | None) => {
                ProvisioningState::Failed
            }
            (_, Some(seen)) => seen,
            (own, None) => own,
        };
        let texts = view.statuses.iter().chain(&view.substatuses);
        let texts: Vec<&str> =
            texts.map(|status| &*status.message).filter(|text| !text.is_empty()).collect();
        self.text = texts.join("\n");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProvisioningState {
    /// Absent, or a state that is not known.
    #[default]
    Unknown,
    /// Being created or updated.
    Running,
    Succeeded,
    Failed,
    Deleting,
}

impl ProvisioningState {
    /// Parses a `provisioningState` or a status code such as `ProvisioningState/failed/50`.
    #[must_use]
    pub fn parse(state: &str) -> Self {
        let lower = state.to_ascii_lowercase();
        let state = lower.strip_prefix("provisioningstate/").unwrap_or(&lower);
        match state.split('/').next().unwrap_or_default() {
            "succeeded" => Self::Succeeded,
            "failed" | "canceled" => Self::Failed,
            "creating" | "updating" | "transitioning" | "migrating" | "accepted" | "running" => {
                Self::Running
            }
            "deleting" | "deprovisioning" => Self::Deleting,
            _ => Self::Unknown,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MachineStatus {
    pub name: String,
    pub progress: ProvisioningState,
    /// Provisioning error, innermost first: codes and texts; empty if none.
    pub error: String,
}

impl MachineStatus {
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let Machine { name, properties } = machine;
        let mut texts = Vec::new();
        if let Some(error) = &properties.status.provisioning_error {
            collect(error, 0, &mut texts);
        }
        let progress = ProvisioningState::parse(&properties.provisioning_state);
        Self { name: name.clone(), progress, error: texts.join("\n") }
    }
}

/// Details contain what the outer text summarizes. Azure nests a few levels; deeper ones are ignored.
fn collect(error: &ProvisioningError, depth: usize, texts: &mut Vec<String>) {
    if depth < 4 {
        error.details.iter().take(8).for_each(|detail| collect(detail, depth + 1, texts));
    }
    let ProvisioningError { code, message, .. } = error;
    if !code.is_empty() || !message.is_empty() {
        texts.push(format!("code={code}, message={message}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn error_of(error: &Value) -> String {
        let body = json!({"properties": {"status": {"provisioningError": error}}});
        MachineStatus::of(&serde_json::from_value(body).unwrap()).error
    }

    #[test]
    fn details_of_an_error_come_first_down_to_a_depth() {
        let mut error = json!({"code": "level-6"});
        for level in (0..6).rev() {
            error = json!({"code": format!("level-{level}"), "details": [error]});
        }
        let levels = [4, 3, 2, 1, 0].map(|level| format!("code=level-{level}, message="));
        assert_eq!(error_of(&error), levels.join("\n"));
        let wide: Vec<Value> =
            (0..9).map(|number| json!({"message": number.to_string()})).collect();
        let found = error_of(&json!({"details": wide}));
        assert_eq!(found.lines().count(), 8);
        assert_eq!(found.lines().last(), Some("code=, message=7"));
        assert_eq!(error_of(&json!({"message": "m"})), "code=, message=m");
        assert_eq!(error_of(&json!({})), "");
    }
}
