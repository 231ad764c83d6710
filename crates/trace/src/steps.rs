//! Order of the scripts' steps, and their exit codes.
//!
//! A step that ends the run writes no event. Without a trace, this table identifies it: the failing step comes after
//! the last event and has the exit code. (AgentBaker, `parts/linux/cloud-init/artifacts`, August 2026.)

/// A step without `AKS.CSE.`, and its exit codes.
struct Step(&'static str, &'static [i64]);

/// Names with spaces are steps that never write an event.
const ORDER: &[Step] = &[
    Step("enableAKSLocalDNSHostsSetup", &[]),
    Step("holdWALinuxAgent", &[7]),
    Step("configureAdminUser", &[]),
    Step("setPackagesBaseURL", &[]),
    Step("fetch_and_cache_imds_instance_metadata", &[234]),
    Step("installSecureTLSBootstrapClient", &[169]),
    Step("disableSSH", &[172]),
    Step("disableSSHPubkeyAuth", &[178]),
    Step("configureCustomCaCertificate", &[161]),
    Step("setCPUArch", &[]),
    Step("removeManDbAutoUpdateFlagFile", &[]),
    Step("orasLogin.oras_login_with_kubelet_identity", &[210, 211, 212]),
    Step("disableSystemdResolved", &[]),
    Step("cleanUpContainerImages", &[65, 214]),
    Step("installDeps", &[42, 43, 99, 9, 2]),
    Step("installContainerRuntime", &[28, 25, 26, 99, 70, 39]),
    Step("installNetworkPlugin", &[41, 206, 39]),
    Step("configureKubeletAndKubectl", &[31, 204, 121, 122, 9, 99, 207]),
    Step("the custom search domain's script", &[80]),
    Step("configureCNI", &[49]),
    Step("ensureDHCPv6", &[4, 49]),
    Step("configureSystemdUseDomains", &[]),
    Step("setContainerdUlimits", &[]),
    Step("ensureContainerd", &[6, 103, 34, 4]),
    Step("configPrivateClusterHosts", &[4]),
    Step("configureTransparentHugePage", &[103, 4]),
    Step("configureSwapFile", &[130, 131, 4]),
    Step("ensureSysctl", &[103]),
    Step("ensureContainerd.ensureArtifactStreaming", &[153]),
    Step("enableLocalDNS", &[216]),
    Step("configureAzureJson", &[]),
    Step("ensureKubeCACert", &[]),
    Step("configureKubeletServing", &[213]),
    Step("configureK8s", &[]),
    Step("configureAndEnableSecureTLSBootstrapping", &[220]),
    Step("the outbound probe of mcr.microsoft.com", &[50]),
    Step("ensureAzureNetworkConfig", &[]),
    Step("configureSecondaryNICs", &[243]),
    Step("ensureGPUDrivers", &[84, 85, 87, 10, 9, 4, 1, 231, 232, 224]),
    Step("installNvidiaFabricManager", &[84, 9]),
    Step("ensureMigPartition", &[]),
    Step("configureManagedGPUExperience", &[230, 123, 235, 227, 86, 229, 9]),
    Step("setupAmdAma", &[95, 96]),
    Step("apiserverNslookup", &[52, 53]),
    Step("apiserverCurl", &[51]),
    Step("apiserverNC", &[51]),
    Step("containerd's health check", &[4]),
    Step("ensureKubelet", &[34, 205, 208, 233]),
    Step("configureLocalDNSExporterSocket", &[]),
    Step("ensureNoDupOnPromiscuBridge", &[4]),
    Step("configureNodeExporter", &[]),
    Step("cleanUpGPUDrivers", &[]),
    Step("kubelet's health check", &[1]),
    Step("startNvidiaManagedExpServices", &[129]),
    Step("ubuntuSnapshotUpdate", &[202]),
];

/// Infers the step that was running, and the evidence for it.
pub(crate) fn infer(last_done: Option<&str>, code: Option<i64>) -> Option<(String, String)> {
    let last_known = last_done.and_then(position);
    let after = last_known.map_or(0, |at| at + 1);
    let own = |step: &&Step| code.is_some_and(|code| step.1.contains(&code));
    let place = match last_done {
        Some(last) => format!("the last event is from {}", bare(last)),
        None => "no step wrote an event".to_owned(),
    };
    if let Some(Step(name, _)) = ORDER[after..].iter().find(own) {
        let code = code.unwrap_or_default();
        let full = if name.contains(' ') { (*name).to_owned() } else { format!("AKS.CSE.{name}") };
        return Some((
            full,
            format!("inferred: {place}, and this is the next step with exit code {code}"),
        ));
    }
    let last = last_done?;
    Some((
        format!("unknown step after {}", bare(last)),
        format!("inferred: {place}, and the next step is unknown"),
    ))
}

/// Returns the step whose function a command calls.
pub(crate) fn by_function(command: &str) -> Option<&'static str> {
    let function = command.split(' ').next().unwrap_or_default();
    let is_it = |step: &&Step| step.0.rsplit('.').next() == Some(function);
    ORDER.iter().find(is_it).map(|step| step.0)
}

/// Returns true if a step, with or without `AKS.CSE.`, can end the run with this code.
pub(crate) fn exits_with(name: &str, code: Option<i64>) -> bool {
    let step = position(name).map(|at| &ORDER[at]);
    step.is_some_and(|step| code.is_some_and(|code| step.1.contains(&code)))
}

/// Position of a step in the order; a part of a step counts as the step.
fn position(name: &str) -> Option<usize> {
    let name = bare(name);
    let is_it = |step: &Step| {
        name == step.0 || name.strip_prefix(step.0).is_some_and(|rest| rest.starts_with('.'))
    };
    ORDER.iter().rposition(is_it)
}

fn bare(name: &str) -> &str {
    name.strip_prefix("AKS.CSE.").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_and_last_event_identify_the_step() {
        let name = |last, code| infer(last, code).map(|(name, _)| name);
        assert_eq!(
            name(Some("AKS.CSE.configureK8s"), Some(50)).as_deref(),
            Some("the outbound probe of mcr.microsoft.com")
        );
        assert_eq!(
            name(Some("AKS.CSE.setCPUArch"), Some(211)).as_deref(),
            Some("AKS.CSE.orasLogin.oras_login_with_kubelet_identity")
        );
        // The same code is another step's later on.
        assert_eq!(
            name(Some("AKS.CSE.setCPUArch"), Some(4)).as_deref(),
            Some("AKS.CSE.ensureDHCPv6")
        );
        assert_eq!(
            name(Some("AKS.CSE.ensureSysctl"), Some(4)).as_deref(),
            Some("AKS.CSE.ensureGPUDrivers")
        );
    }

    #[test]
    fn step_that_ended_is_not_the_one_that_was_running() {
        let name = |last, code| infer(Some(last), Some(code)).unwrap().0;
        // 4 is also a code of ensureContainerd, and 51 of apiserverCurl.
        assert_eq!(name("AKS.CSE.ensureContainerd", 4), "AKS.CSE.configPrivateClusterHosts");
        assert_eq!(name("AKS.CSE.apiserverCurl", 51), "AKS.CSE.apiserverNC");
        assert_eq!(name("AKS.CSE.apiserverNC", 51), "unknown step after apiserverNC");
        // A part of a step counts as the step.
        assert_eq!(
            name("AKS.CSE.installDeps.aptmarkWALinuxAgent", 99),
            "AKS.CSE.installContainerRuntime"
        );
    }

    #[test]
    fn unknown_step_is_not_guessed() {
        let (name, how) = infer(Some("AKS.CSE.ensureSysctl"), Some(124)).unwrap();
        assert_eq!(name, "unknown step after ensureSysctl");
        assert!(how.ends_with("the next step is unknown"));
        assert_eq!(infer(None, Some(240)), None);
    }
}
