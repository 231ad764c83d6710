//! The list of steps, which is executed, logged and explained.

use super::flow::Flow;
use super::session::Session;
use super::trouble::Stop;
use super::{anonymous, exchange, identity, oras, permission};

pub(super) struct Step {
    pub(super) name: &'static str,
    what: &'static str,
    pub(super) run: fn(&mut Session<'_, '_>) -> Result<Flow, Stop>,
}

/// All of them, in order.
pub(super) static STEPS: [Step; 6] = [
    Step { name: "oras", what: "find the oras binary (232 if there is none)", run: oras::find },
    Step {
        name: "anonymous",
        what: "list the registry without an identity; if that works, done (211)",
        run: anonymous::probe,
    },
    Step {
        name: "identity",
        what: "ask IMDS for a token of the kubelet identity (210, 212)",
        run: identity::ask_imds,
    },
    Step {
        name: "exchange",
        what: "exchange it for a refresh token at the registry (211, 212)",
        run: exchange::exchange,
    },
    Step {
        name: "permission",
        what: "check that the token may pull (212)",
        run: permission::check,
    },
    Step {
        name: "login",
        what: "`oras login`, the token on standard input (211, 212)",
        run: oras::login,
    },
];

pub(crate) fn help() -> String {
    let steps = STEPS.iter().enumerate();
    let steps = steps.map(|(at, step)| format!("   {}. {:<11}{}\n", at + 1, step.name, step.what));
    HELP.replace("LIST_OF_STEPS", &steps.collect::<String>())
}

const HELP: &str = "\
NAME:
   aks-node-controller registry-login - log this node in to its bootstrap registry

USAGE:
   aks-node-controller registry-login --registry HOST --client-id ID --tenant-id ID [options]

OPTIONS:
   --registry HOST         the registry; a path behind the host is dropped
   --client-id ID          the kubelet identity; without it or the tenant, pulls stay anonymous
   --tenant-id ID          its tenant
   --ca-file FILE          certificates to trust beside the system's
   --registry-config FILE  where oras keeps the login (default: /etc/oras/config.yaml)
   --budget DURATION       for everything together (default: 10m); with CSE_STARTTIME_SECONDS set,
                           never past 780 seconds from there
   --attempt-timeout DURATION  for one request (default: 30s)
   --help, -h              show help

   HTTPS_PROXY and NO_PROXY are honoured for the registry, never for IMDS.
   For tests: --imds-endpoint URL, --registry-endpoint URL.

STEPS:
LIST_OF_STEPS
EXIT CODE:
   0    logged in, or no login needed
   210  IMDS gave no usable answer
   211  the registry could not be reached: DNS, connection, TLS, time-out, server error
   212  refused: by IMDS, by the registry, or for want of permission
   232  there is no oras on this image
   124  the time was up before a step could even be tried
   1    a wrong command line, or oras failed for a reason of its own
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_the_steps_that_are_executed() {
        let help = help();
        for (at, step) in STEPS.iter().enumerate() {
            assert!(help.contains(&format!("   {}. {}", at + 1, step.name)), "{help}");
        }
        assert!(!help.contains("LIST_OF_STEPS"));
    }
}
