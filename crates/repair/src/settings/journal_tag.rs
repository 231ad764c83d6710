use mooring_workflow::store::JournalPlace;

use crate::names::config_map;

/// Returns the location of the journal for the temporary pool's tag.
pub fn pointer(place: &JournalPlace, pool: &str) -> String {
    match place {
        JournalPlace::ConfigMap(namespace) => format!("configmap/{namespace}/{}", config_map(pool)),
        // Tag values have 256 characters; the end of a path is more specific.
        JournalPlace::File(path) => {
            let cut = path.char_indices().rev().nth(239).map_or(0, |(at, _)| at);
            format!("file/{}", &path[cut..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_location_fits_into_a_tag() {
        assert_eq!(
            pointer(&JournalPlace::default(), "system"),
            "configmap/mooring-system/repair-system"
        );
        let elsewhere = JournalPlace::ConfigMap("ops".to_owned());
        assert_eq!(pointer(&elsewhere, "system"), "configmap/ops/repair-system");
        assert_eq!(pointer(&JournalPlace::File("/a/b".into()), "system"), "file//a/b");
        let long = pointer(&JournalPlace::File("/ü".repeat(300)), "system");
        assert_eq!(long.chars().count(), 245);
    }
}
