//! `mooring schema`: JSON Schemas of the documents that commands print, and that readers of the live page receive.

use crate::output::failure::CommandFailure;
use crate::output::show;
use mooring_terminal::suggest;

/// Published shapes. A new one is a file in `schemas/` and a line here.
const SCHEMAS: &[(&str, &str)] = &[
    ("mooring.bundle/v1", include_str!("../../schemas/bundle.v1.json")),
    ("mooring.codes/v1", include_str!("../../schemas/codes.v1.json")),
    ("mooring.doctor/v1", include_str!("../../schemas/doctor.v1.json")),
    ("mooring.error/v1", include_str!("../../schemas/error.v1.json")),
    ("mooring.explain/v1", include_str!("../../schemas/explain.v1.json")),
    ("mooring.finalizers.plan/v1", include_str!("../../schemas/finalizers.plan.v1.json")),
    ("mooring.finalizers.run/v1", include_str!("../../schemas/finalizers.run.v1.json")),
    ("mooring.fleet/v1", include_str!("../../schemas/fleet.v1.json")),
    ("mooring.page.controller/v1", include_str!("../../schemas/page.controller.v1.json")),
    ("mooring.page.event/v1", include_str!("../../schemas/page.event.v1.json")),
    ("mooring.page.failures/v1", include_str!("../../schemas/page.failures.v1.json")),
    ("mooring.page.node/v1", include_str!("../../schemas/page.node.v1.json")),
    ("mooring.page.nodes/v1", include_str!("../../schemas/page.nodes.v1.json")),
    ("mooring.page.pools/v1", include_str!("../../schemas/page.pools.v1.json")),
    ("mooring.page.runs/v1", include_str!("../../schemas/page.runs.v1.json")),
    ("mooring.preflight/v1", include_str!("../../schemas/preflight.v1.json")),
    ("mooring.repair.detection/v1", include_str!("../../schemas/repair.detection.v1.json")),
    ("mooring.repair.plan/v1", include_str!("../../schemas/repair.plan.v1.json")),
    ("mooring.repair.run/v1", include_str!("../../schemas/repair.run.v1.json")),
    ("mooring.status/v1", include_str!("../../schemas/status.v1.json")),
    ("mooring.trace/v1", include_str!("../../schemas/trace.v1.json")),
    ("mooring.version/v1", include_str!("../../schemas/version.v1.json")),
    ("mooring.why/v1", include_str!("../../schemas/why.v1.json")),
];

pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(id, _)| *id)
}

/// Prints a schema, or lists the IDs of all.
pub(crate) fn schema(id: Option<&str>) -> Result<(), CommandFailure> {
    let Some(id) = id else {
        return show::print_names(ids());
    };
    show::print(find(id)?.as_bytes())
}

/// Finds a schema by its ID, with or without `mooring.`.
fn find(wanted: &str) -> Result<&'static str, CommandFailure> {
    let is_it = |id: &str| id == wanted || id.strip_prefix("mooring.") == Some(wanted);
    let found = SCHEMAS.iter().find(|(id, _)| is_it(id));
    found.map(|(_, text)| *text).ok_or_else(|| {
        let hint = suggest::hint(wanted, ids(), "mooring schema").unwrap_or_else(|| {
            format!("hint: valid IDs: {}", ids().collect::<Vec<_>>().join(", "))
        });
        let wanted = mooring_redact::identifier(wanted);
        CommandFailure::unknown_name(format!("unknown schema `{wanted}`\n{hint}"))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use super::*;

    #[test]
    fn every_file_is_published_under_its_name() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        let files = std::fs::read_dir(directory).unwrap();
        let files: BTreeSet<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_suffix(".json").unwrap().to_owned())
            .collect();
        let ids: BTreeSet<String> = SCHEMAS
            .iter()
            .map(|(id, _)| id.strip_prefix("mooring.").unwrap().replace("/v", ".v"))
            .collect();
        assert_eq!(files, ids);
        for (id, text) in SCHEMAS {
            let schema: Value = serde_json::from_str(text).unwrap();
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{id}");
            assert_eq!(schema["$id"], format!("urn:{}", id.replace('/', ":")), "{id}");
            assert_eq!(schema["properties"]["schema"]["const"], **id, "{id}");
            assert!(schema["required"].as_array().unwrap().contains(&"schema".into()), "{id}");
        }
    }

    /// Returns the IDs that code names, with the files that do. Tests and their crate are left out.
    fn named() -> BTreeMap<String, BTreeSet<PathBuf>> {
        let is_id = |word: &&str| word.starts_with("mooring.") && word.contains("/v");
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let crates = std::fs::read_dir(crates).unwrap().map(|one| one.unwrap().path());
        let product = crates.filter(|path| !path.ends_with("testbed"));
        let mut folders: Vec<PathBuf> = product.map(|path| path.join("src")).collect();
        let mut named = BTreeMap::<String, BTreeSet<PathBuf>>::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("tests.rs") && !path.ends_with("about/schema.rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                    for id in code.split('"').filter(is_id) {
                        named.entry(id.to_owned()).or_default().insert(path.clone());
                    }
                }
            }
        }
        named
    }

    #[test]
    fn schema_id_names_one_shape_and_starts_at_v1() {
        let named = named();
        for (id, files) in &named {
            assert!(id.ends_with("/v1"), "{id} of {files:?}");
            assert_eq!(files.len(), 1, "{id} is the document of {files:?}");
        }
        for id in ids() {
            assert!(named.contains_key(id), "nothing prints {id}");
        }
    }
}
