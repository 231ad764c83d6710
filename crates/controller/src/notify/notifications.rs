use std::sync::Arc;

use super::hook::Hook;
use super::status::Statuses;
use super::transport::Transport;

/// Hooks and the way to send to them.
#[derive(Clone, Default)]
pub struct Notifications {
    pub hooks: Vec<Hook>,
    /// None without hooks.
    pub transport: Option<Arc<dyn Transport>>,
    /// For pages and commands.
    pub statuses: Arc<Statuses>,
}

impl Notifications {
    pub fn new(hooks: Vec<Hook>, transport: Arc<dyn Transport>) -> Self {
        let statuses = Arc::new(Statuses::new(&hooks));
        Self { hooks, transport: Some(transport), statuses }
    }
}
