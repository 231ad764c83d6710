//! Overrides of checks in settings.

use super::table::overridable;
use crate::settings::{Settings, SettingsError};

impl Settings {
    /// Adds the override `CHECK=REASON`.
    pub fn add_override(&mut self, text: &str) -> Result<(), SettingsError> {
        let (check, reason) = text.split_once('=').unwrap_or((text, ""));
        if !overridable().any(|id| id == check) {
            let valid = overridable().collect::<Vec<_>>().join(", ");
            return Err(SettingsError::UnknownCheck {
                name: mooring_redact::identifier(check),
                valid,
            });
        }
        if reason.trim().is_empty() {
            return Err(SettingsError::NoReason(check.to_owned()));
        }
        if self.overrides.contains_key(check) {
            return Err(SettingsError::Duplicate(check.to_owned()));
        }
        self.apply_override(check, reason.trim());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::target;
    use crate::settings::BudgetPolicy;

    fn defaults() -> Settings {
        Settings::new(target("system"))
    }

    #[test]
    fn override_requires_a_known_check_and_a_reason() {
        let mut settings = defaults();
        settings.add_override("missing-nodes= ticket 7 ").unwrap();
        assert_eq!(settings.overrides["missing-nodes"], "ticket 7");
        let unknown = settings.add_override("all=x").unwrap_err().to_string();
        assert!(
            unknown.starts_with("unknown check 'all'; valid checks: missing-nodes, "),
            "{unknown}"
        );
        assert_eq!(
            settings.add_override("workloads"),
            Err(SettingsError::NoReason("workloads".into()))
        );
        assert_eq!(
            settings.add_override("workloads= "),
            Err(SettingsError::NoReason("workloads".into()))
        );
    }

    #[test]
    fn pdb_override_sets_the_policy() {
        let mut settings = defaults();
        settings.add_override("pdb=ticket 7").unwrap();
        assert_eq!(settings.budgets, BudgetPolicy::Override("ticket 7".into()));
        assert_eq!(settings.overrides["pdb"], "ticket 7");
        assert!(settings.add_override("operation=x").is_err(), "operations cannot be overridden");
    }
}
