//! Error messages without secrets.

use std::error::Error;

use kube::client::AuthError;
use kube::config::KubeconfigError;
use mooring_redact::{Limit, foreign};

const MAX_MESSAGE: Limit = Limit::Chars(400);
/// The subject of errors of credential plugins, whose name they do not have.
pub(crate) const PLUGIN: &str = "the kubeconfig credential plugin";

/// Returns the error with its causes, limited in length, without control characters and without content of a
/// kubeconfig, a credential plugin or a proxy URL.
pub fn redacted_message(error: &(dyn Error + 'static)) -> String {
    let causes = || std::iter::successors(Some(error), |&error| error.source());
    if let Some(message) = causes().find_map(replacement) {
        return message;
    }
    let mut text = String::new();
    for cause in causes().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        // Most wrappers repeat the wrapped error.
        if text.contains(&cause) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&cause);
    }
    foreign(&text, MAX_MESSAGE)
}

/// Returns a replacement for an error message that quotes its input.
fn replacement(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(KubeconfigError::Parse(error)) = error.downcast_ref() {
        let place = error.location().map_or_else(String::new, |place| {
            format!(" (line {}, column {})", place.line(), place.column())
        });
        return Some(format!("invalid kubeconfig{place}"));
    }
    if let Some(error) = error.downcast_ref::<AuthError>() {
        return match error {
            AuthError::AuthExecRun { out, .. } => {
                Some(format!("{PLUGIN} failed ({}); run it manually for details", out.status))
            }
            AuthError::AuthExec(_)
            | AuthError::AuthExecParse(_)
            | AuthError::ParseTokenKey(_)
            | AuthError::MalformedTokenExpirationDate(_) => Some(format!(
                "{PLUGIN} returned no usable credentials; run `kubectl` with this kubeconfig for details"
            )),
            _ => None,
        };
    }
    match error.downcast_ref::<kube::Error>() {
        // Its `Display` repeats the message with escapes.
        Some(kube::Error::Api(status)) => {
            Some(foreign(&format!("{}: {}", status.code, status.message), MAX_MESSAGE))
        }
        Some(
            kube::Error::ProxyProtocolUnsupported { .. }
            | kube::Error::ProxyProtocolDisabled { .. },
        ) => Some("a proxy in the kubeconfig or the environment is not supported".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests may write files directly")]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{ExitStatus, Output};

    use super::*;

    const CANARY: &str = "CANARY-5e1f";

    #[test]
    fn kubeconfig_is_never_quoted() {
        let broken = [
            // An unclosed quote, an extra colon, a list and a mapping instead of a string, a tab, invalid YAML, and a
            // document that is only the token.
            format!("users:\n- name: u\n  user: {{token: \"{CANARY}\n"),
            format!("users:\n- name: u\n  user:\n    token: {CANARY}: b\n"),
            format!("users:\n- name: u\n  user:\n    token: [{CANARY}]\n"),
            format!("users:\n- name: u\n  user:\n    token: {{{CANARY}: {CANARY}}}\n"),
            format!("users:\n- name: u\n\tuser: {CANARY}\n"),
            format!("users: {CANARY}\n"),
            format!("clusters:\n- {CANARY}\n"),
            format!("%{CANARY}\n- - {CANARY}: ]"),
            CANARY.to_owned(),
        ];
        for text in broken {
            let error = crate::kubeconfig::parse(&text).expect_err(&text);
            assert!(!error.contains(CANARY) && !error.contains("5e1f"), "{error}");
            assert!(error.contains("invalid kubeconfig (line "), "{error}");
        }
    }

    #[test]
    fn parse_error_names_file_and_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kube.yaml");
        std::fs::write(&path, format!("users:\n- name: u\n  user: {{token: [{CANARY}]}}\n"))
            .unwrap();
        let error = crate::kubeconfig::read(&path).unwrap_err();
        assert!(
            error.starts_with(&path.display().to_string()) && error.contains("(line 3"),
            "{error}"
        );
    }

    fn failed_plugin() -> AuthError {
        let stdout = CANARY.as_bytes().to_vec();
        let out =
            Output { status: ExitStatus::from_raw(0x100), stdout: stdout.clone(), stderr: stdout };
        AuthError::AuthExecRun {
            cmd: format!("SECRET=\"{CANARY}\" \"plugin\""),
            out: Box::new(out),
        }
    }

    #[test]
    fn credential_plugin_input_and_output_are_never_quoted() {
        for error in [
            kube::Error::Auth(failed_plugin()),
            kube::Error::Service(Box::new(failed_plugin())),
            kube::Error::Auth(AuthError::AuthExec(CANARY.to_owned())),
        ] {
            let text = redacted_message(&error);
            assert!(!text.contains(CANARY), "{text}");
            assert!(text.contains("credential plugin"), "{text}");
        }
        assert!(redacted_message(&failed_plugin()).contains("exit status: 1"));
    }

    #[tokio::test]
    async fn proxy_password_is_never_quoted() {
        let yaml = format!(
            "current-context: c\nclusters:\n- name: c\n  cluster: {{server: 'https://127.0.0.1:1', proxy-url: 'http://u:{CANARY}@127.0.0.1:2'}}\ncontexts:\n- name: c\n  context: {{cluster: c, user: u}}\nusers:\n- name: u\n  user: {{}}\n"
        );
        let error = crate::kubeconfig::client(crate::kubeconfig::parse(&yaml).unwrap())
            .await
            .map(drop)
            .unwrap_err();
        assert!(!error.contains(CANARY) && error.contains("proxy"), "{error}");
    }

    #[test]
    fn invalid_response_is_not_quoted() {
        let wrong = serde_json::from_str::<u8>(&format!("\"{CANARY}\"")).unwrap_err();
        let text = redacted_message(&kube::Error::SerdeError(wrong));
        assert!(!text.contains(CANARY) && text.contains("expected u8"), "{text}");
    }

    #[test]
    fn rejection_does_not_quote_the_value() {
        let message = format!("spec.key: Invalid value: \"{CANARY}\": too long");
        let status = kube::core::Status::failure(&message, "Invalid").with_code(422);
        let text = redacted_message(&kube::Error::Api(Box::new(status)));
        assert_eq!(text, "422: spec.key: Invalid value: \"…\": too long");
    }

    #[tokio::test]
    async fn invalid_token_is_rejected() {
        let yaml = format!(
            "current-context: c\nclusters:\n- name: c\n  cluster: {{server: 'https://127.0.0.1:1'}}\ncontexts:\n- name: c\n  context: {{cluster: c, user: u}}\nusers:\n- name: u\n  user: {{token: \"{CANARY}\\nx\"}}\n"
        );
        let error = crate::kubeconfig::client(crate::kubeconfig::parse(&yaml).unwrap())
            .await
            .map(drop)
            .unwrap_err();
        assert!(!error.contains(CANARY) && error.contains("token"), "{error}");
    }

    #[test]
    fn causes_are_printed_once_and_on_one_line() {
        let disk = std::io::Error::other("no\nsuch\tdisk");
        let error = KubeconfigError::ReadConfig(disk, "/kube".into());
        assert_eq!(
            redacted_message(&error),
            "failed to read kubeconfig from '\"/kube\"': no such disk"
        );
        let endless = std::io::Error::other("x".repeat(9_000));
        assert!(redacted_message(&endless).chars().count() <= 401);
    }
}
