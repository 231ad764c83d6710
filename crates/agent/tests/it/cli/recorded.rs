//! One recorded run.

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) input_files: BTreeMap<String, String>,
    pub(crate) later_files: Vec<(String, String)>,
    /// A number, or `TIMEOUT`.
    pub(crate) exit_code: String,
    pub(crate) stdout: String,
    /// Required parts of our text where it replaces the recorded one.
    pub(crate) stdout_contains: Vec<String>,
    pub(crate) stderr: Vec<String>,
    pub(crate) files_after: BTreeMap<String, File>,
    /// Files whose content changes from run to run.
    pub(crate) other_files: Vec<String>,
    pub(crate) events: Vec<Value>,
}

pub(crate) struct File {
    pub(crate) mode: String,
    pub(crate) content: String,
}

impl Recorded {
    pub(crate) fn read(line: &str) -> Self {
        let case: Value = serde_json::from_str(line).unwrap();
        let version = |text: String| text.replace("202604.01.0", mooring_agent::VERSION);
        let pairs = |value: &Value| -> Vec<(String, String)> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .map(|pair| (text(&pair[0]), text(&pair[1])))
                .collect()
        };
        let map = |value: &Value| -> BTreeMap<String, String> {
            value
                .as_object()
                .unwrap()
                .iter()
                .map(|(key, value)| (key.clone(), text(value)))
                .collect()
        };
        let files = case["files_after"].as_object().unwrap().iter();
        Self {
            name: text(&case["name"]),
            args: texts(&case["args"]),
            env: map(&case["env"]),
            input_files: map(&case["input_files"]),
            later_files: pairs(&case["later_files"]),
            exit_code: case["exit_code"]
                .as_str()
                .map_or_else(|| case["exit_code"].to_string(), str::to_owned),
            stdout_contains: Vec::new(),
            other_files: Vec::new(),
            stdout: version(text(&case["stdout"])),
            stderr: texts(&case["stderr"]),
            files_after: files
                .map(|(path, file)| {
                    let file = File { mode: text(&file["mode"]), content: text(&file["content"]) };
                    (path.clone(), file)
                })
                .collect(),
            events: case["events"].as_array().unwrap().clone(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(text).collect()
}
