//! Trusted certificates: those of the system, and those of a file.

use super::error::{Code, RegistryStop};
use super::session::RegistrySession;
use crate::node::log::LogValue::Text;
use crate::node::paths::Layout;
use crate::world::{ReadFailure, Roots, World};

/// Paths on Ubuntu and Azure Linux.
const SYSTEM: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];
/// Several times what a system has.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Reads the certificates. An explicit file must contain some.
pub(super) fn roots(session: &mut RegistrySession<'_, '_>) -> Result<Roots, RegistryStop> {
    let mut texts = Vec::new();
    if let Some(file) = &session.flags.ca_file {
        let failed = |why: String| {
            RegistryStop::new(Code::Failed, format!("--ca-file {}: {why}", file.display()))
        };
        let text = session.agent.world.read(file, MAX_BYTES).map_err(|failure| match failure {
            ReadFailure::Open(error) | ReadFailure::Read(error) => failed(error.to_string()),
            ReadFailure::TooLarge { limit } => failed(format!("larger than {limit} bytes")),
        })?;
        texts.push(text);
        if Roots::from_pem(&texts).count() == 0 {
            return Err(failed("no certificate in it".to_owned()));
        }
    }
    texts.extend(system(session.agent.world, &session.agent.layout));
    let roots = Roots::from_pem(&texts);
    if roots.count() == 0 {
        let looked = SYSTEM.join(", ");
        session.agent.warn("no CA certificates", &[("files", Text(&looked))]);
    }
    Ok(roots)
}

pub(crate) fn system(world: &mut dyn World, layout: &Layout) -> Vec<Vec<u8>> {
    SYSTEM.iter().filter_map(|file| world.read(&layout.at(file), MAX_BYTES).ok()).collect()
}
