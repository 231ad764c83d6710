//! Components and versions of the node.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::environment::{ContainerdLayout, GpuImages};
use crate::format::go_text::read_failure;
use crate::world::{Probe, World};

/// The most of `components.json` that is read; the real one is below 100 KiB.
const MAX_COMPONENTS_BYTES: u64 = 16 << 20;

/// Returns the image's GPU drivers; `shown` is the path in messages.
pub(crate) fn read_components(
    world: &mut dyn World,
    path: &Path,
    shown: &str,
) -> Result<GpuImages, String> {
    let text = world.read(path, MAX_COMPONENTS_BYTES).map_err(|failure| {
        let failure = read_failure(shown.as_ref(), &failure);
        format!("failed to load GPU config: read {shown}: {failure}")
    })?;
    GpuImages::from_components(&text)
        .map_err(|error| format!("failed to load GPU config: parse {shown}: {error}"))
}

/// The version of the installed containerd, asked for while the rest is read.
pub(crate) struct ContainerdProbe(io::Result<Probe>);

impl ContainerdProbe {
    pub(crate) fn start(world: &mut dyn World) -> Self {
        Self(world.probe("containerd", &["--version".as_ref()]))
    }

    /// Returns the installed containerd; with a warning if it is installed but does not respond.
    pub(crate) fn end(self) -> (ContainerdLayout, Option<&'static str>) {
        let answer = self.0.and_then(|probe| probe());
        let timed_out = answer.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut);
        let warning = timed_out.then_some(
            "`containerd --version` timed out and was killed; continuing as if containerd were not installed",
        );
        (ContainerdLayout::detect(answer.ok().as_deref()), warning)
    }
}
