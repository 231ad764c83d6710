//! Next steps for failures that this cluster can follow, with its own names. All screens show what [`Adviser::advise`]
//! returns.

use std::fmt;

use mooring_codes::{Os, lookup};
use mooring_diagnosis::{ANOTHER_IMAGE, cause_page};
use mooring_redact::shell_word;
use mooring_workflow::plural::counted;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::claim::image;
use crate::facts::ClusterFacts;
use crate::fleet::{FailureGroup, Fleet, FleetRow, FleetVerdict, groups};
use crate::karpenter::{Karpenter, NodeClass, NodePool, drift_budget, hold_drift, patch_command};
use crate::merge::Inventory;
use crate::node::{Node, PoolKind};

/// A next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What to do, and what it affects.
    pub text: String,
    pub command: Option<String>,
    /// The command that reverts it.
    pub undo: Option<String>,
}

impl Advice {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), command: None, undo: None }
    }

    /// Returns the step that ends a mitigation.
    pub fn undo(command: String) -> Self {
        Self { command: Some(command), ..Self::new("Undo it when new nodes join again:") }
    }

    fn with(text: String, command: String, undo: String) -> Self {
        Self { text, command: Some(command), undo: Some(undo) }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)?;
        if let Some(command) = &self.command {
            write!(formatter, " {command}")?;
        }
        if let Some(undo) = &self.undo {
            write!(formatter, "; to revert: {undo}")?;
        }
        Ok(())
    }
}

impl Serialize for Advice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Gives the same advice on every screen: it depends on all that is known, not on what a screen shows.
#[derive(Debug)]
pub struct Adviser<'a> {
    facts: &'a ClusterFacts,
    fleet: Fleet,
}

impl<'a> Adviser<'a> {
    pub fn new(facts: &'a ClusterFacts) -> Self {
        Self { facts, fleet: Fleet::of(&facts.inventory, None) }
    }

    /// Lists next steps, the first one first.
    pub fn advise(&self, group: &FailureGroup) -> Vec<Advice> {
        let page = cause_page(&group.cause);
        let general: Vec<&str> = match &page {
            Some(page) => page.actions.clone(),
            None => action_of_code(group).into_iter().collect(),
        };
        let needs_image = self.blames_image(group) || general.first() == Some(&ANOTHER_IMAGE);
        let mut steps = if needs_image { self.image_steps(group) } else { Vec::new() };
        let is_replaced = !steps.is_empty();
        let general = general.into_iter().filter(|text| !(is_replaced && *text == ANOTHER_IMAGE));
        steps.extend(general.map(|text| Advice::new(self.fill(text))));
        steps
    }

    /// Lists next steps for an image and a cause, of the largest group first.
    pub fn of_row(&self, inventory: &Inventory, row: &FleetRow) -> Vec<Advice> {
        let is_of_row = |group: &FailureGroup| {
            group.image.as_deref() == Some(&*row.image) && group.cause == row.cause
        };
        let mut steps = Vec::new();
        for group in groups(inventory).into_iter().filter(is_of_row) {
            for step in self.advise(&group) {
                if !steps.contains(&step) {
                    steps.push(step);
                }
            }
        }
        steps
    }

    fn blames_image(&self, group: &FailureGroup) -> bool {
        group.is_confirmed
            && self.fleet.rows.iter().any(|row| {
                row.verdict == FleetVerdict::Image
                    && Some(&*row.image) == group.image.as_deref()
                    && row.cause == group.cause
            })
    }

    /// Returns a general text with the names of this cluster.
    fn fill(&self, text: &str) -> String {
        match &self.facts.region {
            Some(region) => text.replace("<location>", region),
            None => text.to_owned(),
        }
    }

    /// Lists what gives new nodes another image, or limits the damage; nothing if the pool is not known.
    fn image_steps(&self, group: &FailureGroup) -> Vec<Advice> {
        let Some(pool) = group.pool.as_deref() else { return Vec::new() };
        if group.pool_kind == PoolKind::AksPool {
            return vec![self.rollback(pool)];
        }
        let karpenter = &self.facts.karpenter;
        if karpenter.is_gone(pool) {
            return vec![Advice::new(format!(
                "NodePool {pool} no longer exists: nothing is to be changed for it."
            ))];
        }
        let found = karpenter.pool(pool);
        let class = found.and_then(|pool| karpenter.class_of(pool));
        let bad = group.image.as_deref().unwrap_or_default();
        let unread = match found {
            Some(_) => "",
            None => " NodePools were not read: it may be set already.",
        };
        let mut steps = Vec::new();
        steps.extend(class.and_then(|class| self.pin(class, bad)));
        if !found.is_some_and(NodePool::holds_drift) {
            steps.push(Advice::with(
                format!(
                    "Keep running nodes on their image: replacements in progress finish, and no others begin.{unread}"
                ),
                hold_drift(pool),
                release_drift(pool),
            ));
        }
        steps.extend(class.and_then(|class| self.change_family(class, bad)));
        if !found.is_some_and(NodePool::creates_no_nodes) {
            let before = found.and_then(|pool| pool.limits.get("nodes")).unwrap_or(&Value::Null);
            let limit = |nodes: &Value| {
                let limits = json!({"spec": {"limits": {"nodes": nodes}}});
                patch_command("nodepool", pool, "merge", &limits)
            };
            steps.push(Advice::with(
                format!(
                    "Create no more nodes in NodePool {pool}: its pods stay Pending, and drift stops.{unread}"
                ),
                limit(&json!("0")),
                limit(before),
            ));
        }
        steps
    }

    /// Pins a pair of versions that this class has used, the one on which most nodes joined.
    fn pin(&self, class: &NodeClass, bad: &str) -> Option<Advice> {
        let is_bad = |version: &str| image::version(version) == image::version(bad);
        let is_pinned = class.pinned_image().is_some_and(|pinned| !is_bad(pinned));
        if is_pinned {
            return None;
        }
        let others = class.recently_used.iter().filter(|one| !is_bad(&one.image));
        let (joined, pair) =
            others.map(|one| (self.joined(&one.image), one)).max_by_key(|(joined, _)| *joined)?;
        let target = image::version(&pair.image);
        let evidence = match joined {
            0 => "it was used before, and no node with it is known".to_owned(),
            joined => format!("{} joined with it", counted(joined, "node")),
        };
        let text = format!(
            "Pin image {target} for new nodes: {evidence}.{}",
            self.replaced(class, |node| node.image.as_deref().map(image::version) != Some(target))
        );
        let versions = |versions: &Value| class.patch(&json!({"spec": {"versions": versions}}));
        let pair = json!({"kubernetesVersion": pair.kubernetes, "nodeImageVersion": pair.image});
        Some(Advice::with(text, versions(&pair), versions(&class.versions)))
    }

    fn joined(&self, version: &str) -> usize {
        let nodes = self.facts.inventory.nodes.iter();
        let is_wanted = |node: &&Node| {
            node.has_joined()
                && node.image.as_deref().map(image::version) == Some(image::version(version))
        };
        nodes.filter(is_wanted).count()
    }

    fn change_family(&self, class: &NodeClass, bad: &str) -> Option<Advice> {
        let other = other_family(bad)?;
        let family = |family: &Value| class.patch(&json!({"spec": {"imageFamily": family}}));
        let cannot_pin = match class.recently_used.as_slice() {
            [] => {
                format!(", since AKSNodeClass {} lists no version that can be pinned", class.name)
            }
            _ => String::new(),
        };
        let text = format!(
            "Use image family {other} for new nodes{cannot_pin}.{}",
            self.replaced(class, |_| true)
        );
        let before = class.image_family.as_deref().map_or(Value::Null, Value::from);
        Some(Advice::with(text, family(&json!(other)), family(&before)))
    }

    /// Returns what a change of a class does to healthy nodes.
    fn replaced(&self, class: &NodeClass, is_changed: impl Fn(&Node) -> bool) -> String {
        let karpenter: &Karpenter = &self.facts.karpenter;
        let pools = karpenter.node_pools.iter().flatten();
        let pools: Vec<&NodePool> =
            pools.filter(|pool| pool.node_class.as_deref() == Some(&*class.name)).collect();
        let is_healthy = |node: &&Node| {
            let pool = node.pool.as_deref().filter(|_| node.pool_kind == PoolKind::NodePool);
            node.exists
                && node.has_joined()
                && pool.is_some_and(|name| pools.iter().any(|pool| pool.name == name))
                && is_changed(node)
        };
        let healthy = self.facts.inventory.nodes.iter().filter(is_healthy).count();
        let nodes = counted(healthy, "healthy node");
        match healthy {
            0 => String::new(),
            _ if pools.iter().all(|pool| pool.holds_drift()) => {
                format!(" It replaces {nodes}, once drift is no longer held.")
            }
            _ => format!(" It replaces {nodes} of AKSNodeClass {}.", class.name),
        }
    }

    fn rollback(&self, pool: &str) -> Advice {
        let id = self.facts.identity.id.as_deref().unwrap_or_default();
        let mut parts =
            id.split('/').skip_while(|part| !part.eq_ignore_ascii_case("resourceGroups"));
        let group = parts.nth(1).unwrap_or("RESOURCE_GROUP");
        let name = self.facts.identity.name.as_deref().unwrap_or("CLUSTER");
        let command = format!(
            "az aks nodepool rollback --resource-group {} --cluster-name {} --name {}",
            shell_word(group),
            shell_word(name),
            shell_word(pool)
        );
        let text = format!(
            "Roll AKS pool {pool} back to its previous image (Azure CLI 2.88.0 or later; one step back within 7 days, \
             only with upgrade channel none, and a node OS upgrade channel moves the image forward again). It replaces \
             all nodes of the pool, healthy ones too."
        );
        Advice { text, command: Some(command), undo: None }
    }
}

fn action_of_code(group: &FailureGroup) -> Option<&'static str> {
    let code = group.effective.as_ref().or(group.reported.as_ref())?;
    let os = if group.os == Some("windows") { Os::Windows } else { Os::Linux };
    mooring_codes::lookup(os, code.code, None).first().map(|row| row.action)
}

/// Returns the command that removes the disruption budget of [`hold_drift`], and fails if another one is first.
fn release_drift(pool: &str) -> String {
    let first = "/spec/disruption/budgets/0";
    let patch = json!([
        {"op": "test", "path": first, "value": drift_budget()}, {"op": "remove", "path": first},
    ]);
    patch_command("nodepool", pool, "json", &patch)
}

/// Returns an image family that does not have this image.
fn other_family(image: &str) -> Option<&'static str> {
    let is_ubuntu = image.starts_with("AKSUbuntu");
    if is_ubuntu && image.contains("2204") {
        Some("Ubuntu2404")
    } else if is_ubuntu || image.starts_with("AKSAzureLinux") {
        Some("Ubuntu2204")
    } else {
        None
    }
}

/// Address of the site that `cargo xtask docs` builds. Without one, nothing links to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocsUrl(Option<String>);

/// The address becomes a part of conditions, which have little room.
const MAX_BYTES: usize = 200;

impl DocsUrl {
    /// Returns an address without the slash at its end; an empty text is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = text.trim_end_matches('/');
        if url.is_empty() {
            return Ok(Self(None));
        }
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:%".contains(&byte);
        let is_url = host.is_some_and(|host| host.starts_with(|c: char| c.is_alphanumeric()))
            && url.bytes().all(is_allowed)
            && url.len() <= MAX_BYTES;
        if is_url { Ok(Self(Some(url.to_owned()))) } else { Err(EXPECTED.to_owned()) }
    }

    /// Returns the address of the page of a cause; none if it has none.
    pub fn cause(&self, reason: &str) -> Option<String> {
        let page = cause_page(reason)?;
        Some(format!("{}/causes/{}.html", self.0.as_ref()?, page.reason))
    }

    /// Returns the address of the page of a cause, or of the code if the tables of codes name the cause.
    pub fn failure(&self, cause: &str, code: Option<i32>) -> Option<String> {
        self.cause(cause).or_else(|| self.code(code?))
    }

    /// Returns the address of the page of an exit code; none if no table has it.
    pub fn code(&self, number: i32) -> Option<String> {
        let is_known =
            [Os::Linux, Os::Windows].iter().any(|os| !lookup(*os, number, None).is_empty());
        is_known.then(|| Some(format!("{}/codes/{number}.html", self.0.as_ref()?)))?
    }
}

const EXPECTED: &str =
    "must be an address such as https://docs.example/mooring, of at most 200 characters";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::facts::ControllerState;
    use crate::failure::NodeFailure;
    use crate::karpenter::Versions;
    use crate::node::JoinState;
    use mooring_workflow::published::ClusterIdentity;

    const GOOD: &str = "AKSUbuntu/2204gen2containerd/202601.13.0";
    const BAD: &str = "AKSUbuntu/2204gen2containerd/202601.27.0";

    fn node(name: String, image: &str, cause: Option<&str>) -> Node {
        let failure = cause.map(|cause| {
            Box::new(NodeFailure {
                cause: cause.to_owned(),
                summary: String::new(),
                condition_reason: "CSEFailed".to_owned(),
                message: String::new(),
                reported: None,
                effective: None,
                stage: "bootstrap",
                owner: None,
                confidence: None,
                evidence: Vec::new(),
                is_confirmed: true,
                failed_at: None,
                reported_at: None,
            })
        });
        Node {
            uid: name.clone(),
            node_claim: Some(name),
            pool: Some("default".into()),
            image: Some(image.into()),
            state: if cause.is_some() { JoinState::Failed } else { JoinState::Ready },
            exists: true,
            failure,
            ..Node::default()
        }
    }

    /// Five nodes joined, and five failed with the next image.
    fn facts(karpenter: Karpenter) -> ClusterFacts {
        let good = (0..5).map(|at| node(format!("g{at}"), GOOD, None));
        let bad = (0..5).map(|at| node(format!("b{at}"), BAD, Some("OrasBinaryMissing")));
        let id = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/demo";
        ClusterFacts {
            identity: ClusterIdentity {
                name: Some("demo".to_owned()),
                id: Some(id.to_owned()),
                ..ClusterIdentity::default()
            },
            region: Some("westeurope".to_owned()),
            version: None,
            inventory: Inventory { nodes: good.chain(bad).collect(), ..Inventory::default() },
            karpenter,
            has_karpenter: true,
            lost: Vec::new(),
            controller: ControllerState::unknown("mooring-system".to_owned()),
            record: None,
            runs: Vec::new(),
            sources: Vec::new(),
            warnings: Vec::new(),
            now: "2026-11-17T09:14:00Z".parse().unwrap(),
        }
    }

    fn karpenter(pool: NodePool, class: NodeClass) -> Karpenter {
        let pool =
            NodePool { name: "default".to_owned(), node_class: Some("linux".to_owned()), ..pool };
        let class = NodeClass { name: "linux".to_owned(), ..class };
        Karpenter {
            node_pools: Some(vec![pool]),
            node_classes: Some(vec![class]),
            has_versions: None,
        }
    }

    fn first(facts: &ClusterFacts) -> String {
        let group = groups(&facts.inventory).into_iter().next().unwrap();
        Adviser::new(facts).advise(&group).first().unwrap().to_string()
    }

    #[test]
    fn first_step_depends_on_what_the_cluster_can_do() {
        let ubuntu =
            || NodeClass { image_family: Some("Ubuntu2204".to_owned()), ..NodeClass::default() };
        let versions =
            |image: &str| Versions { kubernetes: "1.33.5".to_owned(), image: image.to_owned() };
        let with_hold = || NodePool {
            budgets: vec![json!({"nodes": "0", "reasons": ["Drifted"]})],
            ..NodePool::default()
        };
        let hold = "Keep running nodes on their image: replacements in progress finish, and no others begin. kubectl patch nodepool default ";
        // An image that was used before can be pinned, in a pair with its Kubernetes version.
        let pinnable = NodeClass {
            recently_used: vec![versions("202601.27.0"), versions("202601.13.0")],
            ..ubuntu()
        };
        let pin = r#"Pin image 202601.13.0 for new nodes: 5 nodes joined with it. kubectl patch aksnodeclass linux --type=merge -p '{"spec":{"versions":{"kubernetesVersion":"1.33.5","nodeImageVersion":"202601.13.0"}}}'; to revert: kubectl patch aksnodeclass linux --type=merge -p '{"spec":{"versions":null}}'"#;
        assert_eq!(first(&facts(karpenter(NodePool::default(), pinnable.clone()))), pin);
        // Pinning one that no node has would replace the healthy ones.
        let unknown = NodeClass { recently_used: vec![versions("202512.1.0")], ..ubuntu() };
        let text = first(&facts(karpenter(NodePool::default(), unknown)));
        let expected = "Pin image 202512.1.0 for new nodes: it was used before, and no node with it is known. It replaces 5 healthy nodes of AKSNodeClass linux. kubectl";
        assert!(text.starts_with(expected), "{text}");
        // Nothing can be pinned, or it is pinned already.
        let pinned = NodeClass { versions: json!({"nodeImageVersion": "202601.13.0"}), ..pinnable };
        for class in [ubuntu(), pinned] {
            let text = first(&facts(karpenter(NodePool::default(), class)));
            assert!(text.starts_with(hold), "{text}");
        }
        let text = first(&facts(karpenter(with_hold(), ubuntu())));
        let expected = r#"Use image family Ubuntu2404 for new nodes, since AKSNodeClass linux lists no version that can be pinned. It replaces 5 healthy nodes, once drift is no longer held. kubectl patch aksnodeclass linux --type=merge -p '{"spec":{"imageFamily":"Ubuntu2404"}}'; to revert: kubectl patch aksnodeclass linux --type=merge -p '{"spec":{"imageFamily":"Ubuntu2204"}}'"#;
        assert_eq!(text, expected);
        let unread = first(&facts(Karpenter::default()));
        assert!(
            unread.contains(" NodePools were not read: it may be set already. kubectl"),
            "{unread}"
        );
        let gone =
            first(&facts(Karpenter { node_pools: Some(Vec::new()), ..Karpenter::default() }));
        assert_eq!(gone, "NodePool default no longer exists: nothing is to be changed for it.");
    }

    #[test]
    fn aks_pool_is_rolled_back_with_the_names_of_the_cluster() {
        let mut facts = facts(Karpenter::default());
        let nodes = facts.inventory.nodes.iter().cloned();
        let nodes = nodes.map(|node| Node { pool_kind: PoolKind::AksPool, ..node });
        facts.inventory.nodes = nodes.collect();
        let text = first(&facts);
        let command =
            " az aks nodepool rollback --resource-group rg --cluster-name demo --name default";
        assert!(text.ends_with(command), "{text}");
        assert!(text.contains(" It replaces all nodes of the pool, healthy ones too."), "{text}");
    }

    #[test]
    fn limit_is_restored_to_its_former_value() {
        let mut limits = serde_json::Map::new();
        limits.insert("nodes".to_owned(), json!("50"));
        let pool = NodePool { limits, ..NodePool::default() };
        let facts = facts(karpenter(pool, NodeClass::default()));
        let group = groups(&facts.inventory).into_iter().next().unwrap();
        let steps = Adviser::new(&facts).advise(&group);
        let limit =
            steps.iter().find(|step| step.text.starts_with("Create no more nodes")).unwrap();
        assert!(
            limit.undo.as_deref().unwrap().ends_with(r#"'{"spec":{"limits":{"nodes":"50"}}}'"#)
        );
    }

    #[test]
    fn pages_are_those_of_the_site() {
        let docs = DocsUrl::parse("https://docs.example/mooring/").unwrap();
        let cause = docs.cause("orasbinarymissing").unwrap();
        assert_eq!(cause, "https://docs.example/mooring/causes/OrasBinaryMissing.html");
        assert_eq!(docs.code(232).unwrap(), "https://docs.example/mooring/codes/232.html");
        assert_eq!(docs.failure("KubeletStartFail", Some(34)), docs.code(34));
        assert_eq!((docs.cause("NoSuchCause"), docs.code(9999)), (None, None));
        let none = DocsUrl::parse("").unwrap();
        assert_eq!((none.cause("OrasBinaryMissing"), none.code(232)), (None, None));
    }

    #[test]
    fn address_is_one_of_the_web_without_query_and_markup() {
        for wrong in [
            "docs.example",
            "https://",
            "javascript:alert(1)",
            "https://docs.example/?q=1",
            "https://docs.example/#a",
            "https://docs.example/ a",
            "https://docs.example/\"><script>",
            "https://user@docs.example",
        ] {
            assert!(DocsUrl::parse(wrong).is_err(), "{wrong}");
        }
        assert!(DocsUrl::parse(&format!("https://{}", "a".repeat(200))).is_err());
    }
}
