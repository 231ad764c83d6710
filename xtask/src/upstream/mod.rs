//! `upstream PATH`: what a checkout of AgentBaker has that our recordings of it do not have, and the other way around.

mod found;
mod recorded;

use std::fmt::Write as _;
use std::path::Path;

use mooring_codes::Os;

use crate::step::{Failed, print, root, write};
use crate::upstream::found::{
    BEHAVIOR, Checkout, Difference, LAUNCHER, PARSER, PROTO, SCRIPTS, TEMPLATE, WINDOWS, compare,
};

const FILES: &str = "xtask/src/upstream/files.tsv";

/// Compares a checkout of AgentBaker with our recordings; `--record` records the checksums of its files instead.
pub(crate) fn upstream(words: &[&str]) -> Result<(), Failed> {
    match words {
        [path] if !path.starts_with('-') => {
            let differences = differences(&Checkout::read(Path::new(path)));
            for difference in &differences {
                print(&format!("{difference}\n"));
            }
            match differences.len() {
                0 => {
                    print(&format!("{path} is as we recorded it\n"));
                    Ok(())
                }
                count => {
                    Err(Failed(format!("{count} differences between {path} and our recordings")))
                }
            }
        }
        [path, "--record"] => {
            let mut files = String::new();
            for (path, checksum) in Checkout::read(Path::new(path)).behavior() {
                let _ = writeln!(files, "{path}\t{checksum}");
            }
            write(&root().join(FILES), &files)
        }
        _ => {
            Err(Failed("upstream PATH [--record]: the path of a checkout of AgentBaker".to_owned()))
        }
    }
}

fn differences(checkout: &Checkout) -> Vec<Difference> {
    [
        compare("contract", PROTO, &recorded::contract(), &checkout.contract()),
        compare("linux code", SCRIPTS, &recorded::codes(Os::Linux), &checkout.linux_codes()),
        compare("windows code", WINDOWS, &recorded::codes(Os::Windows), &checkout.windows_codes()),
        compare("variable", PARSER, &recorded::variables(), &checkout.variables()),
        compare("template variable", TEMPLATE, &recorded::template(), &checkout.template()),
        compare("launcher", LAUNCHER, &recorded::launcher(), &checkout.launcher()),
        compare("file", BEHAVIOR, &recorded::behavior(), &checkout.behavior()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod chore_tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_difference_of_a_checkout_is_named() {
        let folder = std::env::temp_dir().join(format!("mooring-upstream-{}", std::process::id()));
        for (path, text) in [
            (
                "aks-node-controller/proto/aksnodeconfig/v1/gpu_config.proto",
                "message GpuConfig {\n  // string not_this = 12;\n  /* nor; this { */ reserved 6;\n  optional bool enable_nvidia = 1;\n  string gpu_instance_profile = 44;\n  repeated string new_list = 11;\n  map<string, NewMessage> by_name = 12 [json_name = \"named\"];\n}\nenum NewEnum { NEW_ENUM_UNSPECIFIED = 0; }\n",
            ),
            (
                "parts/linux/cloud-init/artifacts/cse_helpers.sh",
                "# ERR_SYSTEMCTL_ENABLE_FAIL=3 reserved\nERR_OUTBOUND_CONN_FAIL=51 # moved\nERR_K8S_API_SERVER_CONN_FAIL=51 # as before\nERR_NEW=249\nreadonly ERR_NEWER=\"250\"\n",
            ),
            (WINDOWS, "$global:WINDOWS_CSE_ERROR_NEW = 99\n"),
            (
                TEMPLATE,
                "ADMINUSER={{GetParameter \"linuxAdminUsername\"}}\nMIG_NODE={{IsMIG}}\nNEW_INPUT={{GetVariable \"x\"}}\n",
            ),
            (
                PARSER,
                "env := map[string]string{\n\t\"MIG_NODE\": \"\",\n\t\"NEW_VARIABLE\":  x(),\n}\n",
            ),
            (
                LAUNCHER,
                "CONFIG_PATH=\"${CONFIG_PATH:-/elsewhere}\"\nNEW_PATH=\"${NEW_PATH:-/x}\"\nif \"$BIN_PATH\" check-hotfix; then\n# \"$BIN_PATH\" commented\n\"$BIN_PATH\" new-command\n",
            ),
            ("aks-node-controller/new.go", "package main\n"),
            ("aks-node-controller/new_test.go", "package main\n"),
        ] {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            write(&path, text).unwrap();
        }
        let found = differences(&Checkout::read(&folder));
        fs::remove_dir_all(&folder).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        for line in [
            "contract: new: GpuConfig.new_list 11 newList string repeated",
            "contract: new: GpuConfig.by_name 12 named message:NewMessage map",
            "contract: new: NewEnum.NEW_ENUM_UNSPECIFIED 0",
            "contract: changed: GpuConfig.gpu_instance_profile: 44 gpuInstanceProfile string implicit (recorded: 4 gpuInstanceProfile string implicit)",
            "contract: gone: GpuConfig.enable_managed_gpu 7 enableManagedGpu bool implicit",
            "linux code: changed: ERR_OUTBOUND_CONN_FAIL: 51 (recorded: 50)",
            "linux code: new: ERR_NEW 249",
            "linux code: new: ERR_NEWER 250",
            "windows code: new: WINDOWS_CSE_ERROR_NEW 99",
            "template variable: new: NEW_INPUT",
            "template variable: gone: TENANT_ID",
            "variable: new: NEW_VARIABLE",
            "variable: gone: ADMINUSER",
            "launcher: changed: variable CONFIG_PATH: /elsewhere (recorded: /opt/azure/containers/aks-node-controller-config.json)",
            "launcher: new: variable NEW_PATH /x",
            "launcher: new: command new-command",
            "launcher: gone: command provision",
            "launcher: gone: flag --nbc-cmd",
        ] {
            assert!(found.iter().any(|known| known == line), "{line}: {found:#?}");
        }
        for part in
            ["file: new: aks-node-controller/new.go ", "file: gone: aks-node-controller/app.go "]
        {
            assert!(found.iter().any(|line| line.starts_with(part)), "{part}: {found:#?}");
        }
        for part in [
            "enable_nvidia",
            "not_this",
            "ERR_K8S_API_SERVER_CONN_FAIL",
            "ERR_SYSTEMCTL_ENABLE",
            "MIG_NODE",
            "check-hotfix",
            "commented",
            "_test.go",
        ] {
            assert!(!found.iter().any(|line| line.contains(part)), "{part}: {found:#?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_a_difference() {
        let found = differences(&Checkout::read(Path::new("/nowhere")));
        assert_eq!(found.len(), 7, "{found:?}");
        assert!(upstream(&["/nowhere"]).is_err() && upstream(&[]).is_err());
    }
}
