//! Whole documents, byte by byte, against files that were written by hand.

use mooring_contract::custom_data::{CSE_COMMAND, CustomDataForm, Features};

use super::samples::{TRICKY, features, render};

const CONFIG: &[u8] = include_bytes!("../../fixtures/custom_data/config.json");

#[track_caller]
fn assert_renders(format: CustomDataForm, features: &Features, golden: &[u8]) {
    let data = render(format, CONFIG, features);
    // As escaped text: a difference in line ends must be visible.
    assert_eq!(data.expose_raw().escape_ascii().to_string(), golden.escape_ascii().to_string());
    assert_eq!(data.raw_bytes(), golden.len());
    assert_eq!(data.format(), format);
}

#[test]
fn a_boothook_without_toggles_has_an_empty_line_in_their_place() {
    let golden = include_bytes!("../../fixtures/custom_data/boothook.txt");
    assert_renders(CustomDataForm::Boothook, &Features::default(), golden);
    assert_renders(CustomDataForm::Boothook, &features(&[("no-name", "1"), ("A", "1\n2")]), golden);
}

#[test]
fn a_boothook_with_toggles_writes_them_sorted_by_key() {
    let golden = include_bytes!("../../fixtures/custom_data/boothook-with-features.txt");
    assert_renders(CustomDataForm::Boothook, &features(TRICKY), golden);
}

#[test]
fn a_cloud_config_ends_with_the_config_whether_there_are_toggles_or_not() {
    let recorded = include_str!("../../fixtures/custom_data/cloud-config.txt");
    // The file holds secrets; the upstream Go agent lets everyone read it.
    let golden = recorded.replace("permissions: \"0755\"", "permissions: \"0600\"");
    assert_ne!(golden, recorded);
    assert_renders(CustomDataForm::CloudConfig, &Features::default(), golden.as_bytes());
    assert_renders(CustomDataForm::CloudConfig, &features(TRICKY), golden.as_bytes());
}

#[test]
fn an_ignition_document_holds_one_file_whether_there_are_toggles_or_not() {
    let golden = include_bytes!("../../fixtures/custom_data/ignition.json");
    assert_renders(CustomDataForm::Ignition, &Features::default(), golden);
    assert_renders(CustomDataForm::Ignition, &features(TRICKY), golden);
}

#[test]
fn the_extension_waits_for_the_agent_that_the_document_started() {
    assert_eq!(CSE_COMMAND, "/opt/azure/containers/aks-node-controller provision-wait");
}
