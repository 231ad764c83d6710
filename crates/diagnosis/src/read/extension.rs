//! Which extension is the node's bootstrap. Other handlers use the very same words.

use crate::read::message::{Handler, Message, Opener};

/// Whether an extension of this name is the bootstrap of an AKS, ACS or Karpenter node.
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

/// Whether a handler type can carry a bootstrap at all. A type may be written with its publisher.
pub(crate) fn is_custom_script(kind: &str) -> bool {
    let kind = kind.rsplit(['.', '/']).next().unwrap_or(kind);
    ["CustomScript", "CustomScriptExtension", "CustomScriptForLinux"]
        .iter()
        .any(|known| kind.eq_ignore_ascii_case(known))
}

/// Whether a message is about a node's bootstrap.
pub(crate) fn is_bootstrap(message: &Message) -> bool {
    let from_node = message.report.is_some()
        || message.windows_result.is_some()
        || message.windows_name.is_some();
    // Only the report of a bootstrap says how long the scripts ran; its head may be cut off.
    let from_scripts = from_node || message.slog.is_some() || message.duration.is_some();
    let kind_fits = message.kind.as_deref().is_none_or(is_custom_script);
    match &message.extension {
        Some(name) if is_bootstrap_name(name) => true,
        // Paths of logs are no proof: every extension of Azure writes to /var/log/azure.
        Some(_) => from_node && kind_fits && message.opener != Opener::Summary,
        None if !kind_fits || message.run_command => from_node && message.opener != Opener::Wrapper,
        None => match message.opener {
            Opener::Report => message.report.is_some() || message.windows_result.is_some(),
            // A successful Run Command looks the same but for the report, and so does any text that
            // shows two streams.
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
    fn the_names_of_all_generations_are_known_and_no_others() {
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
    fn a_type_is_known_with_and_without_its_publisher() {
        assert!(is_custom_script("Microsoft.Azure.Extensions.CustomScript"));
        assert!(is_custom_script("CustomScriptExtension"));
        assert!(!is_custom_script("Microsoft.CPlat.Core.RunCommandLinux"));
    }
}
