//! `render`: prints the environment of the scripts, or the custom data for Azure. It runs and writes nothing.

use mooring_codes::image_date;
use mooring_contract::NodeConfig;
use mooring_contract::custom_data::{Boundary, CSE_COMMAND, CustomData, CustomDataForm, Features};
use mooring_contract::node_config::{self, validate};
use mooring_redact::Redactor;

use crate::cli::{RenderFlags, Rendered};
use crate::format::read_failure;
use crate::node::inputs::{ContainerdProbe, MAX_FILE_BYTES, read_components};
use crate::node::paths::{COMPONENTS, Layout};
use crate::world::{Stream, World};
use crate::{VERSION, environment};

/// Begins what is shown in the place of custom data.
const MASKED_NOTICE: &str =
    "*** This is not custom data: secrets are masked. Render it with --show-secrets. ***";

pub(crate) fn render(world: &mut dyn World, layout: &Layout, flags: &RenderFlags) -> u8 {
    match rendered(world, layout, flags) {
        Ok(bytes) => {
            world.print(Stream::Out, &bytes);
            0
        }
        Err(error) => {
            world.print(Stream::Err, format!("aks-node-controller: {error}\n").as_bytes());
            1
        }
    }
}

fn rendered(
    world: &mut dyn World,
    layout: &Layout,
    flags: &RenderFlags,
) -> Result<Vec<u8>, String> {
    if flags.what == Rendered::CseCommand && flags.config.is_none() {
        return Ok(format!("{CSE_COMMAND}\n").into_bytes());
    }
    let config = read_config(world, flags)?;
    match flags.what {
        Rendered::CseCommand => Ok(format!("{CSE_COMMAND}\n").into_bytes()),
        Rendered::CustomData(format) => custom_data(world, &config, format, flags.show_secrets),
        Rendered::Environment { nul_separated } => {
            environment_text(world, layout, &config, flags, nul_separated)
        }
    }
}

fn read_config(world: &mut dyn World, flags: &RenderFlags) -> Result<NodeConfig, String> {
    let Some(path) = &flags.config else {
        return Err(
            "--provision-config FILE is required\nhint: `aks-node-controller render --help`"
                .to_owned(),
        );
    };
    let shown = path.display();
    let text = world.read(path, MAX_FILE_BYTES).map_err(|failure| {
        format!("cannot read the node config: {}", read_failure(path, &failure))
    })?;
    let parsed = node_config::parse(&text).map_err(|error| format!("{shown}: {error}"))?;
    for warning in &parsed.warnings {
        world.print(Stream::Err, format!("warning: {shown}: {warning}\n").as_bytes());
    }
    if flags.validate {
        validate(&parsed.config).map_err(|invalid| format!("{shown}: {invalid}"))?;
    }
    Ok(parsed.config)
}

fn environment_text(
    world: &mut dyn World,
    layout: &Layout,
    config: &NodeConfig,
    flags: &RenderFlags,
    nul_separated: bool,
) -> Result<Vec<u8>, String> {
    let containerd = ContainerdProbe::start(world);
    let gpu_images = match &flags.components {
        Some(typed) => read_components(world, typed, &typed.display().to_string()),
        None => read_components(world, &layout.at(COMPONENTS), COMPONENTS),
    };
    let gpu_images = gpu_images.map_err(|error| {
        format!("{error}\nhint: give the image's component list with --components FILE")
    })?;
    let (containerd, warning) = containerd.end();
    if let Some(warning) = warning {
        world.print(Stream::Err, format!("warning: {warning}\n").as_bytes());
    }
    let built = environment::build(config, &gpu_images, containerd, image_date(VERSION).ok())
        .map_err(|error| error.to_string())?;
    let end = if nul_separated { '\0' } else { '\n' };
    let line = |(name, value): (&str, &str)| format!("{name}={value}{end}");
    let text: String = if flags.show_secrets {
        built.environment.expose_all().map(line).collect()
    } else {
        built.environment.masked().map(line).collect()
    };
    Ok(text.into_bytes())
}

fn custom_data(
    world: &mut dyn World,
    config: &NodeConfig,
    format: CustomDataForm,
    show_secrets: bool,
) -> Result<Vec<u8>, String> {
    let mut json = config.to_json_with_secrets();
    if !show_secrets {
        json = Redactor::new(config.expose_secrets()).redact(&json).into_owned();
    }
    let mut random = [0; 30];
    world.random(&mut random).map_err(|error| format!("no random numbers: {error}"))?;
    let features = Features::from(config.enabled_features.clone());
    let data =
        CustomData::render(format, json.as_bytes(), &features, &Boundary::from_random(random))
            .map_err(|error| error.to_string())?;
    for dropped in data.dropped() {
        world.print(Stream::Err, format!("warning: {dropped}\n").as_bytes());
    }
    for key in features.altered_keys() {
        let text = format!(
            "warning: feature toggle `{key}` arrives changed: its value is not plain ASCII\n"
        );
        world.print(Stream::Err, text.as_bytes());
    }
    if show_secrets {
        return Ok(format!("{}\n", data.expose_base64()).into_bytes());
    }
    // Neither in base64 nor with a first line that cloud-init or Ignition would accept: a node that gets this must not
    // boot with masks in the place of its secrets.
    let document = String::from_utf8_lossy(data.expose_raw());
    Ok(format!("{MASKED_NOTICE}\n{json}\n\n{}\n", document.trim_end()).into_bytes())
}
