//! `check-hotfix`: limits on time and size, cases 26 to 29.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use mooring_agent::world::{Host, HttpRequest, Url, World as _};

use super::check::{HOST, MAP, SIGNATURE, checked, node_with, outcome, served};
use super::service::{Authority, NAME, Reply, Service};
use super::{POINTER, logged, networked, response};
use crate::fault_injection::Network;

#[test]
fn imds_is_asked_twice_at_most_and_never_through_a_proxy_26_27() {
    let authority = Authority::new();
    let service = Service::start(&authority, NAME, served(MAP));
    let asked = Rc::new(RefCell::new(Vec::new()));
    let (node, _) = node_with(&authority.pem(), "");
    let (seen, mut count) = (Rc::clone(&asked), 0);
    let mut world = networked(&node, move |request| {
        assert!(request.proxy.is_none() && request.limit == Duration::from_secs(2));
        let headers: Vec<_> =
            request.headers.iter().map(|(n, v)| format!("{n}: {}", v.expose())).collect();
        seen.borrow_mut().push(format!(
            "http://{}{} {headers:?}",
            request.url.authority(),
            request.url.target
        ));
        count += 1;
        Ok(response(if count == 1 { 500 } else { 200 }, SIGNATURE))
    });
    world.variables = vec![("HTTP_PROXY".into(), "http://127.0.0.1:1".into())];
    world.live_patching = Some(service.port);
    assert_eq!(outcome(&node, &mut world).1, "check-hotfix outcome=lpsRead");
    let expected = r#"http://169.254.169.254/metadata/attested/document?api-version=2025-04-07 ["Metadata: true"]"#;
    assert_eq!(*asked.borrow(), [expected, expected]);
    let warnings = logged(&node).iter().filter(|line| line.starts_with("WARN")).count();
    assert_eq!(warnings, 1);

    for bad in [
        Ok(response(200, r#"{"signature":""}"#)),
        Ok(response(200, "{}")),
        Ok(response(200, r#"{"signature":7}"#)),
        Ok(response(200, "<html>")),
        Ok(response(302, SIGNATURE)),
    ] {
        let (node, _) = node_with(&authority.pem(), "");
        let mut world = networked(&node, move |_| bad.clone());
        world.live_patching = Some(service.port);
        let (level, message) = outcome(&node, &mut world);
        assert_eq!(level, "Error");
        assert!(message.contains("imds attested token: "), "{message}");
        assert_eq!(world.network.unwrap().requests.len(), 2);
        assert_eq!(world.dialed, [""; 0]);
    }
}

#[test]
fn imds_is_bounded_in_size_and_time_27() {
    // A real connection, since the limit on the size is the client's.
    let url = serve_imds(2 << 20);
    let (node, _) = node_with("", "");
    let mut world = networked(&node, move |request| {
        Host::default().fetch(&HttpRequest { url: &url, ..*request })
    });
    let (level, message) = outcome(&node, &mut world);
    assert_eq!(level, "Error");
    assert!(message.contains("imds attested token: ") && message.contains("1048576"), "{message}");
    assert_eq!(world.network.unwrap().requests.len(), 2);

    // As large as allowed.
    let url = serve_imds(1 << 20);
    let (node, _) = node_with("", "");
    let mut world = networked(&node, move |request| {
        Host::default().fetch(&HttpRequest { url: &url, ..*request })
    });
    assert!(outcome(&node, &mut world).1.contains("cluster CA unavailable"));

    let (node, mut world) = node_with("", "");
    let minute = Duration::from_mins(1);
    world.network = Some(Network::new(7, move |_| (minute, Ok(response(200, SIGNATURE)))));
    assert!(outcome(&node, &mut world).1.contains("imds attested token: timed out"));
    assert_eq!(world.network.unwrap().now, Duration::from_secs(4));
}

/// Serves an attested document of this size on every connection.
fn serve_imds(size: usize) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                head.extend(byte);
            }
            let frame = r#"{"signature":""}"#.len();
            let body = format!(r#"{{"signature":"{}"}}"#, "x".repeat(size - frame));
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n");
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    Url::parse(&url).unwrap()
}

#[test]
fn service_that_does_not_end_is_given_up_at_the_deadline_28() {
    let authority = Authority::new();
    for reply in [Reply::Silence, Reply::Drip] {
        let service = Service::start(&authority, NAME, reply);
        // A busy machine may need longer for the handshake.
        for limit in [50, 500, 5_000, 60_000].map(Duration::from_millis) {
            let (node, mut world) = node_with(&authority.pem(), "");
            world.live_patching = Some(service.port);
            world.dial_limit = Some(limit);
            let (level, message) = outcome(&node, &mut world);
            assert_eq!(level, "Error");
            assert_eq!(world.dialed, [format!("{HOST}:443 3s")]);
            if service.seen().iter().any(|seen| !seen.request.is_empty()) {
                assert!(message.contains("code DeadlineExceeded"), "{message}");
                break;
            }
            assert!(message.contains("timed out"), "{message}");
        }
    }
    // A front that accepts and does not even shake hands.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (node, mut world) = node_with(&authority.pem(), "");
    world.live_patching = Some(listener.local_addr().unwrap().port());
    world.dial_limit = Some(Duration::from_millis(50));
    assert!(outcome(&node, &mut world).1.contains("outcome=failed"));
}

mod slow {
    use super::*;

    #[test]
    fn large_map_is_staged_and_a_larger_one_is_refused_29() {
        let large = |bytes: usize| {
            let entries: Vec<String> =
                (0..bytes / 32).map(|at| format!(r#""{at:012}":"202604.01.1""#)).collect();
            format!(r#"{{"hotfixes":{{"202604.01":"202604.01.1",{}}}}}"#, entries.join(","))
        };
        let (node, _, message) = checked(None, served(&large(3 << 20)), "");
        assert_eq!(message, "check-hotfix outcome=lpsRead");
        assert!(node.read(POINTER).unwrap().len() > 2 << 20);
        let cold = r#","hotfixes":{"202604.01":"202604.01.7"}"#;
        let (node, level, message) = checked(None, served(&large(6 << 20)), cold);
        assert_eq!(level, "Error");
        assert!(message.contains("ResourceExhausted"), "{message}");
        assert_eq!(node.read(POINTER), None);
        // As it would be staged, with every `<` escaped, `download-hotfix` could not read it.
        let escaped =
            format!(r#"{{"hotfixes":{{"202604.01":"202604.01.1{}"}}}}"#, "<".repeat(2 << 20));
        let (node, level, message) = checked(None, served(&escaped), "");
        assert_eq!(level, "Error");
        assert!(message.contains("the pointer is larger than 8388608 bytes"), "{message}");
        assert_eq!(node.read(POINTER), None);
    }
}
