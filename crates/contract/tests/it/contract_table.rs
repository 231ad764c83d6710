//! The table in the code is the whole contract: 32 messages, 257 fields, 8 enums.

use mooring_contract::node_config::{ENUMS, Label, MESSAGES};

/// `message  number  name  json_name  type  label`, and `enum  name  number  value`, as recorded
/// from the contract's definition.
const FACTS: &str = include_str!("../fixtures/contract.tsv");

fn described() -> Vec<String> {
    let fields = MESSAGES.iter().flat_map(|message| {
        message.fields.iter().map(move |field| {
            let label = match field.label {
                Label::Implicit => "implicit",
                Label::Optional => "optional",
                Label::Repeated => "repeated",
                Label::Map => "map",
            };
            let number = field.number.to_string();
            [message.name, &number, field.name, field.json_name, field.value_type, label].join("\t")
        })
    });
    let values = ENUMS.iter().flat_map(|choice| {
        choice
            .values
            .iter()
            .map(move |(number, name)| ["enum", choice.name, &number.to_string(), name].join("\t"))
    });
    fields.chain(values).collect()
}

#[test]
fn table_equals_contract() {
    let recorded: Vec<&str> = FACTS.lines().collect();
    for (ours, theirs) in described().iter().zip(&recorded) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(described().len(), recorded.len());
}

#[test]
fn table_is_complete() {
    let fields: usize = MESSAGES.iter().map(|message| message.fields.len()).sum();
    assert_eq!((MESSAGES.len(), fields, ENUMS.len()), (32, 257, 8));
}

/// The parser keeps one bit per field number.
#[test]
fn field_numbers_fit_the_seen_mask() {
    for field in MESSAGES.iter().flat_map(|message| message.fields) {
        assert!(field.number < 64, "{} is {}", field.name, field.number);
    }
}
