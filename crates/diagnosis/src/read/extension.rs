//! Identifies the bootstrap extension. Other handlers use the same messages.

use crate::read::message::{Handler, Message, Opener};

/// Returns true for names of the bootstrap extension on AKS, ACS and Karpenter nodes.
pub(crate) fn is_bootstrap_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or(&name);
    if let Some(rest) = name.strip_prefix("cse") {
        return rest.bytes().all(|byte| byte.is_ascii_digit())
            || rest.starts_with("-agent")
            || rest.starts_with("-master");
    }
    name == "vmsscse" || name.starts_with("windows-cse-agent")
}

/// Returns true for handler types that can run a bootstrap, with or without the publisher.
pub(crate) fn is_custom_script(kind: &str) -> bool {
    let kind = kind.rsplit(['.', '/']).next().unwrap_or(kind);
    ["CustomScript", "CustomScriptExtension", "CustomScriptForLinux"]
        .iter()
        .any(|known| kind.eq_ignore_ascii_case(known))
}

pub(crate) fn is_bootstrap(message: &Message) -> bool {
    let from_node = message.report.is_some()
        || message.windows_result.is_some()
        || message.windows_name.is_some();
    // Only a bootstrap report has a duration; its head may be cut off.
    let from_scripts = from_node || message.slog.is_some() || message.duration.is_some();
    let kind_fits = message.kind.as_deref().is_none_or(is_custom_script);
    match &message.extension {
        Some(name) if is_bootstrap_name(name) => true,
        // Log paths prove nothing: every Azure extension writes to /var/log/azure.
        Some(_) => from_node && kind_fits && message.opener != Opener::Summary,
        None if !kind_fits || message.run_command => from_node && message.opener != Opener::Wrapper,
        None => match message.opener {
            Opener::Report => message.report.is_some() || message.windows_result.is_some(),
            // A successful Run Command differs only in the report, and so does any text with two streams.
            Opener::Handler => match message.handler {
                Handler::Failed | Handler::Lost => true,
                Handler::Succeeded => from_scripts,
                Handler::Silent => from_scripts || message.trace.is_some(),
            },
            Opener::Wrapper | Opener::Summary | Opener::Sentence | Opener::Log => true,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{is_bootstrap_name, is_custom_script};

    #[test]
    fn bootstrap_names_of_all_generations_are_known() {
        for name in ["vmssCSE", "VMSSCSE", "cse", "cse0", "cse12", "cse-agent-3", "cse-master-0"] {
            assert!(is_bootstrap_name(name), "{name}");
        }
        for name in ["cse-agent-karpenter", "windows-cse-agent-karpenter", "vm/vmssCSE"] {
            assert!(is_bootstrap_name(name), "{name}");
        }
        for name in
            ["OmsAgentForLinux", "CustomScript", "csecurity", "installcse", "AKSLinuxExtension"]
        {
            assert!(!is_bootstrap_name(name), "{name}");
        }
    }

    #[test]
    fn handler_type_is_known_with_or_without_publisher() {
        assert!(is_custom_script("Microsoft.Azure.Extensions.CustomScript"));
        assert!(is_custom_script("CustomScriptExtension"));
        assert!(!is_custom_script("Microsoft.CPlat.Core.RunCommandLinux"));
    }
}
