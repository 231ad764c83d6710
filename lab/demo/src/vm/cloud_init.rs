//! The part of cloud-init that a simulated node needs. No I/O.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum NotCustomData {
    #[error("it is not base64")]
    NotBase64,
    #[error("not a MIME document")]
    NotMime,
    #[error("it has no boothook")]
    NoBoothook,
}

/// Extracts the boothook from base64-encoded custom data.
pub(crate) fn boothook(custom_data: &str) -> Result<String, NotCustomData> {
    let document = STANDARD.decode(custom_data).map_err(|_| NotCustomData::NotBase64)?;
    let document = String::from_utf8(document).map_err(|_| NotCustomData::NotMime)?;
    let (headers, body) = document.split_once("\r\n\r\n").ok_or(NotCustomData::NotMime)?;
    let boundary = headers.split_once("boundary=\"").and_then(|(_, rest)| rest.split('"').next());
    let boundary = boundary.ok_or(NotCustomData::NotMime)?;
    body.split(&format!("--{boundary}"))
        .filter_map(|part| part.split_once("\r\n\r\n"))
        .find(|(headers, _)| headers.contains("Content-Type: text/cloud-boothook"))
        .map(|(_, script)| script.trim_end_matches("\r\n").to_owned())
        .ok_or(NotCustomData::NoBoothook)
}

/// Rewrites the fixed paths of the script to paths below `$AKS_NODE_ROOT`.
pub(crate) fn below_root(script: &str) -> String {
    ["/opt/azure", "/var/log/azure"].iter().fold(script.to_owned(), |script, path| {
        script.replace(path, &format!("\"$AKS_NODE_ROOT\"{path}"))
    })
}

#[cfg(test)]
mod tests {
    use mooring_contract::custom_data::{Boundary, CustomData, CustomDataForm, Features};

    use super::*;

    fn custom_data(format: CustomDataForm) -> String {
        let boundary = Boundary::from_random([7; 30]);
        let data =
            CustomData::render(format, b"{\"version\":\"v1\"}", &Features::default(), &boundary);
        data.unwrap().expose_base64()
    }

    #[test]
    fn the_boothook_of_a_rendered_document_is_found_whole() {
        let script = boothook(&custom_data(CustomDataForm::Boothook)).unwrap();
        assert!(script.starts_with("#cloud-boothook\n#!/bin/bash\n"), "{script}");
        assert!(script.ends_with("fi\n"), "{script}");
        let below = below_root(&script);
        assert!(below.contains(
            ">\"$AKS_NODE_ROOT\"/opt/azure/containers/aks-node-controller-config.json\n"
        ));
        assert!(below.contains("> \"$AKS_NODE_ROOT\"/var/log/azure/aks-node-controller.output"));
    }

    #[test]
    fn invalid_custom_data_is_rejected() {
        assert_eq!(boothook("*"), Err(NotCustomData::NotBase64));
        assert_eq!(boothook(&STANDARD.encode("x")), Err(NotCustomData::NotMime));
        assert_eq!(
            boothook(&custom_data(CustomDataForm::CloudConfig)),
            Err(NotCustomData::NotMime)
        );
    }
}
