//! Examples for pipelines: valid YAML with valid commands.

use serde_json::Value;

use crate::documents::parsed::assert_parses;
use mooring_testbed::documents::{parse_args, root};

/// Collects all strings of a document.
fn collect_strings<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, into)),
        Value::Object(members) => members.values().for_each(|member| collect_strings(member, into)),
        _ => {}
    }
}

#[test]
fn commands_of_pipeline_examples_are_valid() {
    for name in ["azure-pipelines.yaml", "github-actions.yaml"] {
        let text = std::fs::read_to_string(root().join("packaging/pipelines").join(name)).unwrap();
        let document: Value = serde_saphyr::from_str(&text).unwrap();
        let mut found = Vec::new();
        collect_strings(&document, &mut found);
        let lines = found.iter().flat_map(|text| text.lines()).map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| line.starts_with("mooring ")).collect();
        assert_eq!(lines.len(), 3, "{name}");
        for line in lines {
            // Any well-formed approval parses.
            let line = line.replace("\"$(jq -r .hash plan.json)\"", "$HASH");
            assert_parses(name, &parse_args(&line).unwrap()[1..]);
        }
        // Required variables of the steps.
        for variable in ["SUBSCRIPTION_ID", "RESOURCE_GROUP", "CLUSTER_NAME", "DRY_RUN"] {
            assert!(text.contains(&format!("{variable}: ")), "{name} does not set {variable}");
        }
    }
}
