//! The GPU images that the node image brings, as `components.json` lists them.

use mooring_contract::json::{Dialect, Error, MAX_DEPTH, Reader};

use crate::environment::go::case;
use crate::format::go_text::json_error;
use crate::format::json;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuImage {
    pub driver: String,
    /// Suffix of the driver's version in the image tag: the build time.
    pub suffix: String,
}

/// The images that a node may need; empty where the file lists none.
///
/// The file's `aks-gpu-cuda` is not among them: no VM size takes its version from there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuImages {
    /// `aks-gpu-cuda-lts`
    pub cuda_lts: GpuImage,
    /// `aks-gpu-grid`
    pub grid: GpuImage,
    /// `aks-gpu-grid-v20`
    pub grid_v20: GpuImage,
}

/// The file is not what it should be, in the upstream Go agent's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to unmarshal components.json: {0}")]
pub struct ComponentsError(String);

impl GpuImages {
    /// Reads the file; other entries are ignored.
    pub fn from_components(document: &[u8]) -> Result<Self, ComponentsError> {
        read(document).map_err(|error| ComponentsError(json_error(document, &error)))
    }

    /// Takes the image of an entry. Of several entries for one image, the last wins.
    fn take(&mut self, entry: &Component) {
        let Some(image) = image_of(&entry.latest_version) else { return };
        match name_of(&entry.download_url) {
            "aks-gpu-cuda-lts" => self.cuda_lts = image,
            "aks-gpu-grid" => self.grid = image,
            "aks-gpu-grid-v20" => self.grid_v20 = image,
            _ => {}
        }
    }
}

/// `580.1.2-20260101` is driver and suffix; a version of any other form is passed over.
fn image_of(version: &str) -> Option<GpuImage> {
    let (driver, suffix) = version.split_once('-').filter(|(_, rest)| !rest.contains('-'))?;
    Some(GpuImage { driver: driver.to_owned(), suffix: suffix.to_owned() })
}

/// `mcr.microsoft.com/aks/aks-gpu-grid:*` is the image `aks-gpu-grid`.
fn name_of(url: &str) -> &str {
    let last = url.rsplit_once('/').map_or(url, |(_, last)| last);
    last.split_once(':').map_or(last, |(name, _)| name)
}

#[derive(Default)]
struct Component {
    download_url: String,
    latest_version: String,
}

/// Go validates the whole text before it looks at types, so an error of type counts only in valid JSON.
fn read(document: &[u8]) -> Result<GpuImages, Error> {
    read_images(document).map_err(|error| json::checked(document).err().unwrap_or(error))
}

fn read_images(document: &[u8]) -> Result<GpuImages, Error> {
    let mut images = GpuImages::default();
    let mut reader = Reader::new(document, Dialect::Go);
    json::members_or_null(&mut reader, &mut |reader, name| {
        if !case::is_ignoring_case(name, "GPUContainerImages") {
            return reader.skip(MAX_DEPTH - 1);
        }
        images = GpuImages::default();
        if json::is_null(reader)? {
            return Ok(());
        }
        let mut elements = reader.array()?;
        while elements.next(reader)? {
            images.take(&read_entry(reader)?);
        }
        Ok(())
    })?;
    reader.end()?;
    Ok(images)
}

fn read_entry(reader: &mut Reader<'_>) -> Result<Component, Error> {
    let mut entry = Component::default();
    json::members_or_null(reader, &mut |reader, name| {
        if case::is_ignoring_case(name, "downloadURL") {
            json::set_string(reader, &mut entry.download_url)
        } else if case::is_ignoring_case(name, "gpuVersion") {
            json::members_or_null(reader, &mut |reader, name| {
                if case::is_ignoring_case(name, "latestVersion") {
                    json::set_string(reader, &mut entry.latest_version)
                } else if case::is_ignoring_case(name, "renovateTag") {
                    // Not needed, but a text or nothing.
                    json::set_string(reader, &mut String::new())
                } else {
                    reader.skip(MAX_DEPTH - 4)
                }
            })
        } else {
            reader.skip(MAX_DEPTH - 3)
        }
    })?;
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(document: &str) -> Result<GpuImages, ComponentsError> {
        GpuImages::from_components(document.as_bytes())
    }

    fn image(driver: &str, suffix: &str) -> GpuImage {
        GpuImage { driver: driver.to_owned(), suffix: suffix.to_owned() }
    }

    #[test]
    fn the_last_good_entry_of_each_image_counts() {
        let found = images(
            r#"{"Packages": [{"x": 1}], "GPUContainerImages": [
                {"downloadURL": "mcr.microsoft.com/aks/aks-gpu-cuda-lts:*",
                 "gpuVersion": {"renovateTag": "t", "latestVersion": "580.1-20260101"}},
                {"downloadURL": "mcr.microsoft.com/aks/aks-gpu-cuda:*",
                 "gpuVersion": {"latestVersion": "570.1-20260101"}},
                {"downloadURL": "registry:443/aks-gpu-grid:*:x",
                 "gpuVersion": {"latestVersion": "550.1-20260101"}},
                {"DOWNLOADURL": "aks-gpu-grid",
                 "GpuVersion": {"LATESTVERSION": "550.2-20260102", "other": [1]}},
                {"downloadURL": "aks-gpu-grid", "gpuVersion": {"latestVersion": "malformed"}},
                {"downloadURL": "aks-gpu-grid", "gpuVersion": {"latestVersion": "a-b-c"}},
                {"downloadURL": "a/aks-gpu-grid-v20", "gpuVersion": {"latestVersion": "595.1-"}},
                null, {}, {"downloadURL": null, "gpuVersion": null},
                {"gpuVersion": {"latestVersion": null, "renovateTag": null}}
            ]}"#,
        )
        .unwrap();
        assert_eq!(
            found,
            GpuImages {
                cuda_lts: image("580.1", "20260101"),
                grid: image("550.2", "20260102"),
                grid_v20: image("595.1", ""),
            }
        );
    }

    #[test]
    fn absence_is_not_an_error() {
        for document in
            ["{}", "null", r#"{"GPUContainerImages": null}"#, r#"{"GPUContainerImages": []}"#]
        {
            assert_eq!(images(document), Ok(GpuImages::default()), "{document}");
        }
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_shape_is_refused() {
        for document in [
            "",
            "not json",
            "[]",
            "\"x\"",
            "5",
            "{} {}",
            r#"{"GPUContainerImages": {}}"#,
            r#"{"GPUContainerImages": [[]]}"#,
            r#"{"GPUContainerImages": ["x"]}"#,
            r#"{"GPUContainerImages": [{"downloadURL": 5}]}"#,
            r#"{"GPUContainerImages": [{"gpuVersion": "x"}]}"#,
            r#"{"GPUContainerImages": [{"gpuVersion": {"latestVersion": []}}]}"#,
            r#"{"GPUContainerImages": [{"gpuVersion": {"renovateTag": true}}]}"#,
            r#"{"Packages": [1,]}"#,
            &format!(r#"{{"Packages": {}{}}}"#, "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH)),
        ] {
            assert!(images(document).is_err(), "{document}");
        }
        let both_wrong = r#"{"GPUContainerImages": {}, "Packages": [1,]}"#;
        let error = images(both_wrong).unwrap_err().to_string();
        assert_eq!(
            Some(error),
            images(r#"{"GPUContainerImages": [], "Packages": [1,]}"#)
                .err()
                .map(|error| error.to_string())
        );
        assert_eq!(
            images("[]").unwrap_err().to_string(),
            "failed to unmarshal components.json: expected an object, found an array"
        );
    }

    #[test]
    fn an_image_is_named_by_the_end_of_its_address() {
        for (url, name) in [
            ("mcr.microsoft.com/aks/aks-gpu-cuda:*", "aks-gpu-cuda"),
            ("localhost:5000/aks-gpu-grid:1:2", "aks-gpu-grid"),
            ("aks-gpu-grid", "aks-gpu-grid"),
            ("a/", ""),
            ("", ""),
        ] {
            assert_eq!(name_of(url), name);
        }
    }
}
