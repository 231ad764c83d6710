//! The driver of a VM size, and its variables.

use mooring_codes::Date;
use mooring_contract::NodeConfig;
use mooring_contract::node_config::OrUnset as _;

use crate::environment::go::case;
use crate::environment::{Environment, GpuImages};

pub(in crate::environment) fn variables(
    config: &NodeConfig,
    images: &GpuImages,
    image: Option<Date>,
    out: &mut Environment,
) {
    let size = case::lower(&config.vm_size);
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
    fn without_images_only_the_oldest_sizes_have_a_driver() {
        for (size, version) in [("Standard_NC6", "cuda-470.82.01"), ("Standard_NC6s_v3", "")] {
            let out = environment(size, &GpuImages::default());
            assert_eq!(out.expose("GPU_DRIVER_VERSION"), Some(version));
            assert_eq!(out.expose("GPU_IMAGE_SHA"), Some(""));
        }
    }

    #[test]
    fn the_tables_have_their_full_length() {
        assert_eq!(RTX_PRO_6000.len(), 15);
        assert_eq!(A10.len(), 9);
        assert_eq!(FABRIC_MANAGER.len(), 20);
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
