//! Help of `registry-login`, with the steps.

use super::list::STEPS;

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
LIST_OF_STEPS
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
    fn the_help_lists_the_steps_that_are_executed() {
        let help = help();
        for (at, step) in STEPS.iter().enumerate() {
            assert!(help.contains(&format!("   {}. {}", at + 1, step.name)), "{help}");
        }
        assert!(!help.contains("LIST_OF_STEPS"));
    }
}
