//! The metadata service and the registry, as a node uses them.

use bytes::Bytes;
use jiff::Timestamp;
use mooring_simulator::imds::Imds;
use mooring_simulator::registry::Registry;

use super::support::seen;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn imds(path: &str, with_header: bool) -> mooring_simulator::exchange::ServerReply {
    let service = Imds::new("westeurope", "node", "id-1", "tenant");
    let mut request = http::Request::get(path);
    if with_header {
        request = request.header("Metadata", "true");
    }
    service.handle(&request.body(Bytes::new()).unwrap(), NOW)
}

#[test]
fn a_node_reads_its_region_and_a_browser_does_not() {
    let path = "/metadata/instance/compute/location?api-version=2021-02-01&format=text";
    let mooring_simulator::exchange::ServerReply::Answer(answer) = imds(path, true) else {
        panic!("no answer")
    };
    assert_eq!(answer.body().bytes(), "westeurope");
    assert_eq!(seen(imds(path, false)).status, 400);
    assert_eq!(
        seen(imds("/metadata/instance?api-version=2021-02-01", true)).text("/compute/location"),
        "westeurope"
    );
    let attested = seen(imds("/metadata/attested/document?api-version=2020-09-01&nonce=1", true));
    assert_eq!(attested.text("/encoding"), "pkcs7");
}

#[test]
fn a_kubelet_identity_logs_in_to_the_registry() {
    let token = seen(imds(
        "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://management.azure.com/&client_id=id-1",
        true,
    ));
    let token = token.text("/access_token").to_owned();
    let unknown = seen(imds(
        "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=r&client_id=other",
        true,
    ));
    assert_eq!((unknown.status, unknown.text("/error_description")), (400, "Identity not found"));

    let registry = Registry::new("my.azurecr.io", &["id-1"]);
    let post = |path: &str, form: String| {
        seen(registry.handle(&http::Request::post(path).body(Bytes::from(form)).unwrap(), NOW))
    };
    let challenge =
        seen(registry.handle(&http::Request::get("/v2/").body(Bytes::new()).unwrap(), NOW));
    assert_eq!(challenge.status, 401);
    assert!(
        challenge
            .header("www-authenticate")
            .contains("realm=\"https://my.azurecr.io/oauth2/token\"")
    );
    let refresh = post(
        "/oauth2/exchange",
        format!("grant_type=access_token&service=my.azurecr.io&access_token={token}"),
    );
    let refresh = refresh.text("/refresh_token").to_owned();
    let access =
        post("/oauth2/token", format!("grant_type=refresh_token&scope=x&refresh_token={refresh}"));
    let bearer = format!("Bearer {}", access.text("/access_token"));
    let inside = http::Request::get("/v2/_catalog?n=1")
        .header("authorization", bearer)
        .body(Bytes::new())
        .unwrap();
    assert_eq!(seen(registry.handle(&inside, NOW)).status, 200);
    let stranger = Registry::new("my.azurecr.io", &["somebody-else"]);
    let form = format!("grant_type=access_token&access_token={token}");
    let denied = seen(
        stranger
            .handle(&http::Request::post("/oauth2/exchange").body(Bytes::from(form)).unwrap(), NOW),
    );
    assert_eq!(denied.status, 403);
}
