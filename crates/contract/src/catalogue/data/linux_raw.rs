//! Linux: numbers that tools and shells leave behind; no constant names them.

use crate::catalogue::{Category, ExitCode, Os, Owner, Reach, Since, Status, Transient};

/// What the rows of this table have in common.
const ROW: ExitCode = ExitCode {
    os: Os::Linux,
    status: Status::Raw,
    reach: Reach::Raw,
    category: Category::Unknown,
    owner: Owner::Image,
    transient: Transient::Maybe,
    introduced: Since::Unrecorded,
    ..ExitCode::EMPTY
};

/// Sorted by number.
pub(in crate::catalogue) static LINUX_RAW: [ExitCode; 15] = [
    ExitCode {
        number: -1,
        name: "killed or handler time limit",
        category: Category::Timeout,
        owner: Owner::Platform,
        meaning: "The extension handler reports -1 when the command was ended by a signal or by \
            the handler's time limit; there is no script code.",
        cause: "The handler's time limit, a VM shutdown, or an out-of-memory kill.",
        action: "Look at the VM's power events and /var/log/azure/custom-script/handler.log.",
        origin: "Azure/custom-script-extension-linux exec tests",
        ..ROW
    },
    ExitCode {
        number: 0,
        name: "success",
        category: Category::None,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "The command ended well. On scriptless images built before 2025-11-17 the \
            extension also reported success when provision.json held another ExitCode.",
        cause: "Success; or, on such an old scriptless image, a failure that the extension hid.",
        action: "Never trust the outer success alone: read ExitCode in the report's JSON, and \
            check that the node joined.",
        origin: "cse_start.sh; aks-node-controller before #7382",
        ..ROW
    },
    ExitCode {
        number: 1,
        name: "generic failure / scriptless wrapper",
        owner: Owner::Operator,
        meaning: "A failure without a code of its own. (a) Scriptless nodes: `aks-node-controller \
            provision-wait` ends with 1 for every failure, and the true code stands only in the \
            JSON. (b) The kubelet health check exits with an undefined variable, which makes bash \
            exit 1. (c) A direct `exit 1`: a GPU on an OS without support, nvidia-persistenced \
            failing on Azure Linux or ACL, a bad argument to the agent hold helper, a package \
            unsupported on OS Guard. (d) A fatal cloud-init on images without the status helper.",
        cause: "Mostly (a), since scriptless became the production default in July 2026.",
        action: "Read ExitCode in the JSON after [stdout]; else `exitCode=N` in the controller's \
            log lines; else the last `+ exit N` in Output.",
        origin: "aks-node-controller/app.go; cse_main.sh checkServiceHealth; cse_config.sh",
        ..ROW
    },
    ExitCode {
        number: 2,
        name: "CSE budget spent / cloud-init degraded / shell syntax",
        category: Category::Timeout,
        owner: Owner::Network,
        meaning: "The retry helper returns 2 when the 780 second budget is nearly spent, and the \
            batch apt installer passes it on. Old command lines could also leak cloud-init's \
            status 2, and a shell syntax error gives 2.",
        cause: "Slow package installs or blocked package hosts.",
        action: "Read ExecDuration: near 780 the budget was spent, so test egress to the package \
            hosts; near 0 it is a syntax error or cloud-init.",
        origin: "cse_helpers.sh _retrycmd_internal; aptGetBatchInstallPackagesWithFallback",
        ..ROW
    },
    ExitCode {
        number: 100,
        name: "apt-get failure (generic CustomScript)",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "apt-get itself ends with 100 on any error; seen in plain custom scripts. The AKS \
            scripts turn apt failures into 9 or 99.",
        cause: "A package was not found, or its repository is unreachable.",
        action: "Check first that the failing extension is the AKS one; then test egress to the \
            package hosts.",
        origin: "apt",
        ..ROW
    },
    ExitCode {
        number: 124,
        name: "global time-out",
        category: Category::Timeout,
        owner: Owner::Network,
        meaning: "The whole bootstrap was stopped after CSE_TIMEOUT (15 minutes unless set \
            otherwise). Until 2023-06-01 the number also meant that the image's marker file is \
            missing, which is 65 today.",
        cause: "A step without a time limit of its own hung: systemctl helpers (up to 500 seconds \
            each), the wait for apt's lock, dnf. Most often blocked egress is behind it.",
        action: "Find the command in progress at the end of Output, and the last event in the \
            events folder; test egress from the node's subnet.",
        origin: "cse_start.sh",
        ..ROW
    },
    ExitCode {
        number: 125,
        name: "timeout/nohup could not run",
        category: Category::Image,
        transient: Transient::No,
        meaning: "nohup or timeout could not run its command.",
        cause: "A broken image or an exhausted process table.",
        action: "Recreate the node with another image version.",
        origin: "cse_start.sh / cse_cmd.sh",
        ..ROW
    },
    ExitCode {
        number: 126,
        name: "not executable",
        category: Category::Image,
        transient: Transient::No,
        meaning: "A script or program exists but cannot be executed.",
        cause: "Wrong mode or architecture, or a noexec mount.",
        action: "Check the image and the mount options; try another image version.",
        origin: "shell",
        ..ROW
    },
    ExitCode {
        number: 127,
        name: "command not found",
        category: Category::Image,
        transient: Transient::No,
        meaning: "A command does not exist. On AKS nodes typically provision_start.sh or \
            aks-node-controller is missing, and [stdout] is then empty.",
        cause: "The image does not match the command (a scriptless command on an old image), or \
            cloud-init did not write its files.",
        action: "Compare the node image version with the way the node is bootstrapped; read the \
            cloud-init log.",
        origin: "shell",
        ..ROW
    },
    ExitCode {
        number: 130,
        name: "SIGINT",
        owner: Owner::Operator,
        meaning: "The command was interrupted (128 + signal 2). The same number is the swap file's \
            own code.",
        cause: "Somebody interrupted it; on a node assume the swap file instead.",
        action: "Look for swap settings in the pool first.",
        origin: "shell",
        ..ROW
    },
    ExitCode {
        number: 137,
        name: "SIGKILL",
        category: Category::Timeout,
        owner: Owner::Operator,
        meaning: "The command was killed (128 + signal 9): by `timeout` when the script ignored \
            its first signal for 5 seconds, or by the kernel for want of memory.",
        cause: "A hung process, or a VM that is too small.",
        action: "Look for an out-of-memory kill in the kernel's log; otherwise follow 124.",
        origin: "cse_start.sh",
        ..ROW
    },
    ExitCode {
        number: 139,
        name: "segmentation fault",
        meaning: "A program crashed with a segmentation fault (128 + signal 11).",
        cause: "A broken binary.",
        action: "Keep the log, recreate the node, and try another image version if it repeats.",
        origin: "shell",
        ..ROW
    },
    ExitCode {
        number: 141,
        name: "SIGPIPE",
        meaning: "A program wrote to a closed pipe (128 + signal 13).",
        cause: "A fault in a script.",
        action: "Keep the log and recreate the node.",
        origin: "shell",
        ..ROW
    },
    ExitCode {
        number: 143,
        name: "SIGTERM",
        category: Category::Timeout,
        owner: Owner::Platform,
        transient: Transient::Yes,
        meaning: "The command was ended from outside (128 + signal 15).",
        cause: "The VM is being deleted or shut down, or the guest agent restarted.",
        action: "Check the VM's activity log.",
        origin: "shell",
        ..ROW
    },
    ExitCode {
        number: 255,
        name: "exit -1 / ssh style failure",
        owner: Owner::Operator,
        meaning: "A program ended with -1 or 255.",
        cause: "Any; the number says nothing more.",
        action: "Read the end of Output and keep the log.",
        origin: "shell",
        ..ROW
    },
];
