//! What an exit code alone says.

use mooring_codes::{ExitCode, Meanings, Os, Reach, Status, known_image, lookup_named};

use crate::cause::Confidence;
use crate::decode::{BootstrapOutcome, FoundBy};
use crate::diagnosis::{Diagnosis, Effective, Reported, reason, unknown};
use crate::hints::Hints;

/// Next step for a faulty node image.
pub const ANOTHER_IMAGE: &str = "Give new nodes another image: `az aks nodepool rollback` in an AKS node pool; with Karpenter another \
    `imageFamily`, or `spec.versions` where the AKSNodeClass has it.";

/// Returns a diagnosis for each meaning of a code. Only its number is known, so none is preferred.
pub fn diagnose_code(code: i32, hints: Hints) -> Vec<Diagnosis> {
    let systems = [Os::Linux, Os::Windows].into_iter();
    systems
        .filter(|os| hints.os.is_none_or(|wanted| wanted == *os))
        .flat_map(|os| lookup_named(os, code, "", hints.image_date).likely())
        .map(|row| {
            let failed = code != 0;
            let meanings = lookup_named(row.os, code, "", hints.image_date);
            let mut diagnosis = from_catalog(row, &meanings);
            diagnosis.reported.found_by = Some(FoundBy::Given);
            diagnosis.confidence = Confidence::Low;
            if let Some(image) = known_image(code, hints.image_date).filter(|_| row.os == Os::Linux)
            {
                let known = format!("Known-bad image: {} {}", image.name, image.fault);
                diagnosis.summary = format!("{known} {}", diagnosis.summary);
                diagnosis.actions.insert(0, ANOTHER_IMAGE.to_owned());
            }
            if !failed {
                diagnosis.outcome = BootstrapOutcome::Succeeded;
                "Succeeded".clone_into(&mut diagnosis.reason);
            }
            diagnosis
        })
        .collect()
}

/// Returns what the table of exit codes says of a row, one of several meanings of its number.
pub(super) fn from_catalog(row: &'static ExitCode, meanings: &Meanings) -> Diagnosis {
    let others = meanings.iter().filter(|other| **other != row);
    let clear = row.status != Status::Raw && !others.into_iter().any(|other| may_be_meant(other));
    let mut summary = row.meaning.to_owned();
    if let Some(other) = meanings.get(1) {
        summary.push_str(" Depending on the image date, the code can also mean ");
        summary.push_str(other.name);
        summary.push('.');
    }
    let named = Some(row.name.to_owned());
    Diagnosis {
        os: Some(row.os),
        reported: Reported { code: Some(row.number), name: named.clone(), found_by: None },
        effective: Effective { code: Some(row.number), name: named },
        reason: reason(row),
        confidence: if clear { Confidence::Medium } else { Confidence::Low },
        owner: row.owner,
        summary,
        actions: vec![row.action.to_owned()],
        ..unknown()
    }
}

/// Returns true if current nodes may still report this secondary meaning of a code.
fn may_be_meant(row: &ExitCode) -> bool {
    match row.status {
        Status::Agent => true,
        Status::Current => matches!(row.reach, Reach::Node | Reach::Wrapper),
        Status::Removed => row.removed.is_some_and(|removed| removed.year() >= 2025),
        Status::Raw | Status::ImageBuildOnly | Status::Proposed => false,
    }
}

#[cfg(test)]
mod tests {
    use mooring_codes::all;

    use super::*;

    #[test]
    fn secondary_meaning_is_current_or_was_removed_lately() {
        let row = |number: i32, name: &str| {
            all().find(|row| row.number == number && row.name == name).unwrap()
        };
        assert!(may_be_meant(row(50, "ERR_OUTBOUND_CONN_FAIL")));
        assert!(may_be_meant(row(120, "ERR_AZURE_STACK_GET_ARM_TOKEN")), "removed in 2025");
        assert!(!may_be_meant(row(124, "ERR_VHD_FILE_NOT_FOUND")), "removed in 2023");
        let raw = all().find(|row| row.status == Status::Raw).unwrap();
        assert!(!may_be_meant(raw));
    }

    #[test]
    fn confidence_of_a_code_is_low_if_it_is_raw_or_ambiguous() {
        let mut ambiguous = 0;
        for row in all().filter(|row| row.os == Os::Linux) {
            let meanings = lookup_named(Os::Linux, row.number, "", None);
            let others = meanings.iter().filter(|other| **other != row);
            let is_ambiguous = others.into_iter().any(|other| may_be_meant(other));
            ambiguous += usize::from(is_ambiguous);
            let is_low = row.status == Status::Raw || is_ambiguous;
            let expected = if is_low { Confidence::Low } else { Confidence::Medium };
            assert_eq!(from_catalog(row, &meanings).confidence, expected, "{row}");
        }
        assert!(ambiguous > 0);
    }
}
