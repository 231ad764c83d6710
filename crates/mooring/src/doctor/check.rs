//! Results of checks, as in schema `mooring.doctor/v1`.
#![allow(clippy::doc_markdown, reason = "some comments are the help text, which is not Markdown")]

use clap::ValueEnum;
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::plural::counted;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CheckState {
    Ok,
    /// Works, and deserves attention.
    Warning,
    Failed,
    /// It was asked for, and could not be read.
    Unknown,
    /// Optional, or not checked.
    Skipped,
}

impl CheckState {
    fn mark(self) -> Mark {
        match self {
            Self::Ok => Mark::Good,
            Self::Warning => Mark::Warning,
            Self::Failed => Mark::Bad,
            Self::Unknown | Self::Skipped => Mark::None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Area {
    /// Connection, permissions and clock of the API server
    Cluster,
    /// Sign-in and permissions
    Azure,
    /// NodePools and options of node classes
    Karpenter,
    /// Leader, version and record
    Controller,
    /// Configuration file and variables
    Config,
}

/// Part of the screen, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Part {
    Cluster,
    #[serde(rename = "cluster")]
    Aks,
    Karpenter,
    Azure,
    Controller,
    Config,
    #[serde(rename = "cluster")]
    Clock,
}

impl Part {
    pub(super) fn area(self) -> Area {
        match self {
            Self::Cluster | Self::Aks | Self::Clock => Area::Cluster,
            Self::Karpenter => Area::Karpenter,
            Self::Azure => Area::Azure,
            Self::Controller => Area::Controller,
            Self::Config => Area::Config,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Cluster => "Cluster",
            Self::Aks => "Which AKS",
            Self::Karpenter => "Karpenter",
            Self::Azure => "Azure",
            Self::Controller => "Controller",
            Self::Config => "Config",
            Self::Clock => "Clock",
        }
    }
}

/// One thing that must be true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DoctorCheck {
    #[serde(rename = "area")]
    pub(super) part: Part,
    pub(super) name: &'static str,
    pub(super) state: CheckState,
    pub(super) message: String,
    /// Commands that need it.
    pub(super) used_by: Vec<&'static str>,
    /// Missing permissions.
    pub(super) lacks: Vec<String>,
    /// Commands that must precede the fix, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) first: Vec<String>,
    /// The command that fixes it.
    pub(super) fix: Option<String>,
}

impl DoctorCheck {
    pub(super) fn new(
        part: Part,
        name: &'static str,
        state: CheckState,
        message: impl Into<String>,
    ) -> Self {
        Self {
            part,
            name,
            state,
            message: message.into(),
            used_by: Vec::new(),
            lacks: Vec::new(),
            first: Vec::new(),
            fix: None,
        }
    }

    pub(super) fn used_by(self, used_by: &[&'static str]) -> Self {
        Self { used_by: used_by.to_vec(), ..self }
    }

    pub(super) fn lacks(self, lacks: Vec<String>) -> Self {
        Self { lacks, ..self }
    }

    pub(super) fn first(self, first: Vec<String>) -> Self {
        Self { first, ..self }
    }

    pub(super) fn fix(self, fix: Option<String>) -> Self {
        Self { fix, ..self }
    }

    fn add(&self, screen: &mut Screen, label: &str) {
        screen.label(label, [Text::marked(self.state.mark(), &self.message)]);
        let line = |label: &str, text: &str| Text::new(format!("{:14}{label:<9}{text}", ""));
        if self.state == CheckState::Ok {
            return;
        }
        if !self.used_by.is_empty() && (self.state != CheckState::Skipped || self.fix.is_some()) {
            screen.line(line("used by", &self.used_by.join(", ")));
        }
        for lacks in &self.lacks {
            screen.line(line("lacks", lacks));
        }
        for (at, first) in self.first.iter().enumerate() {
            screen.line(line(if at == 0 { "first" } else { "" }, first));
        }
        if let Some(fix) = &self.fix {
            screen.line(line("fix", fix));
        }
    }
}

/// All results.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) failed: usize,
    pub(super) warnings: usize,
    pub(super) ok: usize,
    pub(super) seconds: f64,
    pub(super) checks: Vec<DoctorCheck>,
}

impl Report {
    pub(super) fn new(checks: Vec<DoctorCheck>, seconds: f64) -> Self {
        let count = |state| checks.iter().filter(|check| check.state == state).count();
        Self {
            failed: count(CheckState::Failed),
            warnings: count(CheckState::Warning),
            ok: count(CheckState::Ok),
            seconds: (seconds * 1000.0).round() / 1000.0,
            checks,
        }
    }

    /// Returns what could not be checked.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &DoctorCheck> {
        self.checks.iter().filter(|check| check.state == CheckState::Unknown)
    }

    fn sentence(&self, cluster: &str) -> String {
        let (failed, warnings) = (counted(self.failed, "check"), counted(self.warnings, "warning"));
        format!("{cluster}: {failed} failed, {warnings}, {} ok", self.ok)
    }

    pub(super) fn screen(&self, cluster: &str) -> Screen {
        let mut screen = Screen::default();
        let took = Text::new(format!("{:.1}s", self.seconds));
        screen.ends(Text::default().bold(self.sentence(cluster)), took);
        let mut last = None;
        for check in &self.checks {
            let is_new = last.replace(check.part) != Some(check.part);
            check.add(&mut screen, if is_new { check.part.label() } else { "" });
        }
        screen
    }
}

#[cfg(test)]
mod tests {
    use mooring_terminal::Style;

    use super::*;

    #[test]
    fn commands_are_shown_unless_a_check_is_optional() {
        let shown = |state, used_by: &[&'static str], fix: Option<&str>| {
            let check = DoctorCheck::new(Part::Azure, "vms", state, "m").used_by(used_by);
            let mut screen = Screen::default();
            check.fix(fix.map(str::to_owned)).add(&mut screen, "");
            let text = screen.render(&Style::PIPE);
            (text.contains("used by"), text.contains("fix "))
        };
        for (state, used_by, fix, expected) in [
            (CheckState::Ok, &["why"][..], Some("f"), (false, false)),
            (CheckState::Failed, &["why"], None, (true, false)),
            (CheckState::Failed, &[], Some("f"), (false, true)),
            (CheckState::Warning, &["why"], None, (true, false)),
            (CheckState::Skipped, &["why"], None, (false, false)),
            (CheckState::Skipped, &["why"], Some("f"), (true, true)),
        ] {
            assert_eq!(shown(state, used_by, fix), expected, "{state:?} {used_by:?} {fix:?}");
        }
    }

    #[test]
    fn failed_check_names_permission_commands_and_fix() {
        let checks = vec![
            DoctorCheck::new(Part::Azure, "sign-in", CheckState::Ok, "signed in").used_by(&["why"]),
            DoctorCheck::new(Part::Azure, "pools", CheckState::Failed, "pools cannot be written")
                .used_by(&["repair"])
                .lacks(vec!["Microsoft.ContainerService/x/write".to_owned()])
                .fix(Some("az role assignment create".to_owned())),
            DoctorCheck::new(Part::Clock, "clock", CheckState::Warning, "12s from the API server"),
        ];
        let report = Report::new(checks, 1.44);
        assert_eq!(
            report.screen("demo").render(&Style { width: Some(60), ..Style::PIPE }),
            "demo: 1 check failed, 1 warning, 1 ok                   1.4s\n\
             Azure       ✓ signed in\n            ✗ pools cannot be written\n              \
             used by  repair\n              lacks    Microsoft.ContainerService/x/write\n              \
             fix      az role assignment create\nClock       ! 12s from the API server\n"
        );
    }
}
