//! Finds all anchors, clues and phrases of wordings in one pass.
//!
//! An [`Anchor`] is a word next to a fact; the text around it may be wrapped or marked up, so anchors are single words.
//! A [`Clue`] is a log phrase that indicates a cause.

use std::cmp::Reverse;
use std::sync::LazyLock;

use crate::text::grams::{Compare, Grams};
use crate::text::phrases::{PHRASES, Phrases};

// Log phrases that indicate a cause (`data/clues.toml`), matched in any case.
include!(concat!(env!("OUT_DIR"), "/clues.rs"));

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
    /// `exit status=` in another language.
    ForeignStatus,
    LocalExitCode,
    /// `CSE exited with code N` in a condition or event of Mooring.
    ConditionCode,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) at: u32,
    pub(crate) len: u8,
    pub(crate) mark: TextMark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextMark {
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

/// Spellings of anchors; case does not matter.
const ANCHORS: &[(&str, Anchor)] = &[
    ("processing", Anchor::Processing),
    ("provisioning of", Anchor::Provisioning),
    ("reported", Anchor::Reported),
    ("publisher", Anchor::Publisher),
    ("type", Anchor::Type),
    ("name", Anchor::Name),
    ("status=", Anchor::Status),
    ("status =", Anchor::Status),
    ("exitstatus=", Anchor::ForeignStatus),
    ("uscita=", Anchor::ForeignStatus),
    ("uscita =", Anchor::ForeignStatus),
    ("stato=", Anchor::ForeignStatus),
    ("statut=", Anchor::ForeignStatus),
    ("estado=", Anchor::ForeignStatus),
    ("sortie=", Anchor::ForeignStatus),
    ("sortie =", Anchor::ForeignStatus),
    ("salida=", Anchor::ForeignStatus),
    ("sa\u{ed}da=", Anchor::ForeignStatus),
    ("beendigungsstatus=", Anchor::ForeignStatus),
    ("\u{30b9}\u{30c6}\u{30fc}\u{30bf}\u{30b9}=", Anchor::ForeignStatus),
    ("\u{72b6}\u{614b}=", Anchor::ForeignStatus),
    ("\u{72b6}\u{6001}=", Anchor::ForeignStatus),
    ("\u{30b3}\u{30fc}\u{30c9}=", Anchor::ForeignStatus),
    ("\u{c0c1}\u{d0dc}=", Anchor::ForeignStatus),
    ("exitstatus ", Anchor::ForeignStatus),
    ("beendigungsstatus ", Anchor::ForeignStatus),
    ("de sortie ", Anchor::ForeignStatus),
    ("de salida ", Anchor::ForeignStatus),
    ("de sa\u{ed}da ", Anchor::ForeignStatus),
    ("di uscita ", Anchor::ForeignStatus),
    ("\u{72c0}\u{614b}\u{70ba}", Anchor::ForeignStatus),
    ("\u{72b6}\u{6001}\u{4e3a}", Anchor::ForeignStatus),
    ("\u{72b6}\u{614b}\u{306f}", Anchor::ForeignStatus),
    ("local exit_code=", Anchor::LocalExitCode),
    ("enable failed", Anchor::Enable),
    ("enable succeeded", Anchor::Enable),
    ("disable succeeded", Anchor::Enable),
    ("exitcode", Anchor::ExitCode),
    ("+ exit", Anchor::TraceExit),
    ("check code", Anchor::CheckCode),
    ("vmextensionerror", Anchor::AksName),
    ("windows_cse_", Anchor::WindowsName),
    ("cse error", Anchor::CseError),
    ("cse exited with code", Anchor::ConditionCode),
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
    ("retrycmd_", Anchor::AksNode),
    ("apt_get_update", Anchor::AksNode),
    ("wait_for_apt_locks", Anchor::AksNode),
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

static GRAMS: LazyLock<Grams> = LazyLock::new(|| {
    let anchors = ANCHORS.iter().map(|(text, _)| (*text, Compare::Literal));
    let clues = CLUES.iter().map(|(text, _)| (*text, Compare::Literal));
    let wordings = PHRASES.iter().map(|text| (*text, Compare::Flexible));
    Grams::new(anchors.chain(clues).chain(wordings))
});

/// Returns anchors and clues in the order of the text, and the phrases of wordings.
///
/// If anchors and clues overlap, the longest of those that start first counts, so that no clue hides in another.
pub(crate) fn scan(text: &[u8]) -> (Vec<Hit>, Phrases) {
    let mut all: Vec<Hit> = Vec::new();
    let mut phrases = Phrases::default();
    let marks = ANCHORS.len() + CLUES.len();
    GRAMS.find(text, |index, start, end| {
        if index >= marks {
            return phrases.add(text, index - marks, start, end);
        }
        let (Ok(at), Ok(len)) = (u32::try_from(start), u8::try_from(end - start)) else {
            return false;
        };
        let mark = match index.checked_sub(ANCHORS.len()) {
            None => TextMark::Anchor(ANCHORS[index].1),
            Some(clue) => TextMark::Clue(CLUES[clue].1),
        };
        all.push(Hit { at, len, mark });
        true
    });
    all.sort_by_key(|hit| (hit.at, Reverse(hit.len)));
    let mut free = 0;
    all.retain(|hit| {
        let counts = hit.start() >= free;
        if counts {
            free = hit.end();
        }
        counts
    });
    (all, phrases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_alone() {
        for (text, anchor) in ANCHORS {
            assert_eq!(scan(text.as_bytes()).0[0].mark, TextMark::Anchor(*anchor), "{text}");
        }
        for (text, clue) in CLUES {
            assert!(
                scan(text.as_bytes()).0.iter().any(|hit| hit.mark == TextMark::Clue(*clue)),
                "{text}"
            );
        }
    }

    #[test]
    fn hit_is_small_to_bound_the_list_of_hostile_text() {
        assert_eq!(size_of::<Hit>(), 8);
    }
}
