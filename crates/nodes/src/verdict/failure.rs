//! A failed bootstrap.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: Option<i32>,
    pub name: Option<String>,
    /// Code that matches the cause, if different.
    pub effective: Option<(i32, String)>,
    /// Reason of the diagnosis.
    pub cause: String,
    /// The cause without its full stop.
    pub sentence: String,
    /// The first action without its full stop.
    pub action: String,
    pub owner: &'static str,
    pub confidence: &'static str,
    /// Quoted line that shows the cause.
    pub evidence: Option<String>,
    pub source: FailureSource,
}

impl Failure {
    /// Returns true if Azure or the API server shows the failure. An event alone does not: others can write events.
    pub fn is_confirmed(&self) -> bool {
        self.source != FailureSource::KarpenterEvent
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureSource {
    InstanceView,
    Machine,
    /// Karpenter's event, because the VM was deleted.
    KarpenterEvent,
    /// Karpenter's timeout, without any report.
    Clock,
    Registration,
}

impl FailureSource {
    pub const ALL: [Self; 5] =
        [Self::InstanceView, Self::Machine, Self::KarpenterEvent, Self::Clock, Self::Registration];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InstanceView => "instance-view",
            Self::Machine => "aks-machine",
            Self::KarpenterEvent => "karpenter-event",
            Self::Clock => "clock",
            Self::Registration => "registration",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_read_back_from_its_name() {
        for source in FailureSource::ALL {
            assert_eq!(FailureSource::parse(source.as_str()), Some(source));
        }
        assert_eq!(FailureSource::parse(""), None);
    }
}
