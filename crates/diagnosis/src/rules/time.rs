//! What ran out of time, what never ran, and what went well.

use mooring_codes::{Os, Owner};

use super::{Rule, day};
use crate::clues::Clue;
use crate::decoded::{Outcome, Situation};
use crate::diagnose::ANOTHER_IMAGE_IF_ALL_FAIL;
use crate::diagnosis::Confidence;
use crate::stage::Stage;

/// A failure of which the text has no code.
const SILENT: Rule = Rule {
    os: None,
    outcome: Outcome::NoCode,
    confidence: Confidence::Low,
    owner: Owner::Platform,
    ..Rule::ANY
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "vhd-as-124",
        reason: "VhdFileNotFound",
        codes: &[124],
        images: Some((day(2018, 1, 1), day(2023, 6, 1))),
        seconds: Some((0, 600)),
        effective: Some((65, "ERR_VHD_FILE_NOT_FOUND")),
        owner: Owner::Image,
        summary: "The marker file of an AKS image is missing. Scripts of that time reported it as \
            124, and the run was too short for a time-out.",
        actions: &["Check the image reference of the VM and use a stock AKS image."],
        ..Rule::ANY
    },
    Rule {
        name: "command-timed-out",
        reason: "CommandTimedOut",
        codes: &[124],
        seconds: Some((0, 599)),
        owner: Owner::Network,
        summary: "A time limit ended the scripts long before their usual 15 minutes were over: that \
            of one command in them, or a shorter one in the node config (cse_timeout).",
        actions: &[
            "Find the last command at the end of Output, and test what it waits for from the node's \
                subnet.",
            "Recreate the node once to rule out a passing fault.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "script-timed-out",
        reason: "ScriptTimedOut",
        codes: &[124],
        owner: Owner::Network,
        summary: "The scripts were stopped when their time was over (15 minutes, unless the node \
            config sets another limit). The step that was \
            running is the one to look at; blocked egress is the most frequent reason.",
        actions: &[
            "Find the command in progress at the end of Output, and test what it waits for from the \
                node's subnet.",
            "Recreate the node once to rule out a passing fault.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "script-killed",
        reason: "ScriptKilled",
        codes: &[137],
        owner: Owner::Network,
        summary: "The scripts were killed: their time was over and they did not stop, or the node \
            ran out of memory.",
        actions: &[
            "If the run took about 900 seconds, treat it as a time-out: look at the step that was \
                running.",
            "Otherwise look for the kernel's out-of-memory lines in the serial console.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "budget-by-time",
        reason: "RetryBudgetSpent",
        codes: &[2],
        seconds: Some((760, 899)),
        owner: Owner::Network,
        summary: "A step kept retrying until the 780 seconds that all retries share were spent. \
            Most often it waited for the network.",
        actions: &[
            "Find the retried command at the end of Output and test its host from the node's \
                subnet.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "budget-said",
        reason: "RetryBudgetSpent",
        codes: &[2],
        clues: &[&[Clue::BudgetSpent]],
        confidence: Confidence::High,
        owner: Owner::Network,
        summary: "A step kept retrying until the 780 seconds that all retries share were spent. \
            Most often it waited for the network.",
        actions: &[
            "Find the retried command at the end of Output and test its host from the node's \
                subnet.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "interrupted",
        reason: "ScriptInterrupted",
        codes: &[-1],
        confidence: Confidence::Low,
        owner: Owner::Platform,
        summary: "The extension's handler lost its command: a signal, a reboot, or the handler's \
            own time limit ended it.",
        actions: &["Recreate the node; if it repeats, look for whatever reboots or kills at boot."],
        ..Rule::ANY
    },
    Rule {
        name: "succeeded",
        reason: "Succeeded",
        os: None,
        outcome: Outcome::Succeeded,
        summary: "The bootstrap succeeded. That alone does not mean that the node has joined: \
            kubelet is started without waiting for it.",
        actions: &["If the node is missing in the cluster, look at kubelet on it, not at the \
            extension."],
        ..Rule::ANY
    },
    Rule {
        name: "handler-refused",
        reason: "HandlerNeverStartedScript",
        situation: Some(Situation::NeverStarted),
        clues: &[&[Clue::ConfigRefused, Clue::DownloadRefused]],
        confidence: Confidence::High,
        summary: "The extension's handler refused its settings or could not fetch its files, and \
            never started the script.",
        actions: &[
            "Read the handler's sentence: it names the setting or the file.",
            "On the node, read /var/log/azure/custom-script/handler.log.",
        ],
        ..SILENT
    },
    Rule {
        name: "handler-failed-early",
        reason: "HandlerNeverStartedScript",
        situation: Some(Situation::NeverStarted),
        summary: "The text has an error of the extension's handler and nothing of the script: it did \
            not run, or its part of the message is missing.",
        actions: &["On the node, read /var/log/azure/custom-script/handler.log."],
        ..SILENT
    },
    Rule {
        name: "handler-failed",
        reason: "HandlerFailed",
        situation: Some(Situation::HandlerFailed),
        confidence: Confidence::Medium,
        summary: "The extension's handler itself failed. The numbers in this message are the \
            handler's, not the script's.",
        actions: &[
            "Recreate the node.",
            "If it repeats, check that the guest agent and the extension can reach Azure's storage \
                and 168.63.129.16.",
        ],
        ..SILENT
    },
    Rule {
        name: "timed-out-unheard",
        reason: "VmAgentSilent",
        situation: Some(Situation::TimedOut),
        clues: &[&[Clue::NoReport]],
        stage: Stage::Boot,
        summary: "The extension never reported anything within its time: the guest agent did not \
            run, could not reach Azure, or the script never began.",
        actions: &[
            "Look at the VM's boot diagnostics: did it boot, and does the guest agent run?",
            "Recreate the node.",
            ANOTHER_IMAGE_IF_ALL_FAIL,
        ],
        ..SILENT
    },
    Rule {
        name: "timed-out",
        reason: "ExtensionTimedOut",
        situation: Some(Situation::TimedOut),
        summary: "The extension did not finish within its time limit, and the text has no exit \
            code. The script was still running or waiting for a result that never came.",
        actions: &[
            "Read /var/log/azure/cluster-provision.log and aks-node-controller.log on the node \
                before it is deleted.",
            ANOTHER_IMAGE_IF_ALL_FAIL,
        ],
        ..SILENT
    },
    Rule {
        name: "agent-silent",
        reason: "VmAgentSilent",
        situation: Some(Situation::AgentSilent),
        stage: Stage::Boot,
        summary: "The VM's agent has not reported at all: the VM did not boot, the agent does not \
            run, or it cannot reach 168.63.129.16.",
        actions: &[
            "Look at the VM's boot diagnostics.",
            "Recreate the node; if it repeats, check rules that block 168.63.129.16, and the image.",
        ],
        ..SILENT
    },
    Rule {
        name: "restart",
        reason: "InterruptedByRestart",
        os: Some(Os::Linux),
        situation: Some(Situation::Interrupted),
        summary: "The VM was shutting down while the extension ran, so the script has no result.",
        actions: &[
            "Recreate the node.",
            "If it repeats, look for whatever stops or evicts VMs: spot evictions, schedules, or a \
                reboot that the image asks for at boot.",
        ],
        ..SILENT
    },
    Rule {
        name: "restart-windows",
        reason: "InterruptedByRestart",
        situation: Some(Situation::Interrupted),
        summary: "The command ended without a known code; a restart of the VM may have interrupted \
            it.",
        actions: &[
            "Recreate the node.",
            "If it repeats, read C:\\AzureData\\CustomDataSetupScript.log on the node.",
        ],
        ..SILENT
    },
    Rule {
        name: "code-lost",
        reason: "CodeLost",
        situation: Some(Situation::CodeLost),
        owner: Owner::Operator,
        summary: "The bootstrap failed, but the part of the message that has its code was cut off.",
        actions: &[
            "Read the extension's instance view, which has more of the message than the error.",
            "On the node, read /var/log/azure/aks/provision.json.",
        ],
        ..SILENT
    },
    Rule {
        name: "arm-code-only",
        reason: "CodeNotTold",
        situation: Some(Situation::ArmCodeOnly),
        owner: Owner::Platform,
        summary: "The text has the code of an Azure error about a node or its extension. No exit code and \
            no reason was recognized in it.",
        actions: &[
            "Read the extension's instance view: \
                `az vmss get-instance-view --instance-id '*'` in the node resource group.",
            "Failing instances are deleted after a quarter of an hour or so: read early.",
        ],
        ..SILENT
    },
];
