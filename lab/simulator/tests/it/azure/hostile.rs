//! Malformed requests get an error response.

use bytes::Bytes;
use mooring_simulator::exchange::ServerReply;
use proptest::prelude::*;

use super::support::{CLUSTER, COMPUTE, Harness, seen};

mod slow {
    use super::*;

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("subscriptions".to_owned()),
            Just("00000000-0000-0000-0000-000000000001".to_owned()),
            Just("resourceGroups".to_owned()),
            Just("rg-demo".to_owned()),
            Just("MC_rg-demo_demo_westeurope".to_owned()),
            Just("providers".to_owned()),
            Just("Microsoft.Compute".to_owned()),
            Just("Microsoft.ContainerService".to_owned()),
            Just("managedClusters".to_owned()),
            Just("agentPools".to_owned()),
            Just("virtualMachines".to_owned()),
            Just("virtualMachineScaleSets".to_owned()),
            Just("abort".to_owned()),
            Just("oauth2/v2.0/token".to_owned()),
            "[a-zA-Z0-9%.~-]{0,12}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn model_does_not_panic_on_any_path_or_body(
            start in prop_oneof![Just(String::new()), Just(CLUSTER.to_owned()), Just(COMPUTE.to_owned())],
            pieces in prop::collection::vec(piece(), 0..8),
            query in "[a-zA-Z0-9%&=$' .()+-]{0,60}",
            method in prop_oneof![Just("GET"), Just("PUT"), Just("POST"), Just("PATCH"), Just("DELETE"), Just("ODD")],
            body in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                Just(br#"{"properties":{"count":-5,"vmSize":7,"tags":{"a":1}},"query":"Resources | where","operation":"Merge"}"#.to_vec()),
                Just(br#"{"properties":{"count":1,"vmSize":"x"}}"#.to_vec()),
                Just(b"[]".to_vec()),
            ],
        ) {
            let mut harness = Harness::new("wedged-system-pool");
            let token = harness.azure.token("x", harness.now);
            let target = format!("{start}/{}?api-version=2025-02-01&{query}", pieces.join("/")).replace(' ', "%20");
            let request = http::Request::builder()
                .method(method)
                .uri(&target)
                .header("authorization", format!("Bearer {token}"))
                .body(Bytes::from(body));
            if let Ok(request) = request {
                let outcome = harness.azure.handle(&request, harness.now);
                prop_assert!(matches!(outcome, ServerReply::Answer(_)));
                harness.pass(3600);
            }
        }

        #[test]
        fn foreign_tokens_are_rejected(token in "[a-zA-Z0-9._-]{0,80}") {
            let mut harness = Harness::new("healthy");
            let request = http::Request::get(format!("{CLUSTER}?api-version=2025-02-01"))
                .header("authorization", format!("Bearer {token}"))
                .body(Bytes::new())
                .unwrap();
            prop_assert_eq!(seen(harness.azure.handle(&request, harness.now)).status, 401);
        }
    }
}
