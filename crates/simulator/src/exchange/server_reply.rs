use super::message::Response;

/// Result of one request for its client.
#[derive(Debug)]
pub enum ServerReply {
    Answer(Response),
    /// Head and first bytes of the response; then the connection breaks.
    CutShort(Response, usize),
    /// The connection breaks before any response. The client cannot see if the request took effect.
    Dropped,
    /// No response; the client has to time out.
    Silence,
}
