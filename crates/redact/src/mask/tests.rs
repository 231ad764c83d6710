//! Tables of lines and their masked form.

use super::*;
use crate::MASK;

/// Not recognizable as a secret without a label.
const V: &str = "hunter-two";

#[test]
fn secrets_are_masked_and_other_text_is_kept() {
    for (line, shown) in [
        ("token abcdef.0123456789abcdef used", "token [secret] used"),
        ("Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "Authorization: Bearer [secret]"),
        ("+ TLS_BOOTSTRAP_TOKEN=abc", "+ TLS_BOOTSTRAP_TOKEN=[secret]"),
        ("+ TOKEN=abcdef.0123456789abcdef", "+ TOKEN=[secret]"),
        ("kubeadm join --token hunter2 --v=5", "kubeadm join --token [secret] --v=5"),
        ("https://u:p@proxy:3128/x refused", "https://[secret]@proxy:3128/x refused"),
        ("https://b/y?sv=1&sig=abc%2F", "https://b/y?[secret]"),
        ("https://u:p@b/y?sig=1", "https://[secret]@b/y?[secret]"),
        (
            "https://b/c/MIIB0123456789abcdefABCDEFMIIB0123456789abcdefABCDEF/d refused",
            "https://b/c/[secret]/d refused",
        ),
        ("MIIB0123456789abcdefABCDEFMIIB0123456789abcdefABCDEF==", "[secret]"),
        ("http://u:p@proxy:3128/ refused", "http://[secret]@proxy:3128/ refused"),
        (
            "Authorization: x eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.c2ln",
            "Authorization: [secret] [secret]",
        ),
    ] {
        assert_eq!(mask_line(line), shown);
    }
}

#[test]
fn labeled_secrets_are_masked_in_all_forms() {
    for (line, shown) in [
        (r#"{"x":1,"client_secret":"V"}"#, r#"{"x":1,"client_secret":"[secret]"}"#),
        (r#"{\"client_secret\":\"V\",\"x\":1}"#, r#"{\"client_secret\":\"[secret]\",\"x\":1}"#),
        (r#""accessToken": "V""#, r#""accessToken": "[secret]""#),
        (
            r#"["login", "--password", "V two", "-v"]"#,
            r#"["login", "--password", "[secret]", "-v"]"#,
        ),
        (r#"{"password" "V", "x": 1}"#, r#"{"password" "[secret]", "x": 1}"#),
        (r#"{"password":["V", "W"],"x":1}"#, r#"{"password":[secret],"x":1}"#),
        ("password is V", "password is [secret]"),
        ("the password was: 'V two words'", "the password was: '[secret]'"),
        ("curl -u user:V https://x", "curl -u user:[secret] https://x"),
        ("curl --user 'user:V two' https://x", "curl --user 'user:[secret]' https://x"),
        ("a=b,password=V", "a=b,password=[secret]"),
        ("AccountName=x;AccountKey=V", "AccountName=x;AccountKey=[secret]"),
        ("Authorization:Bearer V", "Authorization:Bearer [secret]"),
        ("Authorization: Bearer V", "Authorization: Bearer [secret]"),
        ("-H 'Authorization: Basic V' https://x", "-H 'Authorization: Basic [secret]' https://x"),
        ("Authorization:\tBearer\tV", "Authorization:\tBearer\t[secret]"),
        ("Set-Cookie: session=V; Path=/; x=V", "Set-Cookie: [secret]"),
        ("X-Auth-Key: V", "X-Auth-Key: [secret]"),
        ("Private key: V", "Private key: [secret]"),
        ("PASSWORD=\"V two words\" x", "PASSWORD=\"[secret]\" x"),
        ("PASSWORD='V two words' x", "PASSWORD='[secret]' x"),
        ("PASSWORD=$'V\\ntwo words' x", "PASSWORD=$'[secret]' x"),
        ("PASSWORD=\"V two words that are cut", "PASSWORD=\"[secret]"),
        ("password = V", "password = [secret]"),
        ("map[password:V user:x]", "map[password:[secret] user:x]"),
        ("<Password>V two</Password>", "<Password>[secret]</Password>"),
        ("refresh_token: V", "refresh_token: [secret]"),
        ("sshpass -p V ssh -p 22 x", "sshpass -p [secret] ssh -p 22 x"),
        ("mysql -u root -pV x", "mysql -u root -p[secret] x"),
        ("oras login x -u y -p V", "oras login x -u y -p [secret]"),
        ("http://user:V/x@proxy refused", "http://[secret]@proxy refused"),
        ("http://user:V@x/y@proxy refused", "http://[secret]@proxy refused"),
        ("user:V@proxy:3128 refused", "[secret]@proxy:3128 refused"),
        ("https_proxy=user:V@proxy:3128", "https_proxy=[secret]@proxy:3128"),
        (r#"{"x":"user:V@proxy:3128"}"#, r#"{"x":"[secret]@proxy:3128"}"#),
        ("http://u:V@a,http://u:V@b", "http://[secret]@a,http://[secret]@b"),
        ("sig=V", "sig=[secret]"),
        ("a:12@b:V@proxy refused", "[secret]@proxy refused"),
        ("sv=1&sig=V&se=2", "sv=1&sig=[secret]"),
    ] {
        let line = line.replace('V', V);
        assert_eq!(mask_line(&line), shown, "{line}");
        assert_eq!(mask_line(shown), shown, "masking again changes nothing");
    }
}

#[test]
fn lines_without_secrets_are_unchanged() {
    for line in [
        "+ curl https://mcr.microsoft.com/v2/",
        "oras: command not found",
        "/var/lib/waagent/custom-script/download/0/script.sh",
        "token file not found",
        "token: not found",
        "password authentication failed",
        "password is required",
        "the token is expired",
        "Error: failed to get token: context deadline exceeded",
        "AuthorizationFailed: The client does not have authorization to perform action",
        "error: x509: certificate signed by unknown authority",
        "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
        "/etc/kubernetes/certs/ca.crt: No such file or directory",
        "cat: /var/run/secrets/token: Permission denied",
        "--token-file /var/run/secrets/token --cacert /etc/x.pem",
        "oras login --password-stdin my.azurecr.io",
        "failed to read \"token\": file not found",
        "secrets \"bootstrap-token\" is forbidden: User \"x\" cannot get resource \"secrets\"",
        "mkdir -p /opt/x",
        "ssh -p 22 host",
        "date -u +%H:%M:%S",
        "docker run -u 1000:1000 x",
        "journalctl -u kubelet",
        "curl: (22) The requested URL returned error: 404",
        "exit status=50 signal=9",
        "c1.privatelink.westeurope.azmk8s.io: NXDOMAIN",
        "SubCode: AssignedIdentity; Dependency: x",
        "mcr.microsoft.com/oss/secret-store/secret:v1.4.0 pulled",
        "mcr.microsoft.com/pause:3.6@sha256:0123abc pulled",
        "https://mcr.microsoft.com:443/v2/pause@sha256:0123abc not found",
        "https://github.com/azure/login@v2 not found",
        "secrets.go:95 token.rs:12:5",
        r#"["token", "password", "--token", "-v"]"#,
        "{\"disablePasswordAuthentication\": true, \"password\": null, \"token\": \"\"}",
        "12:30:05 write to someone@example.com or mailto:someone@example.com",
        "Www-Authenticate: Bearer realm=\"x\",service=\"y\"",
        "git clone git@github.com:org/repo",
        "rsync me@host:folder@snapshot done",
        "é: ключ не найден",
        "",
    ] {
        assert_eq!(mask_line(line), line);
        assert_eq!(likely_secrets(line), [""; 0]);
    }
}

#[test]
fn masked_secrets_are_found_again() {
    let line = "TOKEN=abcdef oras: command not found";
    let (shown, focus) = mask_line_around(line, line.find("oras").unwrap());
    assert_eq!(&shown[focus..], "oras: command not found");
    assert_eq!(mask_line_around("", 0), (String::new(), 0));
    assert_eq!(mask_line_around("a TOKEN=abcdef", 10).1, "a TOKEN=".len());
    assert_eq!(mask_line_around("ab TOKEN=abcdef", 1).1, 1);
}

#[test]
fn hostile_lines_take_linear_time() {
    for part in [
        "token=/etc/",
        "token:\"",
        "-u x\"",
        "\\",
        "token: the,",
        "a:b@",
        "http://",
        "\"token\":[",
        "key ",
    ] {
        let line = part.repeat((1 << 18) / part.len());
        assert!(mask_line(&line).len() <= 2 * line.len() + MASK.len());
    }
}
