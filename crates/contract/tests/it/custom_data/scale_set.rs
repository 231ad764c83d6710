//! The example's model of a scale set.

#[expect(dead_code, reason = "its `main` is for users")]
#[path = "../../../examples/scale_set.rs"]
mod example;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const CONFIG: &str = r#"{
    "version": "v1",
    "auth_config": {"subscription_id": "s"},
    "api_server_config": {"api_server_name": "a"},
    "cluster_config": {
        "resource_group": "r", "location": "eastus",
        "cluster_network_config": {"vnet_name": "v", "route_table": "t"}
    },
    "enabled_features": {"ENABLE_PROVISIONING_HOTFIX": "true"}
}"#;

#[test]
fn scale_set_of_the_example_boots_nodes_with_one_config() {
    let model = example::model(CONFIG.as_bytes(), [7; 30]).unwrap();
    let profile = &model["properties"]["virtualMachineProfile"];
    let extension = &profile["extensionProfile"]["extensions"][0];
    assert_eq!(extension["name"], "vmssCSE");
    assert_eq!(extension["properties"]["publisher"], "Microsoft.Azure.Extensions");
    assert_eq!(extension["properties"]["type"], "CustomScript");
    let command = &extension["properties"]["protectedSettings"]["commandToExecute"];
    assert_eq!(command, "/opt/azure/containers/aks-node-controller provision-wait");
    let data = STANDARD.decode(profile["osProfile"]["customData"].as_str().unwrap()).unwrap();
    let document = String::from_utf8(data).unwrap();
    assert!(document.contains("\nENABLE_PROVISIONING_HOTFIX=true\n"), "{document}");
    let json = mooring_contract::node_config::parse(CONFIG.as_bytes()).unwrap().config;
    assert!(document.contains(&STANDARD.encode(json.to_json_with_secrets())), "{document}");
    assert!(example::model(b"{\"version\": \"v1\"}", [7; 30]).is_err(), "a config without fields");
}
