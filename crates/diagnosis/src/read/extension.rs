//! Identifies the bootstrap extension. Other handlers use the same messages.

use crate::read::message::{ExtensionMessage, Handler, Opener};

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

pub(crate) fn is_bootstrap(message: &ExtensionMessage) -> bool {
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
    use super::{is_bootstrap, is_bootstrap_name, is_custom_script};
    use crate::read::message::{ExtensionMessage, Handler, Located, Opener};

    fn message(opener: Opener) -> ExtensionMessage {
        ExtensionMessage::new(opener, 0)
    }

    /// Messages with one fact that only the bootstrap of a node has.
    fn from_node(opener: Opener) -> [ExtensionMessage; 3] {
        let found = Some(Located { value: 0, at: 0 });
        [
            ExtensionMessage { report: found, ..message(opener) },
            ExtensionMessage { windows_result: found, ..message(opener) },
            ExtensionMessage { windows_name: found, ..message(opener) },
        ]
    }

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
    fn other_extension_is_a_bootstrap_with_a_fact_of_the_node() {
        let named =
            |one: ExtensionMessage| ExtensionMessage { extension: Some("mine".to_owned()), ..one };
        let of_kind = |one: ExtensionMessage, kind: &str| ExtensionMessage {
            kind: Some(kind.to_owned()),
            ..one
        };
        for one in from_node(Opener::Wrapper).map(named) {
            assert!(is_bootstrap(&one), "{one:?}");
            assert!(is_bootstrap(&of_kind(one.clone(), "CustomScript")), "{one:?}");
            assert!(!is_bootstrap(&of_kind(one.clone(), "RunCommandLinux")), "{one:?}");
            assert!(!is_bootstrap(&ExtensionMessage { opener: Opener::Summary, ..one }));
        }
        let slog = Some(Located { value: 0, at: 0 });
        assert!(!is_bootstrap(&named(ExtensionMessage { slog, ..message(Opener::Wrapper) })));
    }

    #[test]
    fn message_of_another_handler_is_a_bootstrap_with_a_report() {
        let kind = Some("RunCommandLinux".to_owned());
        for opener in [Opener::Handler, Opener::Wrapper] {
            for one in from_node(opener) {
                let is_ours = opener == Opener::Handler;
                assert_eq!(
                    is_bootstrap(&ExtensionMessage { kind: kind.clone(), ..one.clone() }),
                    is_ours
                );
                assert_eq!(is_bootstrap(&ExtensionMessage { run_command: true, ..one }), is_ours);
            }
            assert!(!is_bootstrap(&ExtensionMessage { kind: kind.clone(), ..message(opener) }));
            assert!(!is_bootstrap(&ExtensionMessage { run_command: true, ..message(opener) }));
        }
    }

    #[test]
    fn unnamed_message_is_classified_by_its_opener() {
        let [report, result, name] = from_node(Opener::Report);
        assert!(is_bootstrap(&report) && is_bootstrap(&result) && !is_bootstrap(&name));
        for opener in [Opener::Wrapper, Opener::Summary, Opener::Sentence, Opener::Log] {
            assert!(is_bootstrap(&message(opener)), "{opener:?}");
        }
        let found = Some(Located { value: 0, at: 0 });
        for (handler, plain, traced) in [
            (Handler::Failed, true, true),
            (Handler::Lost, true, true),
            (Handler::Succeeded, false, false),
            (Handler::Silent, false, true),
        ] {
            let one = ExtensionMessage { handler, ..message(Opener::Handler) };
            assert_eq!(is_bootstrap(&one), plain, "{handler:?}");
            assert_eq!(is_bootstrap(&ExtensionMessage { trace: found, ..one.clone() }), traced);
            assert!(is_bootstrap(&ExtensionMessage { slog: found, ..one.clone() }));
            assert!(is_bootstrap(&ExtensionMessage { duration: Some(1), ..one.clone() }));
            assert!(is_bootstrap(&ExtensionMessage { report: found, ..one }));
        }
    }

    #[test]
    fn handler_type_is_known_with_or_without_publisher() {
        assert!(is_custom_script("Microsoft.Azure.Extensions.CustomScript"));
        assert!(is_custom_script("CustomScriptExtension"));
        assert!(!is_custom_script("Microsoft.CPlat.Core.RunCommandLinux"));
    }
}
