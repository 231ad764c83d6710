//! All phrases that matter, found in one pass.
//!
//! An [`Anchor`] is a word around which a fact stands; whoever uses it reads the surroundings, which
//! may be wrapped or marked up, so anchors are single words. A [`Clue`] is a phrase of a log that
//! tells for a cause. The automaton is built when it is first needed.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::clues::{CLUES, Clue};

/// A word around which a fact stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Processing,
    Provisioning,
    Reported,
    Publisher,
    Type,
    Name,
    Status,
    Enable,
    ExitCode,
    TraceExit,
    CheckCode,
    AksName,
    WindowsName,
    CseError,
    Execution,
    Executing,
    Interrupted,
    Stdout,
    Stderr,
    Linux,
    Windows,
    AksNode,
    Step,
    ExecDuration,
    State,
    Target,
    ExtensionError,
    Image,
    Arm,
    Establish,
    Resolve,
    Registry,
    Endpoint,
    Downloading,
    NoSuchHost,
    RunCommand,
    KnownName,
    OperationError,
    ErrorCode,
}

/// What was found, and where it starts and ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) at: u32,
    pub(crate) len: u8,
    pub(crate) mark: Mark,
}

/// An anchor or a clue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Anchor(Anchor),
    Clue(Clue),
}

impl Hit {
    pub(crate) fn start(self) -> usize {
        self.at as usize
    }

    pub(crate) fn end(self) -> usize {
        self.start() + usize::from(self.len)
    }
}

/// The anchors' spellings; case does not matter.
const ANCHORS: &[(&str, Anchor)] = &[
    ("processing", Anchor::Processing),
    ("provisioning of", Anchor::Provisioning),
    ("reported", Anchor::Reported),
    ("publisher", Anchor::Publisher),
    ("type", Anchor::Type),
    ("name", Anchor::Name),
    ("status=", Anchor::Status),
    ("status =", Anchor::Status),
    ("enable failed", Anchor::Enable),
    ("enable succeeded", Anchor::Enable),
    ("disable succeeded", Anchor::Enable),
    ("exitcode", Anchor::ExitCode),
    ("+ exit", Anchor::TraceExit),
    ("check code", Anchor::CheckCode),
    ("vmextensionerror", Anchor::AksName),
    ("windows_cse_", Anchor::WindowsName),
    ("cse error", Anchor::CseError),
    ("execution", Anchor::Execution),
    ("executing", Anchor::Executing),
    ("interrupted by a vm restart", Anchor::Interrupted),
    ("[stdout]", Anchor::Stdout),
    ("[stderr]", Anchor::Stderr),
    ("csewindowstroubleshoot", Anchor::Windows),
    ("vmextensionwindowstroubleshoot", Anchor::Windows),
    ("vmextensionprovisioningerror_windows", Anchor::Windows),
    ("customscriptextension", Anchor::Windows),
    ("azuredata\\", Anchor::Windows),
    ("cselinuxtroubleshoot", Anchor::Linux),
    ("vmextensionlinuxtroubleshoot", Anchor::Linux),
    ("microsoft.azure.extensions.customscript", Anchor::Linux),
    ("aks-node-controller", Anchor::AksNode),
    ("/opt/azure/", Anchor::AksNode),
    ("/var/log/azure", Anchor::AksNode),
    ("provision_start.sh", Anchor::AksNode),
    ("execduration", Anchor::ExecDuration),
    ("bootdatapoints", Anchor::AksNode),
    ("csestarttime", Anchor::AksNode),
    ("kernelstarttime", Anchor::AksNode),
    ("aks.cse.", Anchor::Step),
    ("provisioningstate/", Anchor::State),
    ("target", Anchor::Target),
    ("extension error details", Anchor::ExtensionError),
    ("aksubuntu", Anchor::Image),
    ("aksazurelinux", Anchor::Image),
    ("akscblmariner", Anchor::Image),
    ("akswindows", Anchor::Image),
    ("aksflatcar", Anchor::Image),
    ("aksacl", Anchor::Image),
    ("/versions/", Anchor::Image),
    ("image-version", Anchor::Image),
    ("imageversion", Anchor::Image),
    ("vmextensionprovisioningtimeout", Anchor::Arm),
    ("vmextensionprovisioningerror", Anchor::Arm),
    ("vmextensionhandlernontransienterror", Anchor::Arm),
    ("vmextensionmanagementinternalerror", Anchor::Arm),
    ("osprovisioningtimedout", Anchor::Arm),
    ("vmstarttimedout", Anchor::Arm),
    ("novmssinstanceview", Anchor::Arm),
    ("vmagentstatuscommunicationerror", Anchor::Arm),
    ("templatedeploymenttimedouterror", Anchor::Arm),
    ("agentpoolfailed", Anchor::Arm),
    ("establish", Anchor::Establish),
    ("resolve", Anchor::Resolve),
    ("registry", Anchor::Registry),
    ("endpoint", Anchor::Endpoint),
    ("downloading", Anchor::Downloading),
    ("lookupnosuchhost", Anchor::NoSuchHost),
    ("runcommand", Anchor::RunCommand),
    ("extensionoperationerror", Anchor::OperationError),
    ("error code:", Anchor::ErrorCode),
    ("vmsscse", Anchor::KnownName),
    ("windows-cse-agent-", Anchor::KnownName),
    ("cse-agent-", Anchor::KnownName),
    ("cse-master-", Anchor::KnownName),
];

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        // The longest of those that start first, so that no clue hides in another.
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(ANCHORS.iter().map(|(text, _)| *text).chain(CLUES.iter().map(|(text, _)| *text)))
        .ok()
});

/// Every hit, in the order of the text.
pub(crate) fn scan(text: &[u8]) -> Vec<Hit> {
    let mut hits = Vec::new();
    // The patterns are constants; a test builds the automaton.
    let Some(automaton) = AUTOMATON.as_ref() else { return hits };
    for found in automaton.find_iter(text) {
        let pattern = found.pattern().as_usize();
        let mark = match pattern.checked_sub(ANCHORS.len()) {
            None => Mark::Anchor(ANCHORS[pattern].1),
            Some(clue) => Mark::Clue(CLUES[clue].1),
        };
        let Ok(at) = u32::try_from(found.start()) else { break };
        let Ok(len) = u8::try_from(found.len()) else { continue };
        hits.push(Hit { at, len, mark });
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_is_found_by_itself() {
        assert!(AUTOMATON.is_some());
        for (text, anchor) in ANCHORS {
            assert_eq!(scan(text.as_bytes())[0].mark, Mark::Anchor(*anchor), "{text}");
        }
        for (text, clue) in CLUES {
            assert!(
                scan(text.as_bytes()).iter().any(|hit| hit.mark == Mark::Clue(*clue)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_hit_is_small_so_that_hostile_text_cannot_make_the_list_large() {
        assert_eq!(size_of::<Hit>(), 8);
    }
}
