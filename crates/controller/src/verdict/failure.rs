//! What is known of a failed bootstrap.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code as reported.
    pub code: Option<i32>,
    pub name: Option<String>,
    /// The code that fits the cause, where that is another.
    pub effective: Option<(i32, String)>,
    /// The cause as a word: the diagnosis's reason.
    pub cause: String,
    /// The cause as a clause without its full stop.
    pub sentence: String,
    /// What to do first, without its full stop.
    pub action: String,
    pub owner: &'static str,
    pub confidence: &'static str,
    /// A quoted line that shows it, if there is one.
    pub evidence: Option<String>,
    pub source: Source,
}

impl Failure {
    /// Whether Azure or the API server shows the failure. An event alone does not: others can write events.
    pub fn is_confirmed(&self) -> bool {
        self.source != Source::KarpenterEvent
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The VM's instance view.
    InstanceView,
    Machine,
    /// Karpenter's event, since the VM was gone.
    KarpenterEvent,
    /// Nobody said so: time had run out.
    Clock,
    /// The node did not register in time.
    Registration,
}

impl Source {
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
