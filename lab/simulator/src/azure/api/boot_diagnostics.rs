//! Boot diagnostics: the address of a VM's serial log, and the log itself.

use http::StatusCode;
use serde_json::{Value, json};

use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{Azure, AzureState, text};
use crate::exchange::{Request, Response, plain};

/// Path of the logs, which a storage account serves in Azure.
pub(crate) const LOGS: &str = "/bootdiagnostics/";

impl AzureState {
    /// Returns addresses with a signature, which is enough to read the log.
    pub(crate) fn boot_diagnostics(&self, call: &ArmCall, machine: &str, kind: &str) -> ArmResult {
        let body = self.get_resource(call, machine, kind)?;
        if body.pointer("/properties/diagnosticsProfile/bootDiagnostics/enabled")
            != Some(&Value::Bool(true))
        {
            let message = "Boot diagnostics are not enabled for this virtual machine.";
            return Err(ArmError::new(409, "OperationNotAllowed", message));
        }
        let (id, signature) = signed(body);
        let address =
            |file: &str| format!("{}{LOGS}{id}/{file}?sv=2024-11-04&sig={signature}", call.base);
        Ok(Reply::ok(json!({
            "consoleScreenshotBlobUri": address("screenshot.bmp"),
            "serialConsoleLogBlobUri": address("serialconsole.log"),
        })))
    }
}

fn signed(body: &Value) -> (&str, String) {
    let id = text(body, "/properties/vmId");
    (id, id.chars().rev().filter(char::is_ascii_alphanumeric).collect())
}

impl Azure {
    /// Returns the serial log that an address names.
    pub(crate) fn serial_log(&self, request: &Request) -> Response {
        let path = request.uri().path().strip_prefix(LOGS).unwrap_or_default();
        let (wanted, file) = path.split_once('/').unwrap_or_default();
        let query = crate::exchange::query(request.uri().query());
        let signature = query.get("sig").map_or("", String::as_str);
        let machine = self.state.store.all().find(|body| {
            let (id, own) = signed(body);
            !id.is_empty() && id == wanted && own == signature
        });
        let status = match (machine, file) {
            (Some(_), "serialconsole.log") => StatusCode::OK,
            (Some(_), _) => StatusCode::NOT_FOUND,
            (None, _) => StatusCode::FORBIDDEN,
        };
        let log = machine.filter(|_| status.is_success()).map_or_else(String::new, |body| {
            let host = text(body, "/properties/osProfile/computerName");
            let extensions = self.state.store.list(&format!("{}/extensions", text(body, "/id")));
            let printed: Vec<String> = extensions
                .flat_map(|one| text(one, "/properties/instanceView/statuses/0/message").lines())
                .map(|line| format!("[   75.102233] cloud-init[902]: {line}\r\n"))
                .collect();
            let printed = printed.concat();
            format!(
                "[    0.000000] Linux version 6.6.104.2-1.azl3\r\n[    3.121456] cloud-init[611]: Cloud-init v. 24.3.1 running 'init-local'\r\n{printed}{host} login: \r\n"
            )
        });
        plain(status, log)
    }
}
