//! A bill of materials (`CycloneDX`) for each shipped file: the crates of the programs in it, from Cargo.lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::archive::sha256;
use crate::step::{Failed, command, output, root};

/// A program for a target, as Cargo names them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Build<'a> {
    pub(super) package: &'a str,
    pub(super) triple: &'a str,
}

/// Checksums of crates by name and version.
pub(super) fn checksums() -> Result<BTreeMap<(String, String), String>, Failed> {
    let lock = fs::read_to_string(root().join("Cargo.lock"))?;
    let lock: toml::Table = toml::from_str(&lock).map_err(|error| Failed(error.to_string()))?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let text = |package: &toml::Value, member: &str| {
        package.get(member).and_then(toml::Value::as_str).map(str::to_owned)
    };
    let of = |package| {
        let id = (text(package, "name")?, text(package, "version")?);
        Some((id, text(package, "checksum")?))
    };
    Ok(packages.into_iter().flatten().filter_map(of).collect())
}

/// Returns the crates that are linked into a program, each as name, version and license.
fn crates(build: Build<'_>) -> Result<BTreeSet<(String, String, String)>, Failed> {
    let mut tree = command("cargo");
    tree.args(["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
    tree.args(["--format", "{p}|{l}", "--package", build.package, "--target", build.triple]);
    let listed = output(&mut tree)?;
    let of = |line: &str| {
        // `serde v1.0.229 (proc-macro)|MIT OR Apache-2.0 (*)`
        let (package, license) = line.split_once('|')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        let license = license.trim_end_matches(" (*)").replace('/', " OR ");
        Some((name.to_owned(), version.to_owned(), license))
    };
    let unread = |line: &str| Failed(format!("cargo tree printed {line:?}"));
    listed.lines().map(|line| of(line).ok_or_else(|| unread(line))).collect()
}

/// Describes a shipped file.
pub(super) fn describe(
    file: &str,
    bytes: &[u8],
    builds: &[Build<'_>],
    known: &BTreeMap<(String, String), String>,
) -> Result<Value, Failed> {
    let mut found = BTreeSet::new();
    for build in builds {
        found.extend(crates(*build)?);
    }
    let component = |(name, version, license): (String, String, String)| {
        let purl = format!("pkg:cargo/{name}@{version}");
        let mut component = json!({
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": version,
            "licenses": [{"expression": license}],
        });
        // Our own crates are in no registry and have no checksum.
        if let Some(sum) = known.get(&(name, version)) {
            component["purl"] = json!(purl);
            component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
        }
        component
    };
    let version = env!("CARGO_PKG_VERSION");
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "file",
                "bom-ref": file,
                "name": file,
                "version": version,
                "licenses": [{"expression": "MIT"}],
                "hashes": [{"alg": "SHA-256", "content": sha256(bytes)}],
            },
        },
        "components": found.into_iter().map(component).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::targets::{AGENT, TARGETS};

    #[test]
    fn bill_lists_what_is_linked_and_nothing_else() {
        let build = Build { package: AGENT.package, triple: TARGETS[0].triple };
        let bill = describe("agent", b"bytes", &[build], &checksums().unwrap()).unwrap();
        let file = &bill["metadata"]["component"];
        assert_eq!(file["hashes"][0]["content"], sha256(b"bytes"));
        let components = bill["components"].as_array().unwrap();
        let find = |name: &str| components.iter().find(|component| component["name"] == name);
        let (rustls, own) = (find("rustls").unwrap(), find("mooring-contract").unwrap());
        assert_eq!(rustls["hashes"][0]["content"].as_str().unwrap().len(), 64);
        assert!(rustls["purl"].as_str().unwrap().starts_with("pkg:cargo/rustls@0."), "{rustls}");
        assert_eq!((own.get("purl"), own.get("hashes")), (None, None));
        // Only tests and build scripts use these.
        assert!(find("proptest").is_none() && find("toml").is_none());
        for component in components {
            let license = component["licenses"][0]["expression"].as_str().unwrap();
            assert!(!license.is_empty() && !license.contains('/'), "{component}");
        }
    }
}
