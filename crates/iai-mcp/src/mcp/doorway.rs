//! The SDK's stdio transport, with two habits of our own: it shrugs at early notifications, and it
//! tells when the host has hung up.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use tokio::sync::Notify;

/// One request line; longer ones are dropped by the SDK. Bounds what a host can make this process
/// hold.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Both directions of the conversation with the host.
pub(super) struct Doorway {
    streams: AsyncRwTransport<RoleServer, StdioReader, StdioWriter>,
    has_request: bool,
    hung_up: Arc<Notify>,
}

impl Doorway {
    /// Takes over stdin and stdout; nothing else may write there from now on. Needs a running
    /// runtime.
    pub(super) fn open() -> Self {
        let (read, write) = stdio_pipes();
        Self {
            streams: AsyncRwTransport::new(read, write).with_max_line_length(LINE_BYTES_MAX),
            has_request: false,
            hung_up: Arc::new(Notify::new()),
        }
    }

    /// Returns the bell that rings once the host closed its end, in either direction.
    pub(super) fn hung_up(&self) -> Arc<Notify> {
        Arc::clone(&self.hung_up)
    }
}

impl Transport<RoleServer> for Doorway {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sending = self.streams.send(message);
        let hung_up = Arc::clone(&self.hung_up);
        async move {
            let sent = sending.await;
            if sent.is_err() {
                // The SDK only logs a lost answer; without a reader there is nobody left to serve.
                hung_up.notify_one();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.streams.receive().await else {
                self.hung_up.notify_one();
                return None;
            };
            self.has_request |= matches!(message, JsonRpcMessage::Request(_));
            // The SDK ends the process when the first message is not a request; a stray
            // notification is harmless.
            if self.has_request {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.streams.close().await
    }
}
