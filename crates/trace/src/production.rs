//! Production durations of the same steps.
//!
//! The figures are public: AgentBaker's end-to-end tests hold the scripts to thresholds drawn from Azure's production
//! telemetry (`e2e/scenario_cse_perf_test.go`, August 2026; about 35,000 samples a step on Ubuntu 22.04). They are
//! compiled in, as data; a step without figures is held to the limit that the same tests set for any other step.

use serde::Serialize;

/// Operating system of a node for which figures exist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum System {
    /// Also the default for other systems.
    #[default]
    Ubuntu2204,
    Ubuntu2404,
    AzureLinux3,
}

impl System {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ubuntu2204 => "Ubuntu 22.04",
            Self::Ubuntu2404 => "Ubuntu 24.04",
            Self::AzureLinux3 => "Azure Linux 3",
        }
    }

    /// Parses `/etc/os-release`.
    pub(crate) fn of_release(text: &str) -> Option<Self> {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.unwrap_or_default().trim().trim_matches('"').to_ascii_lowercase()
        };
        match (value("ID").as_str(), value("VERSION_ID").as_str()) {
            ("ubuntu", "22.04") => Some(Self::Ubuntu2204),
            ("ubuntu", "24.04") => Some(Self::Ubuntu2404),
            ("azurelinux", version) if version.starts_with('3') => Some(Self::AzureLinux3),
            _ => None,
        }
    }
}

/// Production percentiles, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Step name without `AKS.CSE.` and its caller.
    pub step: &'static str,
    pub system: System,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

const fn figures(step: &'static str, system: System, p50: f64, p95: f64, p99: f64) -> Figures {
    Figures { step, system, p50, p95, p99 }
}

pub const FIELD: &[Figures] = {
    use System::{AzureLinux3, Ubuntu2204, Ubuntu2404};
    &[
        figures("configureKubeletAndKubectl", Ubuntu2204, 6.56, 26.06, 44.39),
        figures("configureKubeletAndKubectl", Ubuntu2404, 21.7, 37.0, 46.0),
        figures("configureKubeletAndKubectl", AzureLinux3, 4.6, 34.0, 48.0),
        figures("installKubeletKubectlFromPkg", Ubuntu2204, 14.68, 37.45, 56.59),
        figures("installKubeletKubectlFromPkg", AzureLinux3, 29.0, 51.9, 65.2),
        figures("installKubeletKubectlFromURL", Ubuntu2204, 5.4, 9.6, 15.7),
        figures("installDebPackageFromFile", Ubuntu2204, 3.88, 21.55, 42.88),
        // Bimodal: with and without a wait for apt's lock.
        figures("holdWALinuxAgent", Ubuntu2204, 0.49, 37.47, 58.0),
        figures("holdWALinuxAgent", Ubuntu2404, 4.5, 11.0, 15.0),
        figures("ensureKubelet", Ubuntu2204, 3.27, 6.20, 10.01),
        figures("ensureKubelet", Ubuntu2404, 4.3, 7.5, 10.5),
        figures("ensureKubelet", AzureLinux3, 2.47, 4.85, 9.31),
        figures("ensureContainerd", Ubuntu2204, 0.94, 1.99, 2.80),
        figures("ensureContainerd", AzureLinux3, 0.81, 1.22, 1.59),
        figures("installCredentialProviderFromUrl", Ubuntu2204, 1.0, 1.8, 2.9),
        figures("installCredentialProviderFromPkg", Ubuntu2204, 2.0, 4.7, 6.3),
        figures("apiserverNslookup", Ubuntu2204, 0.55, 3.89, 5.60),
        figures("configureNodeExporter", Ubuntu2204, 1.62, 43.9, 117.0),
        figures("configureNodeExporter", Ubuntu2404, 1.4, 11.5, 61.0),
        figures("configureNodeExporter", AzureLinux3, 1.6, 9.8, 42.0),
        figures("ensureNoDupOnPromiscuBridge", AzureLinux3, 0.7, 7.6, 13.3),
        figures("ubuntuSnapshotUpdate", Ubuntu2204, 0.6, 1.2, 1.6),
    ]
};

pub const SOURCE: &str =
    "AgentBaker e2e/scenario_cse_perf_test.go (thresholds from production telemetry, August 2026)";

/// Limit of the same tests for any step without figures, on an image with everything cached.
pub const ANY_STEP: f64 = 45.0;
/// The limit for the scripts as a whole, on an image with everything cached.
pub const WHOLE_RUN: f64 = 60.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureComparison {
    /// None if only a limit is known.
    pub figures: Option<Figures>,
    /// p95 or the limit, in seconds.
    pub limit: f64,
    pub pace: Speed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speed {
    Usual,
    /// Slower than p95, or than the limit of the tests.
    Slow,
    /// Slower than p99.
    VerySlow,
}

pub fn compare(name: &str, seconds: f64, system: System) -> FigureComparison {
    let last = name.rsplit('.').next().unwrap_or(name);
    let of = |system| FIELD.iter().find(|figures| figures.step == last && figures.system == system);
    match of(system).or_else(|| of(System::default())) {
        Some(figures) => {
            let pace = if seconds > figures.p99 {
                Speed::VerySlow
            } else if seconds > figures.p95 {
                Speed::Slow
            } else {
                Speed::Usual
            };
            FigureComparison { figures: Some(*figures), limit: figures.p95, pace }
        }
        None => held_to(seconds, ANY_STEP),
    }
}

pub(crate) fn compare_run(seconds: f64) -> FigureComparison {
    held_to(seconds, WHOLE_RUN)
}

fn held_to(seconds: f64, limit: f64) -> FigureComparison {
    let pace = if seconds > limit { Speed::Slow } else { Speed::Usual };
    FigureComparison { figures: None, limit, pace }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_is_compared_with_figures_of_its_system() {
        let pace = |seconds, system| compare("AKS.CSE.ensureKubelet", seconds, system).pace;
        assert_eq!(pace(7.0, System::Ubuntu2204), Speed::Slow);
        assert_eq!(pace(7.0, System::Ubuntu2404), Speed::Usual);
        assert_eq!(pace(9.5, System::AzureLinux3), Speed::VerySlow);
        assert_eq!(pace(6.20, System::Ubuntu2204), Speed::Usual, "p95 itself");
        assert_eq!(pace(10.01, System::Ubuntu2204), Speed::Slow, "p99 itself");
        let nslookup = compare("AKS.CSE.apiserverNslookup", 1.0, System::AzureLinux3);
        assert_eq!(nslookup.figures.unwrap().system, System::Ubuntu2204);
    }

    #[test]
    fn step_without_figures_is_compared_with_the_limit() {
        assert_eq!(compare("AKS.CSE.configureCNI", 44.0, System::default()).pace, Speed::Usual);
        assert_eq!(compare("AKS.CSE.configureCNI", 46.0, System::default()).pace, Speed::Slow);
        let at_the_limit = compare("AKS.CSE.configureCNI", ANY_STEP, System::default());
        assert_eq!((at_the_limit.pace, compare_run(WHOLE_RUN).pace), (Speed::Usual, Speed::Usual));
    }

    #[test]
    fn figures_grow_from_p50_to_p99() {
        assert!(FIELD.iter().all(|row| row.p50 < row.p95 && row.p95 < row.p99));
    }

    #[test]
    fn system_is_parsed_from_os_release() {
        let ubuntu = "NAME=\"Ubuntu\"\nID=ubuntu\nVERSION_ID=\"24.04\"\n";
        assert_eq!(System::of_release(ubuntu), Some(System::Ubuntu2404));
        assert_eq!(
            System::of_release("ID=azurelinux\nVERSION_ID=\"3.0\""),
            Some(System::AzureLinux3)
        );
        let older = ubuntu.replace("24.04", "22.04");
        assert_eq!(System::of_release(&older), Some(System::Ubuntu2204));
        assert_eq!(System::of_release("ID=flatcar\nVERSION_ID=1"), None);
        assert_eq!(System::of_release("ID=azurelinux\nVERSION_ID=\"4.0\""), None);
    }
}
