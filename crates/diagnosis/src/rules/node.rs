//! Disk, locks, metadata, kubelet, the image.

use mooring_codes::Owner;

use super::{Rule, day};
use crate::clues::Clue;
use crate::decoded::Outcome;
use crate::diagnose::ANOTHER_IMAGE;
use crate::diagnosis::Confidence;

const IMDS: Rule = Rule {
    reason: "ImdsUnreachable",
    confidence: Confidence::High,
    effective: Some((234, "ERR_IMDS_FETCH_FAILED")),
    owner: Owner::Platform,
    summary: "The node got no usable answer from the instance metadata service (169.254.169.254).",
    actions: &[
        "Look for a host firewall, a route or a proxy that catches 169.254.169.254; it must be \
            reached directly.",
        "Recreate the node once; if it repeats without such a rule, open a support case.",
    ],
    ..Rule::ANY
};

const KUBELET: Rule = Rule {
    reason: "KubeletNotStarted",
    confidence: Confidence::High,
    owner: Owner::Operator,
    summary: "kubelet did not start, or did not stay up.",
    actions: &[
        "Read kubelet's own lines: `journalctl -u kubelet` on the node, or the kubelet status in \
            /var/log/azure.",
        "Compare the pool's custom kubelet configuration with what this Kubernetes version accepts.",
    ],
    ..Rule::ANY
};

const CONTROLLER: Rule = Rule {
    reason: "NodeControllerError",
    codes: &[240],
    summary: "The node agent failed before the image's scripts ran. Most often the node config is \
        missing or unreadable, or does not fit the image.",
    actions: &[
        "Read Error in the report: it names the file or field.",
        "Check the custom data that the node was given, and \
            /var/log/azure/aks-node-controller.log on the node.",
    ],
    ..Rule::ANY
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "rerun",
        reason: "RerunReportedSuccess",
        os: None,
        outcome: Outcome::Succeeded,
        clues: &[&[Clue::AlreadyRan]],
        confidence: Confidence::Medium,
        owner: Owner::Operator,
        summary: "The scripts did nothing: an earlier attempt on this machine had left its marker \
            provision.complete, whatever its result was. This success does not mean that the node \
            works.",
        actions: &[
            "Read /var/log/azure/aks/provision.json on the node: it has the first attempt's code.",
            "Delete the node and let a new one be made; applying the extension again never helps.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "disk-full",
        reason: "DiskFull",
        os: None,
        clues: &[&[Clue::DiskFull]],
        confidence: Confidence::High,
        summary: "A disk of the node is full.",
        actions: &[
            "Give the pool a larger OS disk, or a VM size whose temporary disk holds an ephemeral \
                OS disk of that size.",
            "On a custom image, find what fills it: `df -h` and `du -x` on the node.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "wrong-architecture",
        reason: "WrongArchitecture",
        clues: &[&[Clue::WrongArchitecture]],
        confidence: Confidence::High,
        owner: Owner::Image,
        summary: "A program on the node is built for another processor architecture than the VM's.",
        actions: &[
            "Compare the VM size's architecture with the image's: Arm64 sizes need an arm64 image.",
            ANOTHER_IMAGE,
            "If both match, the image carries a wrong binary: report it.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "out-of-memory",
        reason: "OutOfMemory",
        codes: &[137, 1, -1],
        clues: &[&[Clue::OutOfMemory]],
        confidence: Confidence::High,
        summary: "The node ran out of memory while it was being set up.",
        actions: &["Use a VM size with more memory; system pools need at least 4 GiB."],
        ..Rule::ANY
    },
    Rule {
        name: "apt-lock",
        reason: "AptLockHeld",
        codes: &[2, 7, 9, 25, 26, 28, 42, 43, 99, 121, 122, 124, 137],
        clues: &[&[Clue::AptLock]],
        confidence: Confidence::High,
        owner: Owner::Image,
        summary: "Another process held the package manager's lock while the node was being set up, \
            most often an unattended upgrade or an extension that installs packages.",
        actions: &[
            "Recreate the node: most often the lock is gone in time.",
            "If it repeats, find the holder (`fuser -v /var/lib/dpkg/lock-frontend`) and look for \
                extensions or policies that install packages at boot.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "imds-unreachable",
        codes: &[234],
        clues: &[&[Clue::Imds, Clue::ImdsFailed]],
        ..IMDS
    },
    Rule { name: "imds-code", codes: &[234], confidence: Confidence::Medium, ..IMDS },
    Rule {
        name: "imds-as-231",
        codes: &[231],
        images: Some((day(2026, 1, 23), day(2026, 4, 6))),
        clues: &[&[Clue::Imds, Clue::ImdsFailed]],
        ..IMDS
    },
    Rule {
        name: "imds-as-231-by-date",
        codes: &[231],
        images: Some((day(2026, 1, 23), day(2026, 2, 17))),
        // A line that says what failed counts more than a date.
        without: &[
            Clue::OrasSpoke,
            Clue::Dns,
            Clue::DnsRefused,
            Clue::Unreachable,
            Clue::Tls,
            Clue::RegistryDenied,
        ],
        confidence: Confidence::Medium,
        ..IMDS
    },
    Rule {
        name: "pause-image-as-225",
        reason: "PauseImagePullFailed",
        codes: &[225],
        images: Some((day(2025, 10, 10), day(2026, 4, 6))),
        effective: Some((233, "ERR_PULL_POD_INFRA_CONTAINER_IMAGE")),
        summary: "The pause image could not be pulled from the bootstrap registry. Scripts of that \
            time reported it as 225; it is 233 today.",
        actions: &[
            "Check that the bootstrap registry has the pause image or a cache rule for it, and that \
                login and private link work.",
            "Move the pool to a node image newer than 2026-04-06.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "nic-address",
        reason: "PrimaryNicAddressMissing",
        codes: &[34],
        clues: &[&[Clue::NicAddress]],
        confidence: Confidence::High,
        owner: Owner::Image,
        summary: "The node's own address could not be read from the instance metadata, so kubelet \
            was not started.",
        actions: &[
            "Move the pool to a newer node image: scripts of some versions read the answer wrongly.",
            "Recreate the node once if the image is current.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "kubelet-as-1",
        reason: "KubeletUnhealthy",
        codes: &[1],
        clues: &[&[Clue::KubeletUndefined, Clue::KubeletFailed]],
        summary: "kubelet was found failed at the end of the set-up. The scripts mean to exit with \
            ERR_KUBELET_FAIL, a name that they do not define, so the code is 1.",
        ..KUBELET
    },
    Rule {
        name: "kubelet-failed",
        codes: &[34],
        clues: &[&[Clue::KubeletFailed, Clue::KubeletUndefined]],
        ..KUBELET
    },
    Rule {
        name: "kubelet-never-started",
        codes: &[34],
        clues: &[&[Clue::KubeletNeverStarted]],
        confidence: Confidence::Medium,
        ..KUBELET
    },
    Rule {
        name: "gpu-rom",
        reason: "GpuHardwareFault",
        codes: &[84, 87],
        clues: &[&[Clue::GpuRom]],
        effective: Some((87, "ERR_GPU_INFO_ROM_CORRUPTED")),
        confidence: Confidence::High,
        owner: Owner::Platform,
        summary: "The GPU's info ROM is corrupt: a fault of the hardware under this VM.",
        actions: &[
            "Delete the node so that the next one lands on other hardware.",
            "Open a support case if the next one fails too.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "secure-boot",
        reason: "SecureBootBlocksDriver",
        codes: &[84, 85, 10, 95, 96],
        clues: &[&[Clue::SecureBoot]],
        confidence: Confidence::High,
        summary: "The kernel refuses the GPU driver because it is not signed for Secure Boot.",
        actions: &["Turn Secure Boot off for the pool, or use an image whose driver is signed."],
        ..Rule::ANY
    },
    Rule {
        name: "agent-interrupted",
        reason: "ScriptInterrupted",
        clues: &[&[Clue::Interrupted]],
        error: true,
        confidence: Confidence::High,
        owner: Owner::Platform,
        summary: "The node agent was told to stop while it set the node up, by a shutdown or an \
            operator, and stopped the scripts. The next boot starts over.",
        actions: &[
            "Start the VM again, or recreate the node.",
            "If it repeats, look for whatever stops or evicts VMs: spot evictions, schedules, or a \
                reboot that the image asks for at boot.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "agent-gone",
        reason: "NodeAgentKilled",
        codes: &[240],
        clues: &[&[Clue::AgentGone]],
        error: true,
        confidence: Confidence::High,
        owner: Owner::Operator,
        summary: "The node agent was killed before it could leave a result. Error in the report \
            says whether the scripts had been started.",
        actions: &[
            "Read the journal and the serial console for what killed it: most often the kernel, \
                out of memory.",
            "Recreate the node.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "wait-gave-up",
        reason: "WaitTimedOut",
        codes: &[124],
        clues: &[&[Clue::WaitGaveUp]],
        error: true,
        confidence: Confidence::High,
        owner: Owner::Operator,
        summary: "`provision-wait` gave up after the time that its --timeout allows. The scripts \
            may still be running, and may still succeed.",
        actions: &[
            "Read /var/log/azure/cluster-provision.log on the node for the step that is running.",
            "Give --timeout more time than the scripts have, which is 15 minutes unless the node \
                config sets cse_timeout.",
        ],
        ..Rule::ANY
    },
    Rule { name: "controller-240-told", error: true, confidence: Confidence::High, ..CONTROLLER },
    Rule { name: "controller-240", ..CONTROLLER },
];
