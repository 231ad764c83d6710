//! From any text about a node that does not come up to its cause.
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
//! Two steps, each usable alone. [`decode`] finds the messages in a text and the code of each;
//! [`diagnose`] then lets rules look at the evidence. Nothing in here does I/O, needs a clock or
//! panics on any input; time and memory are proportional to the text.
//!
//! | step | modules |
//! |---|---|
//! | undress the text | `wrapped`, `normalise` |
//! | find what matters | `grams`, `scan`, `text` |
//! | read what stands around it | `words`, `wrappers`, `status`, `codes`, `surroundings`, `sentences` |
//! | put facts together | `message`, `read`, `facts` |
//! | say what a message says | `extension`, `report`, `tell`, `told`, `merge`, `implied`, `decode` |
//! | find the cause of an exit code | `data/rules`, `rules`, `found_clues`, `evidence`, `diagnose` |
//! | find a cause by its wording | `data/wordings`, `wordings`, `wording_case` |
//! | describe causes and unknown texts | `causes`, `recognize` |
//! | read long texts in bounded memory | `stream` |
//! | tell it | `diagnosis`, `json` |
//! | count causes by image | [`fleet`] |

mod causes;
mod codes;
mod decode;
mod decoded;
mod diagnose;
mod diagnosis;
mod evidence;
mod extension;
mod facts;
pub mod fleet;
mod found_clues;
mod grams;
mod implied;
mod json;
mod merge;
mod message;
mod normalise;
mod read;
mod recognize;
#[cfg(test)]
mod removal;
mod report;
mod rules;
mod scan;
mod sentences;
mod stage;
mod status;
mod stream;
mod surroundings;
mod tables;
mod tell;
mod text;
mod told;
mod wording_case;
mod wordings;
mod words;
mod wrapped;
mod wrappers;

pub use causes::{CausePage, cause_page, cause_pages, codes_of, rule_names};
pub use decode::decode;
pub use decoded::{Decoded, FoundBy, Outcome, Situation};
pub use diagnose::{ANOTHER_IMAGE, diagnose, diagnose_code};
pub use diagnosis::{Confidence, Diagnosis, Effective, Hints, Reported};
pub use evidence::{Evidence, LONGEST_LINE};
pub use json::{SCHEMA, to_json};
pub use recognize::{Recognized, recognize};
pub use stage::Stage;
pub use stream::{DiagnosisStream, MAX_WHOLE, StreamDiagnoses, diagnose_bounded};
