//! Who may do what.

use serde::{Deserialize, Serialize};

use super::call::Call;
use super::error::ArmError;
use super::world::World;

/// Something that a principal, or everybody, may not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Denial {
    /// The object id of the principal; without it, everybody.
    #[serde(default)]
    pub principal: Option<String>,
    /// The action, in which a `*` at the end stands for anything: `Microsoft.Insights/*`.
    pub action: String,
    /// The beginning of the scope, such as a resource group's id; without it, everywhere.
    #[serde(default)]
    pub scope: Option<String>,
}

impl Denial {
    fn is_about(&self, principal: &str, action: &str, scope: &str) -> bool {
        let (wanted, action) = (self.action.to_lowercase(), action.to_lowercase());
        let fits = match wanted.strip_suffix('*') {
            Some(beginning) => action.starts_with(beginning),
            None => action == wanted,
        };
        let under = self
            .scope
            .as_ref()
            .is_none_or(|under| scope.to_lowercase().starts_with(&under.to_lowercase()));
        fits && under && self.principal.as_deref().is_none_or(|denied| denied == principal)
    }
}

/// Reading a node image, which a write of a whole scale set needs as well.
const IMAGE_READ: &str = "Microsoft.Compute/galleries/images/versions/read";

impl World {
    /// Refuses a call that its principal may not make.
    pub(crate) fn authorize(&self, call: &Call) -> Result<(), ArmError> {
        let action = action_of(call);
        let scope = format!("/{}", call.path.segments.join("/"));
        let denied = |action: &str| {
            self.denials.iter().any(|denial| denial.is_about(&call.principal, action, &scope))
        };
        if denied(&action) {
            let who = &call.principal;
            return Err(ArmError::new(
                403,
                "AuthorizationFailed",
                format!(
                    "The client '{who}' with object id '{who}' does not have authorization to perform action '{action}' over scope '{scope}' or the scope is invalid. If access was recently granted, please refresh your credentials."
                ),
            ));
        }
        let whole_set = call.method == http::Method::PUT
            && call.path.resource_type().as_deref()
                == Some("microsoft.compute/virtualmachinescalesets");
        if whole_set && denied(IMAGE_READ) {
            return Err(ArmError::new(
                403,
                "LinkedAuthorizationFailed",
                format!(
                    "The client has permission to perform action '{IMAGE_READ}' on scope '{scope}', however the linked subscription was not found or access is denied."
                ),
            ));
        }
        Ok(())
    }
}

/// The action of a call: the type and a verb.
pub(crate) fn action_of(call: &Call) -> String {
    let segments = &call.path.segments;
    let at = call.path.lower.iter().rposition(|part| part == "providers");
    let kind = match at.and_then(|at| Some((segments.get(at + 1)?, segments.get(at + 2..)?))) {
        Some((namespace, behind)) => {
            let types: Vec<&str> = behind.iter().step_by(2).map(String::as_str).collect();
            format!("{namespace}/{}", types.join("/"))
        }
        None => "Microsoft.Resources/subscriptions".to_owned(),
    };
    if kind.to_lowercase().starts_with("microsoft.insights/eventtypes") {
        return "Microsoft.Insights/eventtypes/values/read".to_owned();
    }
    match call.method.as_str() {
        "GET" | "HEAD" => format!("{kind}/read"),
        "PUT" | "PATCH" => format!("{kind}/write"),
        "DELETE" => format!("{kind}/delete"),
        _ => format!("{kind}/action"),
    }
}
