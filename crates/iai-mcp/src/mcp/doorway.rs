//! The SDK's stdio transport, with three habits of our own: it shrugs at early notifications, it
//! answers lines that nobody can read, and it tells when the host has hung up.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, Receiver};

use super::sieve::{Complaint, Sieve};

/// One request line. Bounds what a host can make this process hold.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Unreadable lines whose complaints may wait to be sent.
const COMPLAINTS_MAX: usize = 16;

/// Both directions of the conversation with the host.
pub(super) struct Doorway {
    streams: AsyncRwTransport<RoleServer, Sieve<StdioReader>, StdioWriter>,
    complaints: Receiver<Complaint>,
    has_request: bool,
    hung_up: Arc<Notify>,
}

impl Doorway {
    /// Takes over stdin and stdout; nothing else may write there from now on. Needs a running
    /// runtime.
    pub(super) fn open() -> Self {
        let (read, write) = stdio_pipes();
        let (complain, complaints) = mpsc::channel(COMPLAINTS_MAX);
        let read = Sieve::new(read, LINE_BYTES_MAX, complain);
        Self {
            streams: AsyncRwTransport::new(read, write).with_max_line_length(LINE_BYTES_MAX),
            complaints,
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
            let received = tokio::select! {
                received = self.streams.receive() => received,
                Some(complaint) = self.complaints.recv() => {
                    // A task of its own: this future may be dropped half-way, the answer not.
                    tokio::spawn(self.send(unreadable(complaint)));
                    continue;
                }
            };
            let Some(message) = received else {
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

/// The answer to a line that was not handed on; without an id where none could be seen.
fn unreadable(complaint: Complaint) -> TxJsonRpcMessage<RoleServer> {
    let Complaint { what, id } = complaint;
    let id: Option<RequestId> = id.and_then(|id| serde_json::from_value(id).ok());
    let error = match id {
        Some(_) => ErrorData::invalid_request(what, None),
        None => ErrorData::parse_error(what, None),
    };
    TxJsonRpcMessage::<RoleServer>::error(error, id)
}
