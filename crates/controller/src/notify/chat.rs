//! Messages for chats.

use mooring_redact::markdown;
use serde_json::{Value, json};

/// A message of a title, a text and commands to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    pub title: String,
    pub text: String,
    pub commands: Vec<String>,
}

impl ChatMessage {
    pub(super) fn new(
        sign: &str,
        cluster: Option<&str>,
        text: String,
        next: &[(String, &str)],
    ) -> Self {
        let title = match cluster {
            Some(cluster) => format!("{sign} Mooring: {cluster}"),
            None => format!("{sign} Mooring"),
        };
        let commands = next.iter().map(|(command, _)| command.clone()).collect();
        Self { title, text, commands }
    }

    /// An incoming webhook of Slack: `text` is the fallback and the preview of `blocks`. Plain text has no markup, so
    /// no name can mention a channel.
    pub fn slack(&self) -> Value {
        let Self { title, text, commands } = self;
        let plain = |text: &str| json!({"type": "plain_text", "text": text, "emoji": false});
        let mut blocks = vec![
            json!({"type": "header", "text": plain(title)}),
            json!({"type": "section", "text": plain(text)}),
        ];
        if !commands.is_empty() {
            blocks.push(json!({"type": "context", "elements": [plain(&commands.join("\n"))]}));
        }
        // The fallback is markup.
        let escape =
            |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        json!({"text": escape(&format!("{title}: {text}")), "blocks": blocks})
    }

    /// A workflow webhook of Teams: a message with an Adaptive Card, whose texts are Markdown.
    pub fn teams(&self) -> Value {
        let Self { title, text, commands } = self;
        let mut body = vec![
            json!({"type": "TextBlock", "text": markdown(title), "weight": "Bolder", "size": "Medium", "wrap": true}),
            json!({"type": "TextBlock", "text": markdown(text), "wrap": true}),
        ];
        let command = |text: &String| json!({"type": "TextBlock", "text": markdown(text), "fontType": "Monospace", "wrap": true});
        body.extend(commands.iter().map(command));
        json!({
            "type": "message",
            "attachments": [{
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": null,
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard", "version": "1.4", "body": body,
                },
            }],
        })
    }
}

/// Returns the commands of a document, with their purposes.
pub(super) fn steps(next: &[(String, &str)]) -> Vec<Value> {
    next.iter().map(|(command, purpose)| json!({"command": command, "purpose": purpose})).collect()
}
