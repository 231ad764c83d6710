//! Authentication and RBAC authorization.

use serde_json::Value;

use crate::exchange::Request;
use crate::kubernetes::api::negotiate::{ResourceRequest, header};
use crate::kubernetes::api::state::{ApiResult, ApiServer, StatusError, User};
use crate::kubernetes::store::objects::{self, Key, list, text};

const CLUSTER_ROLES: &str = "clusterroles.rbac.authorization.k8s.io";
const ROLES: &str = "roles.rbac.authorization.k8s.io";

#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestAttributes<'a> {
    pub(crate) verb: &'a str,
    pub(crate) group: &'a str,
    /// Includes the subresource: `pods/eviction`.
    pub(crate) resource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl ApiServer {
    /// Returns the user of a request's token. A client in this process names its user itself, which
    /// no request of a socket can.
    pub(crate) fn who(&self, request: &Request) -> ApiResult<User> {
        if let Some(user) = request.extensions().get::<User>() {
            return Ok(user.clone());
        }
        match header(request, http::header::AUTHORIZATION).strip_prefix("Bearer ") {
            Some(token) => match self.tokens.get(token) {
                Some(user) => Ok(user.clone()),
                None if self.options.open && self.tokens.is_empty() => Ok(User::administrator()),
                None => Err(StatusError::unauthorized()),
            },
            None if self.options.open => Ok(User::administrator()),
            None => Ok(User {
                name: "system:anonymous".to_owned(),
                groups: vec!["system:unauthenticated".to_owned()],
            }),
        }
    }

    pub(crate) fn authorize(&self, call: &ResourceRequest<'_>) -> ApiResult<()> {
        let (target, resource) = (&call.target, call.resource());
        // A list with one name is authorized for that name.
        let field = call.query.get("fieldSelector");
        let selected = field.strip_prefix("metadata.name=").filter(|rest| !rest.contains(','));
        let name = target.name.as_deref().or(selected).unwrap_or_default();
        let namespace = target.namespace.as_deref().unwrap_or_default();
        let with_part = match &target.subresource {
            Some(part) => format!("{}/{part}", resource.plural),
            None => resource.plural.clone(),
        };
        // Creating an object requires permission in its namespace; a Namespace is authorized in itself.
        let namespace = if resource.qualified() == "namespaces" { name } else { namespace };
        let attempt = RequestAttributes {
            verb: call.verb(),
            group: &resource.group,
            resource: &with_part,
            namespace,
            name,
        };
        if self.allows(&call.user, attempt) {
            return Ok(());
        }
        let scope = if namespace.is_empty() {
            "at the cluster scope".to_owned()
        } else {
            format!("in the namespace {namespace:?}")
        };
        let why = format!(
            "User {:?} cannot {} resource {with_part:?} in API group {:?} {scope}",
            call.user.name, attempt.verb, resource.group
        );
        Err(StatusError::forbidden(resource, name, &why))
    }

    pub(crate) fn allows(&self, user: &User, attempt: RequestAttributes<'_>) -> bool {
        if user.groups.iter().any(|group| group == "system:masters") {
            return true;
        }
        // All users may review their own access.
        if attempt.group == "authorization.k8s.io" && attempt.resource.starts_with("selfsubject") {
            return user.groups.iter().any(|group| group == "system:authenticated");
        }
        self.rules_of(user, attempt.namespace).any(|rule| fits(rule, attempt))
    }

    /// Returns the rules of a user in a namespace, or in the whole cluster if it is empty.
    pub(crate) fn rules_of<'a>(
        &'a self,
        user: &'a User,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Value> {
        let of_cluster = self.objects("clusterrolebindings.rbac.authorization.k8s.io", None);
        let of_namespace = (!namespace.is_empty())
            .then(|| self.objects("rolebindings.rbac.authorization.k8s.io", Some(namespace)));
        of_cluster
            .chain(of_namespace.into_iter().flatten())
            .filter(move |binding| binds(binding, user))
            .filter_map(|binding| self.role_of(binding))
            .flat_map(|role| list(role, &["rules"]))
    }

    fn role_of(&self, binding: &Value) -> Option<&Value> {
        let name = text(binding, &["roleRef", "name"]);
        let (table, namespace) = match text(binding, &["roleRef", "kind"]) {
            "ClusterRole" => (CLUSTER_ROLES, None),
            _ => (ROLES, Some(objects::namespace(binding))),
        };
        self.get(table, &Key::new(namespace, name))
    }
}

fn binds(binding: &Value, user: &User) -> bool {
    list(binding, &["subjects"]).iter().any(|subject| {
        let name = text(subject, &["name"]);
        match text(subject, &["kind"]) {
            "User" => name == user.name,
            "Group" => user.groups.iter().any(|group| group == name),
            _ => {
                let namespace = text(subject, &["namespace"]);
                let namespace =
                    if namespace.is_empty() { objects::namespace(binding) } else { namespace };
                user.name == format!("system:serviceaccount:{namespace}:{name}")
            }
        }
    })
}

fn fits(rule: &Value, attempt: RequestAttributes<'_>) -> bool {
    let has = |member: &str, wanted: &str| {
        list(rule, &[member]).iter().any(|one| one == "*" || one == wanted)
    };
    if !has("verbs", attempt.verb) {
        return false;
    }
    let names = list(rule, &["resourceNames"]);
    let part = attempt.resource.split_once('/').map(|(_, part)| format!("*/{part}"));
    has("apiGroups", attempt.group)
        && (has("resources", attempt.resource)
            || part.is_some_and(|part| list(rule, &["resources"]).iter().any(|one| *one == part)))
        && (names.is_empty() || names.iter().any(|one| one == attempt.name))
}
