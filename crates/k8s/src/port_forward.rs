//! Ports of pods, through the API server: a WebSocket with a channel for data and one for errors
//! (`v4.channel.k8s.io`).

use std::io;
use std::sync::Arc;

use http::header::{
    CONNECTION, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use kube::client::Body;
use mooring_redact::{Limit, foreign};
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::Mutex;

use crate::error::redacted_message;
use crate::protobuf;

const PROTOCOL: &str = "v4.channel.k8s.io";
/// Larger than any frame of an API server, which copies 32 KiB at a time.
const MAX_FRAME: u64 = 1 << 20;
const BUFFER: usize = 32 * 1024;

const DATA: u8 = 0;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// Opens a connection to a port on the loopback interface of a pod.
pub async fn open(
    client: &kube::Client,
    namespace: &str,
    pod: &str,
    port: u16,
) -> Result<DuplexStream, String> {
    let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}/portforward?ports={port}");
    let request = Request::get(path)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_VERSION, "13")
        // A nonce against caches, which a TLS connection does not have.
        .header(SEC_WEBSOCKET_KEY, "bW9vcmluZy1mb3J3YXJkMA==")
        .header(SEC_WEBSOCKET_PROTOCOL, PROTOCOL)
        .body(Body::from(Vec::new()))
        .map_err(|error| error.to_string())?;
    let response = client.send(request).await.map_err(|error| redacted_message(&error))?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let status = response.status();
        let body = http_body_util::BodyExt::collect(response.into_body()).await;
        let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let message = protobuf::error_message(&body).unwrap_or_else(|| status.to_string());
        return Err(foreign(&message, Limit::Bytes(512)));
    }
    let upgraded = hyper::upgrade::on(response).await.map_err(|error| error.to_string())?;
    Ok(connect(TokioIo::new(upgraded)))
}

/// Returns the data channel of a connection, which ends with either side.
fn connect<S>(socket: S) -> DuplexStream
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (near, far) = tokio::io::duplex(BUFFER);
    let (from_socket, to_socket) = tokio::io::split(socket);
    let (from_near, to_near) = tokio::io::split(far);
    let to_socket = Arc::new(Mutex::new(to_socket));
    tokio::spawn(async move {
        tokio::select! {
            // An error ends the connection, which the other side sees.
            _ = receive(from_socket, to_near, &to_socket) => {}
            _ = send(from_near, &to_socket) => {}
        }
        let _ = write_frame(&to_socket, CLOSE, &[]).await;
    });
    near
}

async fn send<S: AsyncWrite>(
    mut from: ReadHalf<DuplexStream>,
    to: &Mutex<WriteHalf<S>>,
) -> io::Result<()> {
    let mut buffer = vec![DATA; BUFFER + 1];
    loop {
        let read = from.read(&mut buffer[1..]).await?;
        if read == 0 {
            return Ok(());
        }
        write_frame(to, BINARY, &buffer[..=read]).await?;
    }
}

async fn receive<S: AsyncRead + AsyncWrite>(
    mut from: ReadHalf<S>,
    mut to: WriteHalf<DuplexStream>,
    replies: &Mutex<WriteHalf<S>>,
) -> io::Result<()> {
    // The first message of each channel is the port.
    let mut opened = [false; 2];
    loop {
        let (kind, payload) = read_frame(&mut from).await?;
        match (kind, payload.split_first()) {
            (BINARY, Some((channel @ (0 | 1), data))) => {
                let is_open = std::mem::replace(&mut opened[usize::from(*channel)], true);
                if !is_open {
                    continue;
                }
                if *channel != DATA {
                    return Err(io::Error::other(foreign(
                        &String::from_utf8_lossy(data),
                        Limit::Bytes(512),
                    )));
                }
                to.write_all(data).await?;
            }
            (PING, _) => write_frame(replies, PONG, &payload).await?,
            (CLOSE, _) => return to.shutdown().await,
            _ => {}
        }
    }
}

async fn read_frame(from: &mut (impl AsyncRead + Unpin)) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    from.read_exact(&mut head).await?;
    let length = match head[1] {
        126 => u64::from(from.read_u16().await?),
        127 => from.read_u64().await?,
        length => u64::from(length),
    };
    // Servers send whole messages, without a mask.
    if head[0] & 0x80 == 0 || length > MAX_FRAME {
        return Err(io::Error::other("unexpected frame"));
    }
    let mut payload = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    from.read_exact(&mut payload).await?;
    Ok((head[0] & 0x0f, payload))
}

/// Writes a frame with a mask of zeros: masks protect from proxies, which cannot read TLS.
async fn write_frame<S: AsyncWrite>(
    to: &Mutex<WriteHalf<S>>,
    kind: u8,
    payload: &[u8],
) -> io::Result<()> {
    let mut frame = vec![0x80 | kind];
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length), _) if length < 126 => frame.push(0x80 | length),
        (_, Ok(length)) => {
            frame.push(0xfe);
            frame.extend(length.to_be_bytes());
        }
        _ => {
            frame.push(0xff);
            frame.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    let mut to = to.lock().await;
    to.write_all(&frame).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a frame of the client: its kind and its payload.
    async fn read_masked(socket: &mut DuplexStream) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        socket.read_exact(&mut head).await.unwrap();
        assert_eq!(head[1] & 0x80, 0x80, "frames of clients are masked");
        let length = match head[1] & 0x7f {
            126 => usize::from(socket.read_u16().await.unwrap()),
            length => usize::from(length),
        };
        let mut mask = [0; 4];
        socket.read_exact(&mut mask).await.unwrap();
        let mut payload = vec![0; length];
        socket.read_exact(&mut payload).await.unwrap();
        let masked = payload.iter().zip(mask.iter().cycle());
        (head[0] & 0x0f, masked.map(|(byte, mask)| byte ^ mask).collect())
    }

    #[tokio::test]
    async fn data_passes_in_both_directions() {
        let (mut server, socket) = tokio::io::duplex(1 << 16);
        let mut near = connect(socket);
        // Ports of both channels, a ping, and data.
        server
            .write_all(&[0x82, 3, 0, 0x92, 0x1f, 0x82, 3, 1, 0x92, 0x1f, 0x89, 1, 7])
            .await
            .unwrap();
        server.write_all(&[0x82, 6, 0, b'h', b'e', b'l', b'l', b'o']).await.unwrap();
        let mut text = [0; 5];
        near.read_exact(&mut text).await.unwrap();
        assert_eq!(&text, b"hello");
        assert_eq!(read_masked(&mut server).await, (PONG, vec![7]));
        near.write_all(&[b'x'; 300]).await.unwrap();
        let (kind, payload) = read_masked(&mut server).await;
        assert_eq!((kind, payload[0], payload.len()), (BINARY, DATA, 301));
        drop(near);
        assert_eq!(read_masked(&mut server).await, (CLOSE, Vec::new()));
    }

    #[tokio::test]
    async fn error_of_the_pod_ends_the_connection() {
        let (mut server, socket) = tokio::io::duplex(1 << 16);
        let mut near = connect(socket);
        server
            .write_all(&[0x82, 3, 0, 1, 1, 0x82, 3, 1, 1, 1, 0x82, 4, 1, b'b', b'a', b'd'])
            .await
            .unwrap();
        let mut rest = Vec::new();
        near.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty());
    }
}
