//! The examples for pipelines: whole documents whose commands the binary understands.

use serde_json::Value;

use crate::documents::page::root;
use crate::documents::understood::{understands, words};

/// Every text in a document.
fn texts<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, into)),
        Value::Object(members) => members.values().for_each(|member| texts(member, into)),
        _ => {}
    }
}

#[test]
fn steps_of_pipelines_are_understood() {
    for name in ["azure-pipelines.yaml", "github-actions.yaml"] {
        let text = std::fs::read_to_string(root().join("packaging/pipelines").join(name)).unwrap();
        let document: Value = serde_saphyr::from_str(&text).unwrap();
        let mut found = Vec::new();
        texts(&document, &mut found);
        let lines = found.iter().flat_map(|text| text.lines()).map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| line.starts_with("mooring ")).collect();
        assert_eq!(lines.len(), 3, "{name}");
        for line in lines {
            // The hash is the plan's; any will do here.
            let line = line.replace("\"$(jq -r .hash plan.json)\"", "$HASH");
            understands(name, &words(&line).unwrap()[1..]);
        }
        // The variables are those of the step's own help.
        for variable in ["SUBSCRIPTION_ID", "RESOURCE_GROUP", "CLUSTER_NAME", "DRY_RUN"] {
            assert!(text.contains(&format!("{variable}: ")), "{name} does not set {variable}");
        }
    }
}
