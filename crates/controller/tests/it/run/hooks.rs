//! Configuration of hooks, and the client against a server on loopback.

use mooring_controller::notify::{HttpTransport, NotificationRequest, Transport as _, hook};
use mooring_redact::Secret;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const CANARY: &str = "canary-4711-hook";

#[test]
fn hook_configuration_is_validated() {
    let read = |config: &str, url: Option<&str>| {
        let (config, url) = (config.to_owned(), url.map(str::to_owned));
        hook::hooks(move |name| match name {
            "MOORING_NOTIFY" => Some(config.clone()),
            "MOORING_NOTIFY_URL_0" => url.clone(),
            _ => None,
        })
    };
    let one = r#"[{"name":"ops","events":["finding"]}]"#;
    for url in ["https://a.example/x", "http://127.0.0.1:1/x", "http://[::1]/", "http://localhost/"]
    {
        assert_eq!(read(one, Some(url)).unwrap().len(), 1, "{url}");
    }
    for url in ["http://a.example/canary", "ftp://a/", "canary", "http://127.0.0.1.example/"] {
        let error = read(one, Some(url)).unwrap_err().to_string();
        assert!(error.contains("MOORING_NOTIFY_URL_0 is not an https URL"), "{error}");
        assert!(!error.contains("canary"), "{error}");
    }
    assert!(read(one, None).unwrap_err().to_string().contains("MOORING_NOTIFY_URL_0 is not set"));
    assert_eq!(read("", None), Ok(vec![]));
    let runs = r#"[{"name":"ops","events":["run"]}]"#;
    assert_eq!(read(runs, Some("https://a/")).unwrap().len(), 1);
    for config in ["{", r#"[{"name":"A b","events":[]}]"#, r#"[{"name":"a","events":["runs"]}]"#] {
        assert!(read(config, Some("https://a/")).is_err(), "{config}");
    }
    let (most, more) = ("a".repeat(63), "a".repeat(64));
    for (name, valid) in
        [("ops-2", true), ("-", true), (&*most, true), (&*more, false), ("", false), ("Ops", false)]
    {
        let config = format!(r#"[{{"name":"{name}","events":[]}}]"#);
        assert_eq!(read(&config, Some("https://a/")).is_ok(), valid, "{name}");
    }
}

#[test]
fn hooks_are_limited_and_have_different_names() {
    let read = |names: &[&str]| {
        let hooks: Vec<Value> =
            names.iter().map(|name| json!({"name": name, "events": ["finding"]})).collect();
        let config = json!(hooks).to_string();
        hook::hooks(move |name| match name {
            "MOORING_NOTIFY" => Some(config.clone()),
            name if name.starts_with("MOORING_NOTIFY_HMAC_") => Some("\n".to_owned()),
            name => Some(format!("https://a.example/{name}")),
        })
    };
    let names: Vec<String> = (0..17).map(|number| format!("hook-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hooks = read(&names[..16]).unwrap();
    assert_eq!(hooks.len(), 16);
    assert_eq!(hooks[15].url, Secret::from("https://a.example/MOORING_NOTIFY_URL_15"));
    assert_eq!(hooks[15].hmac, None, "an empty key is no key");
    let error = read(&names).unwrap_err().to_string();
    assert!(error.starts_with("too many hooks: 17"), "{error}");
    let error = read(&["a", "b", "a"]).unwrap_err().to_string();
    assert!(error.starts_with("hook \"a\": invalid or repeated name"), "{error}");
}

/// Accepts one request, and returns the response and the request.
async fn serve(response: &'static str) -> (String, tokio::task::JoinHandle<String>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/{CANARY}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = String::new();
        while !text.ends_with("BODY") {
            let mut bytes = [0; 1024];
            let read = stream.read(&mut bytes).await.unwrap();
            text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
        }
        stream.write_all(response.as_bytes()).await.unwrap();
        text
    });
    (url, server)
}

#[tokio::test]
async fn client_posts_json_and_follows_no_redirect() {
    let transport = HttpTransport::new().unwrap();
    let request = |url: &str| NotificationRequest {
        url: Secret::from(url),
        headers: vec![("Mooring-Timestamp", "7".to_owned())],
        body: "BODY".to_owned(),
    };
    for (response, status) in [
        ("HTTP/1.1 204 No Content\r\n\r\n", 204),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", 302),
    ] {
        let (url, server) = serve(response).await;
        assert_eq!(transport.send(request(&url)).await, Ok(status));
        let received = server.await.unwrap().to_ascii_lowercase();
        assert!(
            received.starts_with("post /canary") && received.contains("mooring-timestamp: 7"),
            "{received}"
        );
        assert!(received.contains("content-type: application/json"), "{received}");
    }
    // Nothing listens on the port of a closed listener.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = transport.send(request(&format!("http://127.0.0.1:{port}/{CANARY}"))).await;
    let error = error.unwrap_err();
    assert!(error.starts_with("no response") && !error.contains(CANARY), "{error}");
}
