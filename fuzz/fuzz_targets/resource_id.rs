//! Any text as a resource ID and as a request target: accepted ones stay on the origin, and round trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_arm::{ArmPath, ResourceId};
use url::Url;

/// Origins with and without a port.
const ORIGINS: [&str; 2] = ["https://management.azure.com/", "https://127.0.0.1:8443/"];

fuzz_target!(|text: &str| {
    if let Ok(path) = ArmPath::parse(text) {
        stays_on_the_origin(&path);
    }
    if let Ok(id) = ResourceId::parse(text) {
        is_read_again(&id);
        stays_on_the_origin(&ArmPath::parse(id.as_str()).expect("an id is a path"));
    }
});

fn stays_on_the_origin(path: &ArmPath) {
    assert_eq!(ArmPath::parse(path.as_str()).as_ref(), Ok(path), "read again");
    assert!(path.as_str().is_ascii() && path.path().starts_with('/'));
    assert!(!path.path().contains("//") && !path.path().contains("/../"), "{}", path.as_str());
    for origin in ORIGINS {
        let origin = Url::parse(origin).expect("an origin");
        let url = path.to_url(&origin).expect("an accepted path has a URL");
        assert_eq!(url.origin(), origin.origin(), "{}", path.as_str());
        assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
        // Another library sends the request: it must parse the same host.
        let request: http::Uri = url.as_str().parse().expect("an accepted path makes a request");
        let authority = request.authority().expect("a request has an authority").as_str();
        assert_eq!(format!("https://{authority}/"), origin.as_str(), "{}", path.as_str());
        assert_eq!(request.path_and_query().map(|both| both.as_str()), Some(path.as_str()));
    }
    if path.is_under("s-1") {
        assert!(path.path().to_ascii_lowercase().starts_with("/subscriptions/s-1/"));
    }
}

fn is_read_again(id: &ResourceId) {
    assert_eq!(ResourceId::parse(id.as_str()).as_ref(), Ok(id));
    assert_eq!(ResourceId::parse(&format!("azure://{id}/")).as_ref(), Ok(id));
    assert_eq!(ResourceId::parse(&id.folded()).as_ref(), Ok(id), "equal in any case");
    assert!(!id.subscription().is_empty() && id.as_str().ends_with(id.name()));
    let child = id.child("agentPools", "p").expect("an id has children");
    assert_eq!((child.name(), child.subscription()), ("p", id.subscription()));
}
