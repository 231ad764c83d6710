//! GPU drivers by VM size, and the images that `components.json` lists.

use mooring_codes::Date;
use mooring_contract::NodeConfig;
use mooring_contract::json::{Dialect, Error, MAX_DEPTH, Reader};
use mooring_contract::node_config::OrUnset as _;

use crate::environment::{Environment, go};
use crate::format::{self, json_error};

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

impl GpuImages {
    /// Reads the file; other entries are ignored. The error is in the upstream Go agent's words.
    pub fn from_components(document: &[u8]) -> Result<Self, String> {
        read(document).map_err(|error| {
            format!("failed to unmarshal components.json: {}", json_error(document, &error))
        })
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
    read_images(document).map_err(|error| format::checked(document).err().unwrap_or(error))
}

fn read_images(document: &[u8]) -> Result<GpuImages, Error> {
    let mut images = GpuImages::default();
    let mut reader = Reader::new(document, Dialect::Go);
    format::members_or_null(&mut reader, &mut |reader, name| {
        if !go::is_ignoring_case(name, "GPUContainerImages") {
            return reader.skip(MAX_DEPTH - 1);
        }
        images = GpuImages::default();
        if format::is_null(reader)? {
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
    format::members_or_null(reader, &mut |reader, name| {
        if go::is_ignoring_case(name, "downloadURL") {
            format::set_string(reader, &mut entry.download_url)
        } else if go::is_ignoring_case(name, "gpuVersion") {
            format::members_or_null(reader, &mut |reader, name| {
                if go::is_ignoring_case(name, "latestVersion") {
                    format::set_string(reader, &mut entry.latest_version)
                } else if go::is_ignoring_case(name, "renovateTag") {
                    // Not needed, but a text or nothing.
                    format::set_string(reader, &mut String::new())
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

pub(super) fn variables(
    config: &NodeConfig,
    images: &GpuImages,
    image: Option<Date>,
    out: &mut Environment,
) {
    let size = go::lower(&config.vm_size);
    let (driver, version, suffix) = driver_of(&size, images);
    let gpu = config.gpu_config.or_unset();
    let is_divided = !gpu.gpu_instance_profile.is_empty()
        || !gpu.mig_profile_layout.is_empty() && image >= LAYOUT_SINCE;
    out.text("GPU_DRIVER_TYPE", driver)
        .text("GPU_DRIVER_VERSION", version)
        .text("GPU_IMAGE_SHA", suffix)
        .flag("GPU_NEEDS_FABRIC_MANAGER", FABRIC_MANAGER.contains(&size.as_str()))
        .flag("GPU_NODE", gpu.enable_nvidia.unwrap_or_default())
        .flag("CONFIG_GPU_DRIVER_IF_NEEDED", gpu.config_gpu_driver)
        .flag("ENABLE_GPU_DEVICE_PLUGIN_IF_NEEDED", gpu.gpu_device_plugin)
        .flag("MANAGED_GPU_EXPERIENCE_AFEC_ENABLED", gpu.managed_gpu_experience_afec_enabled)
        .flag("ENABLE_MANAGED_GPU", gpu.enable_managed_gpu)
        .flag("ENABLE_MANAGED_GPU_DRA", gpu.enable_managed_gpu_dra)
        .flag("MIG_NODE", is_divided)
        .text("GPU_INSTANCE_PROFILE", &gpu.gpu_instance_profile)
        .text("NVIDIA_MIG_STRATEGY", &gpu.mig_strategy)
        .text("NVIDIA_MIG_PROFILE_LAYOUT", gpu.mig_profile_layout.join(","));
}

/// The first images whose scripts divide GPUs by a profile layout alone; those of older ones fail where `MIG_NODE` is true
/// without an instance profile. Upstream changed them between 2026-08-21 and 2026-09-22.
const LAYOUT_SINCE: Option<Date> = Date::new(2026, 10, 1);

/// Returns the driver's type and version and its image's suffix; keyed by the size's name in lower case.
fn driver_of<'i>(size: &str, images: &'i GpuImages) -> (&'static str, &'i str, &'i str) {
    let GpuImages { cuda_lts, grid, grid_v20 } = images;
    let rtx_pro =
        size.strip_prefix("standard_nc").and_then(|rest| rest.strip_suffix("_xl_rtxpro6000bse_v6"));
    if rtx_pro.is_some_and(|model| RTX_PRO_6000.contains(&model)) {
        ("grid-v20", &grid_v20.driver, &grid_v20.suffix)
    } else if A10.contains(&size) {
        ("grid", &grid.driver, &grid.suffix)
    } else if size.starts_with("standard_nc") && !size.contains("_v") {
        // The first NC generation, whose driver is no longer built. Quirk kept: it gets the suffix of an image that it
        // does not use.
        ("cuda", "cuda-470.82.01", &cuda_lts.suffix)
    } else {
        // Sizes without a GPU included.
        ("cuda-lts", &cuda_lts.driver, &cuda_lts.suffix)
    }
}

/// The part between `standard_nc` and `_xl_rtxpro6000bse_v6`.
const RTX_PRO_6000: &[&str] = &[
    "24lds", "36ds", "36lds", "72ds", "72lds", "144ds", "144lds", "288ds", "288lds", "128ds",
    "128lds", "256ds", "256lds", "320ds", "320lds",
];

const A10: &[&str] = &[
    "standard_nv6ads_a10_v5",
    "standard_nv12ads_a10_v5",
    "standard_nv18ads_a10_v5",
    "standard_nv36ads_a10_v5",
    "standard_nv72ads_a10_v5",
    "standard_nv36adms_a10_v5",
    "standard_nc8ads_a10_v4",
    "standard_nc16ads_a10_v4",
    "standard_nc32ads_a10_v4",
];

/// Sizes whose GPUs are joined by a switch that needs a manager.
const FABRIC_MANAGER: &[&str] = &[
    "standard_nd96asr_v4",
    "standard_nd112asr_a100_v4",
    "standard_nd120asr_a100_v4",
    "standard_nd96amsr_a100_v4",
    "standard_nd112amsr_a100_v4",
    "standard_nd120amsr_a100_v4",
    "standard_nd96ams_a100_v4",
    "standard_nd96ams_v4",
    "standard_nd46s_h100_v5",
    "standard_nd48s_h100_v5",
    "standard_nd50s_h100_v5",
    "standard_nd92is_h100_v5",
    "standard_nd96is_h100_v5",
    "standard_nd100is_h100_v5",
    "standard_nd92isr_h100_v5",
    "standard_nd96isr_h100_v5",
    "standard_nd100isr_h100_v5",
    "standard_nd96is_h200_v5",
    "standard_nd96isr_h200_v5",
    "standard_nd96isrf_h200_v5",
];

#[cfg(test)]
mod tests {
    use mooring_contract::node_config::GpuConfig;

    use super::*;
    use crate::environment::GpuImage;

    fn images(document: &str) -> Result<GpuImages, String> {
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
        let error = images(both_wrong).unwrap_err();
        let one_wrong = r#"{"GPUContainerImages": [], "Packages": [1,]}"#;
        assert_eq!(Some(error), images(one_wrong).err());
        assert_eq!(
            images("[]").unwrap_err(),
            "failed to unmarshal components.json: expected an object, found an array"
        );
    }

    fn environment(size: &str, images: &GpuImages) -> Environment {
        let mut out = Environment::default();
        let config = NodeConfig { vm_size: size.to_owned(), ..Default::default() };
        variables(&config, images, None, &mut out);
        out
    }

    #[test]
    fn each_size_gets_its_driver() {
        let image = |text: &str| GpuImage { driver: format!("d-{text}"), suffix: text.to_owned() };
        let images =
            GpuImages { cuda_lts: image("lts"), grid: image("grid"), grid_v20: image("v20") };
        for (size, kind, version, suffix, fabric) in [
            ("", "cuda-lts", "d-lts", "lts", "false"),
            ("Standard_D2s_v3", "cuda-lts", "d-lts", "lts", "false"),
            ("Standard_NC6s_v3", "cuda-lts", "d-lts", "lts", "false"),
            ("Standard_NC6", "cuda", "cuda-470.82.01", "lts", "false"),
            ("standard_nc", "cuda", "cuda-470.82.01", "lts", "false"),
            ("STANDARD_NC24RS_V3", "cuda-lts", "d-lts", "lts", "false"),
            ("Standard_NV6ads_A10_v5", "grid", "d-grid", "grid", "false"),
            ("standard_nv36adms_a10_v5", "grid", "d-grid", "grid", "false"),
            ("Standard_NC8ads_A10_v4", "grid", "d-grid", "grid", "false"),
            ("Standard_NV7ads_A10_v5", "cuda-lts", "d-lts", "lts", "false"),
            ("Standard_NC144ds_xl_RTXPRO6000BSE_v6", "grid-v20", "d-v20", "v20", "false"),
            ("standard_nc24ds_xl_rtxpro6000bse_v6", "cuda-lts", "d-lts", "lts", "false"),
            ("Standard_ND96asr_v4", "cuda-lts", "d-lts", "lts", "true"),
            ("Standard_ND96\u{130}sr_H100_v5", "cuda-lts", "d-lts", "lts", "true"),
            ("Standard_ND40rs_v2", "cuda-lts", "d-lts", "lts", "false"),
            ("\u{17F}tandard_nc6", "cuda-lts", "d-lts", "lts", "false"),
            (" Standard_NC6", "cuda-lts", "d-lts", "lts", "false"),
        ] {
            let out = environment(size, &images);
            assert_eq!(out.expose("GPU_DRIVER_TYPE"), Some(kind), "{size}");
            assert_eq!(out.expose("GPU_DRIVER_VERSION"), Some(version), "{size}");
            assert_eq!(out.expose("GPU_IMAGE_SHA"), Some(suffix), "{size}");
            assert_eq!(out.expose("GPU_NEEDS_FABRIC_MANAGER"), Some(fabric), "{size}");
        }
    }

    #[test]
    fn a_layout_alone_makes_a_mig_node_only_of_an_image_that_knows_it() {
        for (image, profile, layout, expected) in [
            (None, "", true, "false"),
            (Date::new(2026, 8, 21), "", true, "false"),
            (Date::new(2026, 9, 30), "", true, "false"),
            (Date::new(2026, 10, 1), "", true, "true"),
            (Date::new(2026, 11, 15), "", true, "true"),
            (Date::new(2026, 11, 15), "", false, "false"),
            (None, "MIG1g", false, "true"),
            (Date::new(2026, 8, 21), "MIG1g", true, "true"),
        ] {
            let mut out = Environment::default();
            let layout = if layout { vec!["b".to_owned(), "a".to_owned()] } else { Vec::new() };
            let shown = layout.join(",");
            let gpu = GpuConfig {
                gpu_instance_profile: profile.to_owned(),
                mig_profile_layout: layout,
                ..Default::default()
            };
            let config = NodeConfig { gpu_config: Some(gpu), ..Default::default() };
            variables(&config, &GpuImages::default(), image, &mut out);
            assert_eq!(out.expose("MIG_NODE"), Some(expected), "{image:?} {profile} {shown}");
            assert_eq!(out.expose("NVIDIA_MIG_PROFILE_LAYOUT"), Some(shown.as_str()));
        }
    }
}
