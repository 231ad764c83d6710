//! Files with addresses and credentials for clients.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use mooring_contract::Secret;
use serde_json::json;

use crate::azure::kubeconfig;
use crate::cluster::ClusterOptions;

#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {error}\nhint: `--state DIR` sets another directory", path = path.display())]
pub struct FilesError {
    path: PathBuf,
    error: std::io::Error,
}

/// Writes the CA certificate, the kubeconfig, and the environment variables that name both.
pub(super) fn write(
    folder: &Path,
    ca_pem: &str,
    options: &ClusterOptions,
    admin_token: &Secret,
) -> Result<(), FilesError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| FilesError { path, error }
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed(folder))?;
    let folder = fs::canonicalize(folder).map_err(failed(folder))?;
    let authority = folder.join("ca.pem");
    replace(&authority, 0o644, ca_pem).map_err(failed(&authority))?;
    let mut exported = guard(std::process::id());
    exported += &exports(options, &authority, admin_token);
    if let Some(access) = &options.azure.kubernetes {
        let config = folder.join("kubeconfig");
        let (name, login) = (&options.azure.cluster, json!({"token": options.token.expose()}));
        let text = kubeconfig(name, &access.server, &access.ca_pem, "administrator", &login);
        replace(&config, 0o600, &format!("{text:#}\n")).map_err(failed(&config))?;
        export(&mut exported, "KUBECONFIG", &config.to_string_lossy());
    }
    let environment = folder.join("env.sh");
    replace(&environment, 0o600, &exported).map_err(failed(&environment))
}

const ALIVE: &str = "kill -0 ";

/// Returns the first line of `env.sh`: sourcing it fails, and sets nothing, after its simulator has stopped.
fn guard(pid: u32) -> String {
    format!(
        "{ALIVE}{pid} 2>/dev/null || {{ echo 'env.sh: the simulator that wrote this file (pid {pid}) has stopped; \
         run mooring-lab sim again' >&2; return 1; }}\n"
    )
}

/// Returns the process that wrote `env.sh` in this directory. It may have ended.
pub fn owner(folder: &Path) -> Option<u32> {
    let text = fs::read_to_string(folder.join("env.sh")).ok()?;
    text.strip_prefix(ALIVE)?.split(' ').next()?.parse().ok()
}

/// Removes `env.sh` of this process, so that no shell sources it later.
pub fn remove_environment(folder: &Path) {
    if owner(folder) == Some(std::process::id()) {
        let _ = fs::remove_file(folder.join("env.sh"));
    }
}

fn exports(options: &ClusterOptions, authority: &Path, admin_token: &Secret) -> String {
    let authority = authority.to_string_lossy();
    let options = &options.azure;
    let endpoint = options.endpoint.as_str();
    let mut text = String::new();
    let names = [
        ("AZURE_TENANT_ID", options.tenant.as_str()),
        ("AZURE_CLIENT_ID", &options.client_id),
        ("AZURE_CLIENT_SECRET", options.client_secret.expose()),
        ("AZURE_AUTHORITY_HOST", endpoint),
        ("AZURE_RESOURCE_MANAGER_ENDPOINT", endpoint),
        ("AZURE_RESOURCE_MANAGER_AUDIENCE", endpoint),
        ("AZURE_CA_CERTIFICATE", &authority),
        ("AZURE_SUBSCRIPTION_ID", &options.subscription),
        ("SUBSCRIPTION_ID", &options.subscription),
        ("RESOURCE_GROUP", &options.resource_group),
        ("CLUSTER_NAME", &options.cluster),
        ("MOORING_SIM_TOKEN", admin_token.expose()),
    ];
    for (name, value) in names {
        export(&mut text, name, value);
    }
    text
}

fn export(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "export {name}='{}'", value.replace('\'', r"'\''"));
}

/// Replaces a file atomically: a temporary file, then a rename.
fn replace(path: &Path, mode: u32, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    let _ = fs::remove_file(&beside);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
    file.write_all(text.as_bytes())?;
    drop(file);
    fs::rename(&beside, path)
}
