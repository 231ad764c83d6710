//! What an operator sees: the claim, the events, `mooring why`, `mooring fleet`.

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use serde_json::Value;

use crate::observer::{CONDITION, condition, conditions};
use crate::scenario::{Describe, Fleet, Of, Why};
use crate::stage::{LOOK, Stage};
use crate::story::NodeEnd;
use crate::trouble::{Trouble, expect_words};
use crate::voice::Mark;
use crate::wrap::{cut, wrapped};

/// So much of an event is shown; Karpenter's hold pages that end before the exit code.
const SHOWN: usize = 150;

impl Stage<'_> {
    /// A failed claim, as it stood before Karpenter deleted it.
    pub(super) async fn describe(&mut self, describe: &Describe) -> Result<(), Trouble> {
        let name = self.last(NodeEnd::Failed)?;
        let told = self.observer.claim(&name).and_then(|claim| claim.told);
        let Some((object, _)) = told else {
            return Err(Trouble::Unmet(format!("NodeClaim {name} never showed the failure")));
        };
        let events = self.events(&name, "NodeClaim").await?;
        self.voice.command(&format!("kubectl describe nodeclaim {name}     (while it was there)"));
        self.voice.quote(&described(&name, &object, &events));
        let message = condition(&object, CONDITION).map_or("", |told| told.message);
        expect_words("the condition", message, &describe.says)?;
        let told = events.iter().any(|event| event["reason"] == "CSEFailed");
        if !told {
            return Err(Trouble::Unmet(format!("there is no event CSEFailed of {name}")));
        }
        Ok(())
    }

    pub(super) async fn why(&mut self, why: &Why) -> Result<(), Trouble> {
        let (end, remark) = match why.of {
            Of::Failed => (NodeEnd::Failed, "the claim and its VM are gone; the record is not"),
            Of::Joined => (NodeEnd::Joined, ""),
            Of::Silent => (NodeEnd::Silent, ""),
        };
        let name = self.last(end)?;
        let answer = self.mooring.ask(&["why", &name]).await?;
        self.keep("why.log", &format!("{}{}", answer.stdout, answer.stderr));
        let remark = if remark.is_empty() { String::new() } else { format!("     ({remark})") };
        self.voice.command(&format!("mooring why {name}{remark}"));
        self.voice.quote(&cut_lines(&answer.stdout));
        expect_words("mooring why", &answer.stdout, &why.says)
    }

    /// The fleet verdict: it comes when the controller has told of every node.
    pub(super) async fn fleet(&mut self, fleet: &Fleet) -> Result<(), Trouble> {
        let (table, event) = loop {
            let answer = self.mooring.ask(&["fleet", "-o", "json"]).await?;
            let table: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
            let named = table["rows"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|row| row["image"] == *fleet.image && row["cause"] == *fleet.cause);
            let found = table["findings"].as_array().into_iter().flatten();
            let found = found.filter(|finding| finding["image"] == *fleet.image).count() > 0;
            let events = self.events("default", "NodePool").await?;
            let event = events.into_iter().find(|event| event["reason"] == "ImageFailsBootstrap");
            match (named && found, event) {
                (true, Some(event)) => break (table, event),
                _ => self.voice.now("waiting for the fleet verdict"),
            }
            tokio::time::sleep(LOOK).await;
        };
        let shown = self.mooring.ask(&["fleet"]).await?;
        self.voice.command("mooring fleet");
        self.voice.quote(&shown.stdout);
        self.voice.say(
            Mark::Good,
            &format!("event ImageFailsBootstrap on NodePool default: {}", text(&event, "message")),
        );
        self.story.fleet = Some(table);
        Ok(())
    }

    fn last(&self, end: NodeEnd) -> Result<String, Trouble> {
        let node = self.story.last(end).map(|node| node.claim.clone());
        node.ok_or_else(|| Trouble::Unmet("no node has ended so".to_owned()))
    }

    /// The events of an object, as any client reads them, the oldest first.
    async fn events(&self, name: &str, kind: &str) -> Result<Vec<Value>, Trouble> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Event"));
        let api: Api<DynamicObject> = Api::namespaced_with(self.kube.clone(), "default", &resource);
        let list = api.list(&ListParams::default()).await;
        let list = list.map_err(|error| Trouble::broken("the events", error))?;
        let about = |event: &Value| {
            event["involvedObject"]["name"] == name && event["involvedObject"]["kind"] == kind
        };
        let events = list.items.into_iter().filter_map(|one| serde_json::to_value(one).ok());
        let mut events: Vec<Value> = events.filter(about).collect();
        events.sort_by_key(|event| text(event, "metadata/creationTimestamp").to_owned());
        Ok(events)
    }
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(&format!("/{path}")).and_then(Value::as_str).unwrap_or_default()
}

/// A claim and its events, as `kubectl describe` lays them out.
fn described(name: &str, object: &Value, events: &[Value]) -> String {
    let image = text(object, "status/imageID").rsplit('/').next().unwrap_or_default();
    let mut lines = vec![
        format!("Name:       {name}"),
        format!("Image:      {image}"),
        "Conditions:".to_owned(),
    ];
    for one in conditions(object) {
        let message =
            if one.message.is_empty() { String::new() } else { format!("  {}", one.message) };
        let line = format!("  {:<15} {:<8} {}{message}", one.kind, one.status, one.reason);
        lines.extend(wrapped(&line, 110, 27));
    }
    lines.push("Events:".to_owned());
    for event in events {
        let from = text(event, "source/component");
        let from = if from.is_empty() { text(event, "reportingComponent") } else { from };
        // Rules of dashes tell nothing.
        let message = text(event, "message").replace("--", "");
        let line = format!("  {:<22} {from:<9} {}", text(event, "reason"), cut(&message, SHOWN));
        lines.extend(wrapped(&line, 110, 35));
    }
    lines.join("\n")
}

fn cut_lines(text: &str) -> String {
    let lines = text.lines().flat_map(|line| wrapped(line, 110, 14));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_is_described_with_its_conditions_and_events() {
        let object = json!({"status": {"imageID": "/images/202601.27.0", "conditions": [
            {"type": "Launched", "status": "True", "reason": "Launched"},
            {"type": CONDITION, "status": "False", "reason": "CSEFailed", "message": "CSE exited with code 232"},
        ]}});
        let event = json!({"reason": "CSEFailed", "reportingComponent": "mooring", "message": "it\nfailed"});
        let shown = described("default-x", &object, &[event]);
        assert_eq!(
            shown.lines().collect::<Vec<_>>(),
            [
                "Name:       default-x",
                "Image:      202601.27.0",
                "Conditions:",
                "  Launched        True     Launched",
                "  CSEProvisioned  False    CSEFailed  CSE exited with code 232",
                "Events:",
                "  CSEFailed              mooring   it failed",
            ]
        );
    }
}
