//! The rendered chart: golden files, schema of the values, permissions.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::chart::helm::{CASES, NAMESPACE, chart, find_kind, helm, objects, template};

#[test]
fn helm_lint_passes() {
    for (_, values) in CASES {
        let values = values.map(|values| format!("--values=ci/{values}"));
        let args: Vec<&str> =
            ["lint", "--strict", "."].into_iter().chain(values.as_deref()).collect();
        let Some(result) = helm(&args) else { return };
        assert!(result.as_ref().is_ok_and(|text| text.contains("0 chart(s) failed")), "{result:?}");
    }
}

#[test]
fn chart_renders_the_golden_files() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/chart/golden");
    let rewrite = std::env::var_os("MOORING_WRITE_GOLDEN").is_some();
    for (name, values) in CASES {
        let Some(rendered) = template(values, &[]) else { return };
        let (rendered, file) = (rendered.unwrap(), golden.join(format!("{name}.yaml")));
        if rewrite {
            std::fs::write(&file, &rendered).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap();
        let differs = rendered.lines().zip(expected.lines()).find(|(new, old)| new != old);
        assert!(
            rendered == expected,
            "{name}: {differs:?}\nhint: `cargo xtask chart` rewrites the files; read the difference"
        );
    }
}

#[test]
fn invalid_values_are_rejected_by_name() {
    for (value, expected) in [
        ("replica=3", "Additional property replica is not allowed"),
        ("replicas=0", "replicas: Must be greater than or equal to 1"),
        ("replicas=two", "replicas: Invalid type. Expected: integer, given: string"),
        ("logLevel=loud", "logLevel: logLevel must be one of the following"),
        ("azure.clientId=mooring", "azure.clientId: Does not match pattern"),
        (
            "azure.resourceManagerEndpoint=http://arm",
            "azure.resourceManagerEndpoint: Does not match",
        ),
        ("image.digest=latest", "image.digest: Does not match pattern"),
        ("image.repository=", "image.repository: String length must be greater than or equal to 1"),
        ("docsUrl=docs.example", "docsUrl: Does not match pattern"),
        ("networkPolicy.egressPorts={70000}", "egressPorts.0: Must be less than or equal to 65535"),
    ] {
        let Some(result) = template(None, &["--set", value]) else { return };
        let error = result.expect_err(value);
        assert!(error.contains(expected), "{value}: {error}");
    }
    let no_service = ["--set", "serviceMonitor.enabled=true,service.enabled=false"];
    let Some(result) = template(None, &no_service) else { return };
    assert!(result.unwrap_err().contains("service.enabled"));
}

#[test]
fn chart_grants_the_rules_of_the_controller_tests() {
    let tested = std::fs::read_to_string(chart().join("files/rules.yaml")).unwrap();
    let tested: Value = serde_saphyr::from_str(&tested).unwrap();
    let Some(rendered) = template(None, &[]) else { return };
    let rendered = rendered.unwrap();
    let objects = objects(&rendered);
    let mut granted = Vec::new();
    for object in &objects {
        let metadata = &object["metadata"];
        match object["kind"].as_str().unwrap() {
            "ClusterRole" | "Role" => granted.push((
                (metadata["name"].clone(), metadata["namespace"].clone()),
                object["rules"].clone(),
            )),
            "ClusterRoleBinding" | "RoleBinding" => assert_eq!(
                object["subjects"],
                json!([{"kind": "ServiceAccount", "name": "mooring", "namespace": NAMESPACE}])
            ),
            _ => {}
        }
    }
    let expected = [
        (("mooring".into(), Value::Null), tested["cluster"].clone()),
        (("mooring-events".into(), "default".into()), tested["events"].clone()),
        (("mooring".into(), NAMESPACE.into()), tested["release"].clone()),
        (("mooring-page".into(), NAMESPACE.into()), tested["page"].clone()),
    ];
    assert_eq!(granted, expected);
    // The page reads; without it nothing is granted.
    for rule in tested["page"].as_array().unwrap() {
        let verbs = rule["verbs"].as_array().unwrap();
        assert!(verbs.iter().all(|verb| verb == "get" || verb == "list"), "{rule}");
    }
    let Some(without) = template(None, &["--set", "page.enabled=false"]) else { return };
    assert!(!without.unwrap().contains("mooring-page"));
    assert!(!rendered.contains("kube-system"));
}

#[test]
fn automatic_values_need_no_system_node_and_no_kube_system() {
    let Some(rendered) = template(Some("automatic-values.yaml"), &[]) else { return };
    let rendered = rendered.unwrap();
    assert!(!rendered.contains("kube-system"));
    let objects = objects(&rendered);
    let pod = &find_kind(&objects, "Deployment")["spec"]["template"]["spec"];
    assert_eq!(pod.get("tolerations"), None);
    assert_eq!(pod["affinity"].get("nodeAffinity"), None);
    assert_eq!(pod["nodeSelector"], json!({"kubernetes.io/os": "linux"}));
    for object in &objects {
        let namespace = &object["metadata"]["namespace"];
        assert!(
            namespace.is_null() || namespace == NAMESPACE || namespace == "default",
            "{namespace}"
        );
    }
}

#[test]
fn binary_accepts_arguments_and_variables_of_the_chart() {
    for (name, values) in CASES {
        let Some(rendered) = template(values, &[]) else { return };
        let objects = objects(&rendered.unwrap());
        let container =
            &find_kind(&objects, "Deployment")["spec"]["template"]["spec"]["containers"][0];
        let arguments: Vec<&str> = container["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|argument| argument.as_str().unwrap())
            .collect();
        let output = Command::new(env!("CARGO_BIN_EXE_mooring"))
            .args(&arguments)
            .arg("--help")
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let sources = environment_sources();
        for variable in container["env"].as_array().unwrap() {
            let variable = variable["name"].as_str().unwrap();
            let is_read = sources.contains(&format!("\"{variable}\""));
            assert!(is_read, "{name}: {variable} is never read");
        }
    }
}

/// Returns the sources that read environment variables.
fn environment_sources() -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = [
        "mooring/src/controller.rs",
        "mooring/src/cluster/config.rs",
        "mooring/src/cluster/connect.rs",
        "arm/src/cloud.rs",
        "arm/src/identity/mod.rs",
    ];
    files.map(|file| std::fs::read_to_string(crates.join(file)).unwrap()).concat()
}

#[test]
fn pod_has_a_restricted_security_context() {
    for (name, values) in CASES {
        let Some(rendered) = template(values, &[]) else { return };
        let objects = objects(&rendered.unwrap());
        let pod = &find_kind(&objects, "Deployment")["spec"]["template"]["spec"];
        let container = &pod["containers"][0]["securityContext"];
        assert_eq!(container["readOnlyRootFilesystem"], true, "{name}");
        assert_eq!(container["allowPrivilegeEscalation"], false, "{name}");
        assert_eq!(container["capabilities"], json!({"drop": ["ALL"]}), "{name}");
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{name}");
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{name}");
        assert!(pod.get("volumes").is_none() && pod.get("hostNetwork").is_none(), "{name}");
        let kinds: Vec<&str> =
            objects.iter().map(|object| object["kind"].as_str().unwrap()).collect();
        assert!(
            !kinds.contains(&"Secret") && !kinds.contains(&"CustomResourceDefinition"),
            "{kinds:?}"
        );
    }
}

#[test]
fn chart_and_workspace_have_the_same_version() {
    let chart: Value =
        serde_saphyr::from_str(&std::fs::read_to_string(chart().join("Chart.yaml")).unwrap())
            .unwrap();
    assert_eq!(chart["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(chart["appVersion"], env!("CARGO_PKG_VERSION"));
}
