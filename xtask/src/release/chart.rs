//! Packs the chart as `helm package` does, without times, and with what only a release knows.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::archive::{Entry, gzip, tar};
use super::{oci, runtime};
use crate::step::{Failed, root, write};

/// Where a release will be found. What nobody said is left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Places<'a> {
    /// The repository of the sources.
    pub(super) source: Option<&'a str>,
    /// Where the image and the chart will be pushed.
    pub(super) registry: Option<&'a str>,
    /// Where the files will be downloaded.
    pub(super) url: Option<&'a str>,
}

/// Reads the files of the chart, sorted, without those that only tests use.
fn files(folder: &Path, below: &str, into: &mut Vec<(String, Vec<u8>)>) -> Result<(), Failed> {
    let mut found: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    found.sort_by_key(fs::DirEntry::file_name);
    for entry in found {
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            // As .helmignore says.
            if path != "ci" {
                files(&entry.path(), &format!("{path}/"), into)?;
            }
        } else {
            into.push((path, fs::read(entry.path())?));
        }
    }
    Ok(())
}

/// Chart.yaml with the places of this release. Its last member is the annotations.
fn definition(text: &str, places: &Places<'_>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = text.trim_end().to_owned() + "\n";
    if let Some(registry) = places.registry {
        let _ = write!(
            text,
            "  artifacthub.io/images: |\n    - name: mooring\n      image: {registry}/mooring:{version}\n"
        );
    }
    if let Some(source) = places.source {
        let icon = format!("{source}/raw/v{version}/charts/mooring/icon.svg");
        let _ = write!(text, "home: {source}\nsources: [{source}]\nicon: {icon}\n");
    }
    text
}

/// Returns the chart's archive, and its definition.
pub(super) fn package(places: &Places<'_>) -> Result<(Vec<u8>, Value), Failed> {
    let mut found = Vec::new();
    files(&root().join("charts/mooring"), "", &mut found)?;
    let mut defined = Value::Null;
    for (path, bytes) in &mut found {
        let text = String::from_utf8_lossy(bytes).into_owned();
        if path == "Chart.yaml" {
            let text = definition(&text, places);
            defined = serde_saphyr::from_str(&text).map_err(|e| Failed(format!("{path}: {e}")))?;
            *bytes = text.into_bytes();
        } else if let ("values.yaml", Some(registry)) = (path.as_str(), places.registry) {
            const REPOSITORY: &str = "\n  repository: mooring\n";
            if !text.contains(REPOSITORY) {
                return Err(Failed(format!(
                    "{path}: the default of image.repository is not found"
                )));
            }
            let named = format!("\n  repository: {registry}/mooring\n");
            *bytes = text.replace(REPOSITORY, &named).into_bytes();
        }
    }
    // Helm requires Chart.yaml to be the first file.
    found.sort_by_key(|(path, _)| path != "Chart.yaml");
    let entry = |(path, bytes)| Entry::file(format!("mooring/{path}"), 0o644, bytes);
    let entries: Vec<Entry> = found.into_iter().map(entry).collect();
    Ok((gzip(&tar(&entries)?)?, defined))
}

/// Writes the chart as Helm gets it from a registry: stored in a layout, and read from there.
pub(crate) fn write_stored(to: &Path) -> Result<(), Failed> {
    let (archive, definition) = package(&Places::default())?;
    let files = runtime::read(&oci::chart(archive, &definition)?)?;
    let manifest = runtime::named(&files)?;
    write(to, runtime::blob(&files, &manifest["layers"][0])?)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::json;

    use super::*;
    use crate::chart::VARIABLE;
    use crate::step::output;

    const PLACES: Places<'_> = Places {
        source: Some("https://git.example/mooring"),
        registry: Some("registry.example/team"),
        url: None,
    };

    #[test]
    fn release_adds_its_places_to_the_definition() {
        let (archive, defined) = package(&PLACES).unwrap();
        assert_eq!(archive, package(&PLACES).unwrap().0);
        let file = std::env::temp_dir().join(format!("mooring-stored-{}.tgz", std::process::id()));
        write_stored(&file).unwrap();
        let stored = fs::read(&file).unwrap();
        fs::remove_file(file).unwrap();
        assert!(stored == package(&Places::default()).unwrap().0, "a layout returns its chart");
        assert_eq!(
            (&defined["home"], &defined["sources"]),
            (&json!("https://git.example/mooring"), &json!(["https://git.example/mooring"]))
        );
        let images = defined["annotations"]["artifacthub.io/images"].as_str().unwrap();
        assert!(images.contains("image: registry.example/team/mooring:0.2.0"), "{images}");
        let (_, plain) = package(&Places::default()).unwrap();
        assert_eq!((plain.get("home"), &plain["name"]), (None, &json!("mooring")));
    }

    #[test]
    fn helm_renders_the_package_like_the_directory() {
        let Some(environment) = std::env::var_os(VARIABLE) else {
            let skips = std::env::var_os("MOORING_ALLOW_SKIPS").is_some_and(|value| value == "1");
            assert!(skips, "Helm is missing: `cargo xtask test` installs it");
            println!("SKIPPED: Helm is not installed");
            return;
        };
        let folder = std::env::temp_dir().join(format!("mooring-chart-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let package_of = |places: &Places<'_>, name: &str| {
            let file = folder.join(name);
            crate::step::write(&file, &package(places).unwrap().0).unwrap();
            file
        };
        let render = |chart: &Path| {
            let mut helm = Command::new(Path::new(&environment).join("bin/helm"));
            helm.args(["template", "mooring", "--namespace", "mooring-system"]).arg(chart);
            output(helm.env("HOME", &folder).env_remove("KUBECONFIG")).unwrap()
        };
        let directory = render(&root().join("charts/mooring"));
        assert_eq!(render(&package_of(&Places::default(), "plain.tgz")), directory);
        let released = render(&package_of(&PLACES, "released.tgz"));
        let image = "image: registry.example/team/mooring:";
        assert_eq!(released, directory.replace("image: mooring:", image));
        assert!(released.contains(image));
        fs::remove_dir_all(&folder).unwrap();
    }
}
