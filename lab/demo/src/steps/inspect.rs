//! Shows an operator's view: the NodeClaim, the events, `mooring why`, `mooring fleet`.

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use serde_json::Value;

use crate::environment::{DemoEnvironment, POLL_INTERVAL};
use crate::error::{DemoError, expect_words};
use crate::kubectl::excerpt;
use crate::observer::{CONDITION, ObservedCondition, condition, conditions};
use crate::present::output::DemoMark;
use crate::present::wrap::cut;
use crate::scenario::{DescribeStep, FleetStep, NodeEnd, WhyStep};

/// Maximum characters of an event: messages of Karpenter may fill pages.
const SHOWN: usize = 150;

impl DemoEnvironment<'_> {
    /// Shows a failed NodeClaim as it was before Karpenter deleted it: from kubectl, or else from the API.
    pub(crate) async fn describe(&mut self, describe: &DescribeStep) -> Result<(), DemoError> {
        let described = match self.descriptions.join_next().await {
            Some(Ok((name, Ok(shown)))) => Some((name, shown)),
            Some(Ok((name, Err(why)))) => {
                self.keep("describe.log", &format!("kubectl describe nodeclaim {name}: {why}\n"));
                None
            }
            _ => None,
        };
        let name = match &described {
            Some((name, _)) => name.clone(),
            None => self.last(NodeEnd::Failed)?,
        };
        let reported = self.observer.claim(&name).and_then(|claim| claim.reported);
        let Some((object, _)) = reported else {
            return Err(DemoError::Unmet(format!("NodeClaim {name} never showed the failure")));
        };
        let events = self.events(&object, "NodeClaim").await?;
        if let Some((_, shown)) = described {
            let command = format!("kubectl describe nodeclaim {name}");
            self.keep("describe.log", &format!("$ {command}\n{shown}"));
            self.output.print(DemoMark::Note, "the NodeClaim, before Karpenter deleted it:");
            self.output.command(&command);
            self.output.quote(&excerpt(&shown));
            let note = events.iter().find(|event| event["reason"] == "CSEFailed");
            let note = note.map_or("", |event| text(event, "message"));
            expect_words("kubectl describe", &shown, &[note.to_owned()])?;
        } else {
            let why = match self.kubectl {
                Some(_) => "kubectl failed",
                None => "kubectl is not installed",
            };
            self.output.print(
                DemoMark::Note,
                &format!("{why}; NodeClaim {name} as the Kubernetes API returned it:"),
            );
            for line in api_lines(&object, &events) {
                self.output.print(DemoMark::Note, &line);
            }
        }
        let message = condition(&object, CONDITION).map_or("", |reported| reported.message);
        expect_words("the condition", message, &describe.contains)?;
        let reported = events.iter().any(|event| event["reason"] == "CSEFailed");
        if !reported {
            return Err(DemoError::Unmet(format!("event CSEFailed of {name} not found")));
        }
        Ok(())
    }

    pub(crate) async fn why(&mut self, why: &WhyStep) -> Result<(), DemoError> {
        let name = self.last(why.of)?;
        let answer = self.mooring.ask(&["why", &name]).await?;
        self.keep("why.log", &format!("{}{}", answer.stdout, answer.stderr));
        if why.of == NodeEnd::Failed {
            let text = "NodeClaim and VM are deleted by now; the failure record remains:";
            self.output.print(DemoMark::Note, text);
        }
        self.output.command(&format!("mooring why {name}"));
        self.output.quote(&answer.stdout);
        expect_words("mooring why", &answer.stdout, &why.contains)
    }

    /// Shows the fleet verdict, which is complete after the controller has reported every node.
    pub(crate) async fn fleet(&mut self, fleet: &FleetStep) -> Result<(), DemoError> {
        let pool = self.pool().await?;
        let (table, event) = loop {
            let answer = self.mooring.ask(&["fleet", "-o", "json"]).await?;
            let table: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
            let named =
                table["rows"].as_array().into_iter().flatten().any(|row| {
                    is_version(&row["image"], &fleet.image) && row["cause"] == *fleet.cause
                });
            let found = table["findings"].as_array().into_iter().flatten();
            let found = found.filter(|one| is_version(&one["image"], &fleet.image)).count() > 0;
            let events = self.events(&pool, "NodePool").await?;
            let event = events.into_iter().find(|event| event["reason"] == "ImageFailsBootstrap");
            match (named && found, event) {
                (true, Some(event)) => break (table, event),
                _ => self.output.now("waiting for the fleet verdict"),
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        };
        let shown = self.mooring.ask(&["fleet"]).await?;
        self.output.command("mooring fleet");
        self.output.quote(&shown.stdout);
        self.output.print(
            DemoMark::Good,
            &format!("event ImageFailsBootstrap on NodePool default: {}", text(&event, "message")),
        );
        self.result.fleet = Some(table);
        Ok(())
    }

    fn last(&self, end: NodeEnd) -> Result<String, DemoError> {
        let node = self.result.last(end).map(|node| node.claim.clone());
        node.ok_or_else(|| DemoError::Unmet("no node has ended so".to_owned()))
    }

    /// Returns the events that `kubectl describe` lists for an object without a namespace, oldest first.
    async fn events(&self, object: &Value, kind: &str) -> Result<Vec<Value>, DemoError> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Event"));
        let api: Api<DynamicObject> = Api::all_with(self.kube.clone(), &resource);
        let (name, uid) = (text(object, "metadata/name"), text(object, "metadata/uid"));
        let selector = format!(
            "involvedObject.kind={kind},involvedObject.name={name},involvedObject.namespace=,involvedObject.uid={uid}"
        );
        let list = api.list(&ListParams::default().fields(&selector)).await;
        let list = list.map_err(|error| DemoError::broken("the events", error))?;
        let mut events: Vec<Value> =
            list.items.into_iter().filter_map(|one| serde_json::to_value(one).ok()).collect();
        events.sort_by_key(|event| text(event, "metadata/creationTimestamp").to_owned());
        Ok(events)
    }

    async fn pool(&self) -> Result<Value, DemoError> {
        let resource = GroupVersionKind::gvk("karpenter.sh", "v1", "NodePool");
        let resource = ApiResource::from_gvk(&resource);
        let api: Api<DynamicObject> = Api::all_with(self.kube.clone(), &resource);
        let pool = api.get("default").await.ok().and_then(|pool| serde_json::to_value(pool).ok());
        pool.ok_or_else(|| DemoError::Broken("NodePool default not found".to_owned()))
    }
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(&format!("/{path}")).and_then(Value::as_str).unwrap_or_default()
}

/// Formats the conditions and events of an object from the API.
fn api_lines(object: &Value, events: &[Value]) -> Vec<String> {
    let condition = |one: ObservedCondition<'_>| {
        let message =
            if one.message.is_empty() { String::new() } else { format!(": {}", one.message) };
        format!("condition {} {} {}{message}", one.kind, one.status, one.reason)
    };
    let event = |event: &Value| {
        let from = text(event, "source/component");
        let from = if from.is_empty() { text(event, "reportingComponent") } else { from };
        // Lines of dashes add nothing.
        let message = text(event, "message").replace("--", "");
        format!("event {} from {from}: {}", text(event, "reason"), cut(&message, SHOWN))
    };
    conditions(object).map(condition).chain(events.iter().map(event)).collect()
}

/// Returns true for `AKSAzureLinux/V3gen2/202601.27.0` and `202601.27.0`.
fn is_version(image: &Value, version: &str) -> bool {
    image.as_str().and_then(|image| image.rsplit('/').next()) == Some(version)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn api_objects_are_listed_without_a_command_line() {
        let object = json!({"status": {"imageID": "/images/202601.27.0", "conditions": [
            {"type": "Launched", "status": "True", "reason": "Launched"},
            {"type": CONDITION, "status": "False", "reason": "CSEFailed", "message": "CSE exited with code 232"},
        ]}});
        let event = json!({"reason": "CSEFailed", "reportingComponent": "mooring", "message": "it\nfailed"});
        assert_eq!(
            api_lines(&object, &[event]),
            [
                "condition Launched True Launched",
                "condition CSEProvisioned False CSEFailed: CSE exited with code 232",
                "event CSEFailed from mooring: it failed",
            ]
        );
    }
}
