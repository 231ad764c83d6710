//! The model as a tower service: a client in the same process needs no socket.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};

use super::model::Shell;
use crate::exchange::{Body, Request, ServerReply};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Body of a response to a client in process.
pub type AnswerBody = UnsyncBoxBody<Bytes, Failure>;

/// A client of the model. Cheap to clone.
#[derive(Clone)]
pub struct InProcess {
    answer: Arc<dyn Fn(&Request) -> ServerReply + Send + Sync>,
    token: Option<http::HeaderValue>,
}

impl InProcess {
    pub fn new(shell: Shell) -> Self {
        Self { answer: Arc::new(move |request| shell.handle(request)), token: None }
    }

    /// Returns a client whose requests carry this token. A token that a header cannot hold is omitted.
    pub fn with_token(shell: Shell, token: &str) -> Self {
        Self::with_handler(move |request| shell.handle(request), token)
    }

    /// Returns a client of any implementation of the API, such as a whole simulation.
    pub fn with_handler(
        answer: impl Fn(&Request) -> ServerReply + Send + Sync + 'static,
        token: &str,
    ) -> Self {
        let mut token = http::HeaderValue::try_from(format!("Bearer {token}")).ok();
        if let Some(token) = &mut token {
            token.set_sensitive(true);
        }
        Self { answer: Arc::new(answer), token }
    }
}

impl<B> tower::Service<http::Request<B>> for InProcess
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Failure>,
{
    type Response = http::Response<AnswerBody>;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Self::Response, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let (answer, token) = (Arc::clone(&self.answer), self.token.clone());
        async move {
            let (mut head, body) = request.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            if let Some(token) = token {
                head.headers.insert(http::header::AUTHORIZATION, token);
            }
            match answer(&Request::from_parts(head, body)) {
                ServerReply::Answer(response) => Ok(response.map(|body| answer_body(body, None))),
                ServerReply::CutShort(response, length) => {
                    Ok(response.map(|body| answer_body(body, Some(length))))
                }
                ServerReply::Dropped => Err("the connection is dropped by a fault rule".into()),
                ServerReply::Silence => std::future::pending().await,
            }
        }
        .boxed()
    }
}

/// Returns the body of a response; after `cut` bytes it breaks.
fn answer_body(body: Body, cut: Option<usize>) -> AnswerBody {
    let pieces = match body {
        Body::Full(bytes) => {
            let length = cut.unwrap_or(bytes.len()).min(bytes.len());
            futures::stream::iter([bytes.slice(..length)]).boxed()
        }
        Body::Stream(pieces) => pieces,
    };
    let end = cut.map(|_| Err("the body is cut short by a fault rule".into()));
    let frames = pieces.map(|piece| Ok(Frame::data(piece))).chain(futures::stream::iter(end));
    AnswerBody::new(StreamBody::new(frames))
}
