//! Every check.

use mooring_codes::Owner;

use crate::preflight::checks::{
    clock, components, config, config_mode, containerd, hotfix, kubelet, left_over, program, space,
    start_script,
};
use crate::preflight::{PreflightCheck, network, oras};

/// Every check, in the order in which fatal findings count.
pub(crate) const CHECKS: &[PreflightCheck] = &[
    PreflightCheck {
        name: "left-over",
        about: "no provision.complete of a failed run makes the scripts skip everything; in images, none at all",
        code: Some(240),
        audience: Owner::Operator,
        find: left_over,
    },
    PreflightCheck {
        name: "config",
        about: "the node config can be read and is of a supported version",
        code: Some(240),
        audience: Owner::Operator,
        find: config,
    },
    PreflightCheck {
        name: "oras",
        about: "oras is installed; fatal when the config names a bootstrap registry, and in images",
        code: Some(232),
        audience: Owner::Image,
        find: oras::oras,
    },
    PreflightCheck {
        name: "start-script",
        about: "provision_start.sh exists",
        code: Some(65),
        audience: Owner::Image,
        find: start_script,
    },
    PreflightCheck {
        name: "components",
        about: "components.json exists and can be read",
        code: Some(240),
        audience: Owner::Image,
        find: components,
    },
    PreflightCheck {
        name: "containerd",
        about: "containerd is installed, unless the config has a source for it",
        code: None,
        audience: Owner::Image,
        find: containerd,
    },
    PreflightCheck {
        name: "kubelet",
        about: "kubelet is installed, unless the config has a source for it",
        code: None,
        audience: Owner::Image,
        find: kubelet,
    },
    PreflightCheck {
        name: "jq",
        about: "jq is installed; the scripts write their report with it",
        code: None,
        audience: Owner::Image,
        find: |world, facts| program(world, facts, "jq"),
    },
    PreflightCheck {
        name: "systemctl",
        about: "systemctl is installed",
        code: None,
        audience: Owner::Image,
        find: |world, facts| program(world, facts, "systemctl"),
    },
    PreflightCheck {
        name: "curl",
        about: "curl is installed; the scripts query IMDS and the API server with it",
        code: None,
        audience: Owner::Image,
        find: |world, facts| program(world, facts, "curl"),
    },
    PreflightCheck {
        name: "config-mode",
        about: "only root can read the node config, which contains secrets",
        code: None,
        audience: Owner::Operator,
        find: config_mode,
    },
    PreflightCheck {
        name: "space",
        about: "the disk has space for the bootstrap",
        code: None,
        audience: Owner::Operator,
        find: space,
    },
    PreflightCheck {
        name: "clock",
        about: "the clock is not earlier than the build date; otherwise TLS fails",
        code: None,
        audience: Owner::Platform,
        find: clock,
    },
    PreflightCheck {
        name: "hotfix",
        about: "agent and scripts in use; a hotfix is complete",
        code: None,
        audience: Owner::Image,
        find: hotfix,
    },
];

/// Every check and probe, in the order in which fatal findings count.
pub fn checks() -> impl Iterator<Item = &'static PreflightCheck> {
    CHECKS.iter().chain(network::PROBES)
}

impl PreflightCheck {
    /// True for a check with a code that is not a probe.
    pub fn can_be_fatal(&self) -> bool {
        self.code.is_some() && CHECKS.iter().any(|check| check.name == self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_with_a_code_are_fatal_and_probes_are_not() {
        let fatal: Vec<_> =
            checks().filter(|check| check.can_be_fatal()).map(|check| check.name).collect();
        assert_eq!(fatal, ["left-over", "config", "oras", "start-script", "components"]);
        let probes: Vec<_> = checks().skip(CHECKS.len()).map(|check| check.name).collect();
        assert_eq!(probes, ["imds", "registry", "api-server"]);
    }
}
