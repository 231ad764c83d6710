//! Finds the cause of a node failure in any text about it.
//!
//! ```
//! use mooring_diagnosis::{Hints, diagnose};
//!
//! let text = br#"command terminated with exit status=1\n[stdout]\n{\"ExitCode\": \"211\", \"Output\": \"oras: command not found\"}"#;
//! let diagnoses = diagnose(text, Hints::default());
//! assert_eq!(diagnoses[0].reason, "OrasBinaryMissing");
//! assert_eq!(diagnoses[0].reported.code, Some(211));
//! assert_eq!(diagnoses[0].effective.code, Some(232));
//! ```
//!
//! [`decode()`] finds the messages in a text and the exit code of each; [`diagnose()`] also applies rules to the evidence.
//! The crate does no I/O, needs no clock and panics on no input; time and memory are proportional to the text.
//!
//! | step | modules |
//! |---|---|
//! | decode the text and scan it once | `text` |
//! | read facts around anchors and assign them to messages | `read` |
//! | select bootstrap messages and their exit codes | `decode` |
//! | describe causes | `cause`, `data/` |
//! | find the cause: by rules for exit codes, by known wordings of Azure and Kubernetes | `diagnose` |
//! | otherwise by an error code, otherwise by the line that says what failed ([`Rung`]) | `diagnose` |
//! | the result | `diagnosis` |
//! | count causes by image | [`fleet`] |

mod cause;
mod decode;
mod diagnose;
mod diagnosis;
pub mod fleet;
mod hints;
mod read;
mod text;

pub use cause::{CatalogRow, Confidence, Stage, TextSubject};
pub use decode::{BootstrapOutcome, Decoded, FoundBy, Situation, decode};
pub use diagnose::alone::code_alone;
pub use diagnose::code::{ANOTHER_IMAGE, diagnose_code};
pub use diagnose::components::is_unruled;
pub use diagnose::evidence::MAX_LINE_CHARS;
pub use diagnose::failures::diagnose;
pub use diagnose::pages::{CausePage, cause_page, cause_pages, find_codes, retry, rule_names};
pub use diagnose::recognize::{Recognized, recognize};
pub use diagnose::stream::{DiagnosisStream, MAX_WHOLE, StreamDiagnoses, diagnose_bounded};
pub use diagnosis::{Diagnosis, Effective, Evidence, Reported, Rung};
pub use hints::{Hints, Origin};
