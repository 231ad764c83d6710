//! Help texts.

use crate::version::VERSION;

/// The help of a command, if there is one of this name.
pub(crate) fn of_command(name: &str) -> Option<String> {
    let text = match name {
        "provision" => PROVISION,
        "provision-wait" => PROVISION_WAIT,
        "version" => VERSION_HELP,
        "render" => RENDER,
        "preflight" => PREFLIGHT,
        "registry-login" => REGISTRY_LOGIN,
        "check-hotfix" => CHECK_HOTFIX,
        "download-hotfix" => DOWNLOAD_HOTFIX,
        "apply-embedded-hotfix" => APPLY_EMBEDDED_HOTFIX,
        "help" | "h" => return Some(general()),
        _ => return None,
    };
    Some(text.to_owned())
}

pub(crate) fn general() -> String {
    format!("{GENERAL_BEFORE}{VERSION}{GENERAL_AFTER}")
}

const GENERAL_BEFORE: &str = "\
NAME:
   aks-node-controller - bootstrap this node from its config, and report failures

USAGE:
   aks-node-controller [global options] [command [command options]]

VERSION:
   ";

const GENERAL_AFTER: &str = "

COMMANDS:
   provision        build the environment from the node config and run the bootstrap scripts
   provision-wait   wait for the result, print the report, exit with its code
   preflight        check what an image and a config must have before a script runs
   render           print the environment of the scripts, or the custom data for Azure
   registry-login   log in to the bootstrap registry with the kubelet identity
   version          print the version
   check-hotfix     refresh the hotfix pointer from the live-patching service
   download-hotfix  apply the hotfix that the pointer requests
   apply-embedded-hotfix  nothing is embedded; accepted for upstream's launcher
   help, h          list the commands, or show the help of one

GLOBAL OPTIONS:
   --root DIR     put DIR before the node's fixed paths (or set AKS_NODE_ROOT)
   --help, -h     show help
   --version, -v  print the version
";

const PROVISION: &str = "\
NAME:
   aks-node-controller provision - build the environment and run the bootstrap scripts

USAGE:
   aks-node-controller provision --provision-config FILE [--dry-run]
   aks-node-controller provision --nbc-cmd FILE [--provision-config FILE] [--dry-run]

OPTIONS:
   --provision-config FILE  the node config (AKSNodeConfig v1, JSON)
   --nbc-cmd FILE           an NBC command, run by bash; with --provision-config, both
                            environments are compared and the differences logged
   --dry-run                read and check everything, log the command, start nothing
   --help, -h               show help

RESULT:
   On failure the report /var/log/azure/aks/provision.json and then the sentinel
   /opt/azure/containers/provision.complete are written where the scripts left none.
   SIGTERM and SIGINT stop the scripts with all their processes; that result is under /run
   only, and the next boot provisions the node.
   After a failed run nothing is run until provision.complete is removed.

EXIT CODE:
   that of the scripts; 1 when they could not be started; 255 when a signal ended them;
   232 when oras is missing or broken and needed, 65 when the start script is missing (see
   preflight); after a failed run, the code of its report, or 240 without a readable one
";

const PROVISION_WAIT: &str = "\
NAME:
   aks-node-controller provision-wait - wait for the result and print the report

USAGE:
   aks-node-controller provision-wait [--timeout DURATION]

OPTIONS:
   --timeout DURATION  give up after this time (15m, 90s, 1h30m); without it, wait indefinitely
   --help, -h          show help

RESULT:
   Prints the report, truncated to the 4,096 bytes that the Custom Script Extension keeps.
   A `provision` that ended without a result is reported as 240, once its scripts have also
   ended.

EXIT CODE:
   the report's ExitCode when it is 0 to 255, otherwise 1; 124 when the timeout is reached
";

const VERSION_HELP: &str = "\
NAME:
   aks-node-controller version - print the version

USAGE:
   aks-node-controller version
";

const RENDER: &str = "\
NAME:
   aks-node-controller render - print the environment, the custom data or the CSE command

USAGE:
   aks-node-controller render env --provision-config FILE [--components FILE] [-0]
   aks-node-controller render custom-data --provision-config FILE [--format FORMAT]
   aks-node-controller render cse

OPTIONS:
   --provision-config FILE  the node config (AKSNodeConfig v1, JSON)
   --components FILE        the image's component list (default: /opt/azure/components.json)
   --format FORMAT          boothook (default), cloud-config or ignition; the last two only write
                            the config: the image must have enabled aks-node-controller.service
   --validate               reject a config that lacks required fields
   --show-secrets           do not mask secrets; custom data is printed in base64, ready for
                            Azure, with this flag only
   -0                       end each variable with NUL instead of a line end
   --help, -h               show help

EXIT CODE:
   0, or 1 with an error message
";

const PREFLIGHT: &str = "\
NAME:
   aks-node-controller preflight - check the image and the config before a script runs

USAGE:
   aks-node-controller preflight [--provision-config FILE] [--network] [-o FORMAT]
   aks-node-controller --root DIR preflight --stage image [-o FORMAT]

OPTIONS:
   --stage STAGE            node (default): this node, before its bootstrap
                            image: the image mounted at --root, before it is published
   --provision-config FILE  the node config (default: the one from custom data)
   --network                also probe IMDS, the bootstrap registry and the API server
   --imds-endpoint URL      for tests: address of the metadata service
   -o FORMAT                table (default) or json (mooring.preflight/v1)
   --help, -h               show help

   `provision` runs the same checks first. Without oras, a node that needs it exits with 232 and the
   cause, and not with 211, which points to the network.

EXIT CODE:
   0 when nothing is fatal; node: the code of the first fatal finding (240 config, 232 oras,
   65 start script, 240 components, 240 provision.complete of a failed run); image: 1
";

const CHECK_HOTFIX: &str = "\
NAME:
   aks-node-controller check-hotfix - refresh the hotfix pointer from the live-patching service

USAGE:
   aks-node-controller check-hotfix

   Reads the API server and the cluster CA from custom data, authenticates with the attested
   document of IMDS, and replaces the map in
   /opt/azure/containers/aks-node-controller-hotfix.json. Installs nothing.

EXIT CODE:
   always 0; the event AKS.AKSNodeController.CheckHotfix has the outcome
";

const DOWNLOAD_HOTFIX: &str = "\
NAME:
   aks-node-controller download-hotfix - apply the hotfix that the pointer requests

USAGE:
   aks-node-controller download-hotfix

   Policy (MOORING_HOTFIX_POLICY, or one word in
   /opt/azure/containers/aks-node-controller-hotfix-policy):
   off      change nothing
   scripts  put repaired scripts in place, all or none, and keep this agent (default)
   full     also install Microsoft's agent, which then provisions the node

EXIT CODE:
   0; with policy full the code of the package manager that failed, 255 when it was killed at its
   time limit, 1 for any other failure of the agent's hotfix
";

const APPLY_EMBEDDED_HOTFIX: &str = "\
NAME:
   aks-node-controller apply-embedded-hotfix - accepted for upstream's launcher

USAGE:
   aks-node-controller apply-embedded-hotfix

   Upstream's patched agents have repaired scripts inside; this agent has none.

EXIT CODE:
   0
";

const REGISTRY_LOGIN: &str = "\
NAME:
   aks-node-controller registry-login - log this node in to its bootstrap registry

USAGE:
   aks-node-controller registry-login --registry HOST --client-id ID --tenant-id ID [options]

OPTIONS:
   --registry HOST         the registry; a path after the host is dropped
   --client-id ID          the kubelet identity; without it or the tenant, pulls stay anonymous
   --tenant-id ID          its tenant
   --ca-file FILE          certificates to trust in addition to the system's
   --registry-config FILE  path of the login of oras (default: /etc/oras/config.yaml)
   --budget DURATION       total time (default: 10m); with CSE_STARTTIME_SECONDS set, at most
                           780 seconds from there
   --attempt-timeout DURATION  for one request (default: 30s)
   --help, -h              show help

   HTTPS_PROXY and NO_PROXY apply to the registry, never to IMDS.
   For tests: --imds-endpoint URL, --registry-endpoint URL.

STEPS:
   1. oras       find the oras binary (232 if it is missing)
   2. anonymous  list the registry without an identity; if that works, done (211)
   3. identity   get a token of the kubelet identity from IMDS (210, 212)
   4. exchange   exchange it for a refresh token at the registry (211, 212)
   5. permission check that the token may pull (212)
   6. login      `oras login`, the token on standard input (211, 212)
EXIT CODE:
   0    logged in, or no login needed
   210  IMDS returned no usable response
   211  the registry could not be reached: DNS, connection, TLS, timeout, server error
   212  denied: by IMDS, by the registry, or because of a missing permission
   232  oras is missing on this image
   124  timed out before a step could be tried
   1    usage error, or another failure of oras
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_separate_help() {
        for name in [
            "provision",
            "provision-wait",
            "version",
            "render",
            "preflight",
            "registry-login",
            "check-hotfix",
            "download-hotfix",
            "apply-embedded-hotfix",
        ] {
            let help = of_command(name).unwrap();
            let begin = format!("NAME:\n   aks-node-controller {name} - ");
            assert!(help.starts_with(&begin), "{name}: {help}");
            assert!(general().contains(&format!("\n   {name} ")), "{name}");
        }
        for name in ["help", "h"] {
            assert_eq!(of_command(name), Some(general()));
        }
        assert_eq!(of_command("nosuch"), None);
    }
}
