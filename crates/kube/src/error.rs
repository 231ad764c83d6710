//! Failures without secrets.

use std::error::Error;

use kube::client::AuthError;
use kube::config::KubeconfigError;
use mooring_redact::{Limit, foreign};

const MAX_MESSAGE: Limit = Limit::Chars(400);

/// Returns the failure with its causes, without control characters, not endless, and without anything that was read from a
/// kubeconfig, a credential plugin or a proxy's address.
pub fn redacted_message(error: &(dyn Error + 'static)) -> String {
    let causes = || std::iter::successors(Some(error), |&error| error.source());
    if let Some(bare) = causes().find_map(bare) {
        return bare;
    }
    let mut text = String::new();
    for cause in causes().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        // Most wrappers repeat what they wrap.
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

/// Other words for a failure that quotes what it was given.
fn bare(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(KubeconfigError::Parse(error)) = error.downcast_ref() {
        let place = error.location().map_or_else(String::new, |place| {
            format!(" (line {}, column {})", place.line(), place.column())
        });
        return Some(format!("this is no kubeconfig{place}"));
    }
    if let Some(error) = error.downcast_ref::<AuthError>() {
        return match error {
            AuthError::AuthExecRun { out, .. } => Some(format!(
                "the kubeconfig's credential plugin failed ({}); run it by hand to see what it says",
                out.status
            )),
            AuthError::AuthExec(_)
            | AuthError::AuthExecParse(_)
            | AuthError::ParseTokenKey(_)
            | AuthError::MalformedTokenExpirationDate(_) => Some(
                "the kubeconfig's credential plugin is of no use here, or what it printed is; `kubectl` with that kubeconfig says more".to_owned(),
            ),
            _ => None,
        };
    }
    match error.downcast_ref::<kube::Error>() {
        // Its own text is there twice, once with escapes.
        Some(kube::Error::Api(status)) => {
            Some(foreign(&format!("{}: {}", status.code, status.message), MAX_MESSAGE))
        }
        Some(
            kube::Error::ProxyProtocolUnsupported { .. }
            | kube::Error::ProxyProtocolDisabled { .. },
        ) => Some(
            "the kubeconfig or the environment names a proxy, which is not supported".to_owned(),
        ),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test may write a file as it likes")]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{ExitStatus, Output};

    use super::*;

    const CANARY: &str = "CANARY-5e1f";

    #[test]
    fn a_kubeconfig_is_never_quoted() {
        let broken = [
            // A quote that nobody closes, a colon too many, a list and a mapping where a text must be, a tab,
            // text that is no YAML, and a document that is only the token.
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
            assert!(error.contains("no kubeconfig (line "), "{error}");
        }
    }

    #[test]
    fn a_file_is_named_with_the_place_of_its_mistake() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kube.yaml");
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
    fn what_a_credential_plugin_is_given_and_prints_is_never_repeated() {
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
    async fn the_password_of_a_proxy_is_never_repeated() {
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
    fn an_answer_that_is_no_object_is_not_quoted() {
        let wrong = serde_json::from_str::<u8>(&format!("\"{CANARY}\"")).unwrap_err();
        let text = redacted_message(&kube::Error::SerdeError(wrong));
        assert!(!text.contains(CANARY) && text.contains("expected u8"), "{text}");
    }

    #[test]
    fn a_refusal_does_not_quote_what_it_refuses() {
        let message = format!("spec.key: Invalid value: \"{CANARY}\": too long");
        let status = kube::core::Status::failure(&message, "Invalid").with_code(422);
        let text = redacted_message(&kube::Error::Api(Box::new(status)));
        assert_eq!(text, "422: spec.key: Invalid value: \"…\": too long");
    }

    #[tokio::test]
    async fn a_token_that_is_no_header_is_refused_in_words() {
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
    fn causes_are_told_once_and_in_one_line() {
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
