//! The command line, run by a real shell under roots with hostile names.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use mooring_agent::environment::{self, ContainerdLayout, GpuImages, Root, command};
use mooring_contract::NodeConfig;

#[test]
fn a_root_with_any_name_is_one_word_for_both_shells() {
    for name in ["plain", "a b", "it's", "say \"hi\"", "$HOME `id` $(id)", "a\\b", "a\nb", "*;&|#"]
    {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("roots").join(name);
        let (logs, scripts) = (folder.join("var/log/azure"), folder.join("opt/azure/containers"));
        fs::create_dir_all(&logs).unwrap();
        fs::create_dir_all(&scripts).unwrap();
        fs::write(scripts.join("init-aks-cloud.sh"), "#!/bin/bash\necho initialised\n").unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(scripts.join("init-aks-cloud.sh"), executable).unwrap();
        fs::write(scripts.join("provision_start.sh"), "echo started \"$0\"; exit 7\n").unwrap();

        let root = Root::new(folder.to_str().unwrap()).unwrap();
        let built = environment::build(
            &NodeConfig::default(),
            &GpuImages::default(),
            ContainerdLayout::One,
            None,
        );
        let output = Command::new(command::PROGRAM)
            .args([command::FLAG, &command::script(Some(&root))])
            .envs(built.unwrap().environment.prefixed_paths(&root).expose_all())
            .output()
            .unwrap();

        assert_eq!(output.status.code(), Some(7), "{name:?}: {output:?}");
        let start = root.join("/opt/azure/containers/provision_start.sh");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("started {start}\n"));
        let log = fs::read_to_string(logs.join("cluster-provision.log")).unwrap();
        assert!(log.ends_with("initialised\n"), "{name:?}: {log:?}");
        assert!(logs.join("cluster-provision-cse-output.log").exists(), "{name:?}");
    }
}
