//! A VM's instance view.

use serde::Deserialize;

use super::body::{StatusBody, lenient, listed};
use super::{Cse, Progress};
use crate::mode::{Mode, Role, role};

/// A VM with its extensions.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct VmSeen {
    /// Where the VM itself is.
    pub progress: Progress,
    /// Its extensions.
    pub extensions: Vec<Extension>,
    /// What the VM's own failed statuses say: code and text.
    pub failure: String,
}

/// One extension, as its resource and the instance view show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its name.
    pub name: String,
    /// What it is to us.
    pub role: Role,
    /// Where it is.
    pub progress: Progress,
    /// What it says.
    pub text: String,
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
    vm_agent: Agent,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Agent {
    #[serde(deserialize_with = "listed")]
    extension_handlers: Vec<Handler>,
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

impl VmSeen {
    /// From the VM with its instance view, or from the instance view alone.
    #[must_use]
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
        let stated = own.clone().map(|status| Progress::parse(&status.code)).next();
        let failed = own.filter(|status| Progress::parse(&status.code) == Progress::Failed);
        let failure: Vec<String> = failed
            .map(|status| {
                let code = status.code.rsplit('/').next().unwrap_or_default();
                format!("{code}: {}", status.message)
            })
            .collect();
        let progress = match Progress::parse(&properties.provisioning_state) {
            Progress::Unknown => stated.unwrap_or_default(),
            known => known,
        };
        Self { progress, extensions, failure: failure.join("\n") }
    }

    /// What the bootstrap's extension shows.
    #[must_use]
    pub fn cse(&self) -> Cse {
        let ours = self.extensions.iter().filter_map(|extension| match extension.role {
            Role::Cse(os) => Some((extension, os)),
            Role::Other => None,
        });
        // If there are several, one that failed explains most, and one that runs is not over.
        let rank = |extension: &Extension| match extension.progress {
            Progress::Failed => 0,
            Progress::Succeeded => 2,
            _ => 1,
        };
        let Some((extension, os)) = ours.min_by_key(|(extension, _)| rank(extension)) else {
            return match self.progress {
                Progress::Succeeded | Progress::Failed => Cse::Absent,
                _ => Cse::NotYet,
            };
        };
        match extension.progress {
            Progress::Succeeded => Cse::Succeeded { text: extension.text.clone(), os },
            Progress::Failed if extension.text.is_empty() => {
                Cse::Failed { text: self.failure.clone(), os }
            }
            Progress::Failed => Cse::Failed { text: extension.text.clone(), os },
            _ => Cse::Running,
        }
    }

    /// How the node is set up, given what its claim shows.
    #[must_use]
    pub fn mode(&self, claimed: Mode) -> Mode {
        if self.cse() == Cse::Absent { Mode::Scriptless } else { claimed }
    }
}

impl Extension {
    fn of(resource: Resource) -> Self {
        let Resource { name, properties } = resource;
        // The resource may be called `vm/extension`.
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        let role = role(&name, &properties.publisher, &properties.kind);
        let progress = Progress::parse(&properties.provisioning_state);
        Self { name, role, progress, text: String::new() }
    }

    fn of_view(view: View) -> Self {
        let role = role(&view.name, "", &view.kind);
        let mut extension = Self {
            name: view.name.clone(),
            role,
            progress: Progress::Unknown,
            text: String::new(),
        };
        extension.add(view);
        extension
    }

    /// The instance view is ahead of the resource, whose operation may still be called running.
    fn add(&mut self, view: View) {
        let mut seen = view.statuses.iter().map(|status| Progress::parse(&status.code));
        let seen = seen.rfind(|progress| *progress != Progress::Unknown);
        self.progress = match (self.progress, seen) {
            // The operation failed although the guest has no word of it: a time-out, for example.
            (Progress::Failed, Some(Progress::Running | Progress::Unknown) | None) => {
                Progress::Failed
            }
            (_, Some(seen)) => seen,
            (own, None) => own,
        };
        let texts = view.statuses.into_iter().chain(view.substatuses).map(|status| status.message);
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        self.text = texts.join("\n");
    }
}
