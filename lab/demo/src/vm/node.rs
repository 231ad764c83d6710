//! A VM that boots in a directory: the image's files, the custom data, the agent, and the extension that waits for it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use jiff::Timestamp;
use tokio::process::Command;
use tokio::time::Instant;

use super::cloud_init::{self, NotCustomData};
use crate::host::files;
use crate::host::processes::{self, EndedProcess};
use crate::scenario::image::{BORROWED, ImageFile};

/// Longer than any bootstrap of a simulated image.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Debug, Clone)]
pub(crate) struct DemoNode {
    pub(crate) root: PathBuf,
    pub(crate) agent: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum BootError {
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    #[error("the custom data cannot be used: {0}")]
    CustomData(#[from] NotCustomData),
    #[error("no result after {} s", COMMAND_TIMEOUT.as_secs())]
    Late,
}

impl DemoNode {
    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Installs the image's files, with the host name and the boot time.
    pub(crate) fn install(
        &self,
        image: &[ImageFile],
        name: &str,
        now: Timestamp,
    ) -> Result<(), BootError> {
        let failed = |path: PathBuf| move |error| BootError::Io(path, error);
        let _writing = processes::writing_programs();
        let own = [
            ImageFile::plain("etc/hostname", format!("{name}\n")),
            ImageFile::plain("run/boot-times", boot_times(now)),
            ImageFile::plain("var/log/messages", ""),
        ];
        for file in image.iter().chain(&own) {
            let path = self.at(&file.path);
            files::put(&path, file.mode, &file.text).map_err(failed(path))?;
        }
        for program in BORROWED {
            let Some(host) = find(program) else { continue };
            let path = self.at(&format!("usr/bin/{program}"));
            std::os::unix::fs::symlink(host, &path).map_err(failed(path))?;
        }
        Ok(())
    }

    /// Boots: cloud-init runs the boothook, which starts the agent; the extension waits for its result.
    pub(crate) async fn boot(&self, custom_data: &str) -> Result<EndedProcess, BootError> {
        let script = cloud_init::below_root(&cloud_init::boothook(custom_data)?);
        let hook = self.at("var/lib/cloud/instance/boothooks/part-001");
        files::put(&hook, 0o700, &script).map_err(|error| BootError::Io(hook.clone(), error))?;
        let began = Instant::now();
        let failed = |error| BootError::Io(hook.clone(), error);
        let mut boothook = self.command(Path::new("/bin/bash"));
        let boothook = boothook.arg(&hook).stdout(Stdio::null()).stderr(Stdio::null());
        let mut boothook = processes::spawn(boothook).map_err(failed)?;
        let _group = processes::ProcessGroup::of(&boothook);
        boothook.wait().await.map_err(failed)?;
        // The same command that the extension is given, below the root.
        let mut wait = self.command(&self.at("opt/azure/containers/aks-node-controller"));
        let ended = self.extension(wait.arg("provision-wait"), began).await?;
        self.agent_ended().await;
        Ok(ended)
    }

    /// Boots without the agent: the extension runs the scripts of the image.
    pub(crate) async fn boot_scripts(&self, registry: &str) -> Result<EndedProcess, BootError> {
        let mut scripts = self.command(Path::new("/bin/bash"));
        scripts.arg(self.at("opt/azure/containers/provision_start.sh"));
        scripts.env("BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER", registry);
        self.extension(&mut scripts, Instant::now()).await
    }

    async fn extension(
        &self,
        command: &mut Command,
        began: Instant,
    ) -> Result<EndedProcess, BootError> {
        let program = PathBuf::from(command.as_std().get_program());
        let failed = |error| BootError::Io(program.clone(), error);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = processes::spawn(command).map_err(failed)?;
        let _group = processes::ProcessGroup::of(&process);
        let ended = processes::ended(process, began, COMMAND_TIMEOUT).await.map_err(failed)?;
        ended.ok_or(BootError::Late)
    }

    /// Waits until the agent's `provision` exits, a moment after its result.
    async fn agent_ended(&self) {
        let lock = self.at("run/aks-node-controller/provision.lock");
        for _ in 0..400 {
            // The process holds the lock until it exits.
            match std::fs::File::open(&lock).map(|file| file.try_lock()) {
                Ok(Err(std::fs::TryLockError::WouldBlock)) => {}
                _ => return,
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Builds a command that sees only the VM's directory and its commands.
    fn command(&self, program: &Path) -> Command {
        let containers = self.at("opt/azure/containers");
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", self.at("usr/bin"))
            .env("LC_ALL", "C")
            .env(processes::MARK, &self.root)
            .env("AGENT", &self.agent)
            .env("BIN_PATH", containers.join("aks-node-controller"))
            .env("CONFIG_PATH", containers.join("aks-node-controller-config.json"))
            .env("NBC_CMD_PATH", containers.join("aks-node-controller-nbc-cmd.sh"))
            .env("HOTFIX_JSON", containers.join("aks-node-controller-hotfix.json"))
            .env("FEATURES_PATH", containers.join("enabled_features.sh"))
            .env("HOSTNAME_PATH", self.at("etc/hostname"))
            .env(
                "EVENTS_DIR",
                self.at("var/log/azure/Microsoft.Azure.Extensions.CustomScript/events"),
            )
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .process_group(0);
        command
    }
}

/// Boot times for the scripts' report; all are equal, since only the bootstrap is simulated.
fn boot_times(now: Timestamp) -> String {
    let stamp = now.strftime("%a %F %T UTC");
    ["KERNEL", "CLOUD_INIT_LOCAL", "CLOUD_INIT", "CLOUD_FINAL", "NETWORKD", "GUEST_AGENT"]
        .map(|name| format!("{name}='{stamp}'\n"))
        .concat()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/bin", "/bin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(usual)
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
}
