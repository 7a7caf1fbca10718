//! The page: a short-lived server on the loopback address that shows the memory to its owner.
//!
//! Like the MCP process it is a client of the daemon, which has no network code of its own. This
//! room knows HTTP and who may come in; what a call does is the daemon's business.

mod answers;
mod assets;
mod calls;
mod door;
mod lessons;
mod pages;
mod peer;

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, Semaphore};

use crate::client::Client;
use crate::settings::Settings;
use door::Door;
use pages::Site;

/// Connections at one time; later ones wait to be accepted.
const CONNECTIONS_MAX: usize = 64;
/// A head that takes longer than this to arrive, and a connection that says nothing, are dropped.
const HEAD_LIMIT: Duration = Duration::from_secs(5);
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Calls that may wait on the daemon at one time.
const CALLS_AT_ONCE_MAX: usize = 6;
/// The page nobody looks at goes away.
const IDLE_LIMIT: Duration = Duration::from_secs(3600);

/// A page that is about to be served.
pub(crate) struct Page {
    listener: std::net::TcpListener,
    port: u16,
    door: Door,
}

impl Page {
    /// Takes a port of the loopback address; 0 means any that is free.
    pub(crate) fn bind(port: u16) -> anyhow::Result<Self> {
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let listener = std::net::TcpListener::bind(address)
            .with_context(|| format!("taking port {port}; `--port 0` takes one that is free"))?;
        listener.set_nonblocking(true).context("preparing the page's socket")?;
        let port = listener.local_addr().context("asking for the page's port")?.port();
        let door = Door::new(port).context("drawing the page's keys")?;
        Ok(Self { listener, port, door })
    }

    /// Returns the port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address to open: good for one browser, once.
    pub(crate) fn address(&self) -> String {
        self.door.address()
    }

    /// Serves until a signal comes, or until nobody asked for anything for long. `announce` is
    /// called once a signal would end it as it should.
    pub(crate) fn serve(
        self,
        client: Client,
        settings: Settings,
        announce: impl FnOnce(),
    ) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(CALLS_AT_ONCE_MAX)
            .build()
            .context("starting the page's runtime")?;
        let site = Arc::new(Site::new(self.door, client, settings));
        let outcome = runtime.block_on(async {
            let listener = TcpListener::from_std(self.listener).context("listening")?;
            let asked_to_stop = asked_to_stop()?;
            announce();
            tokio::select! {
                failed = accept(listener, self.port, Arc::clone(&site)) => failed,
                () = asked_to_stop => Ok(()),
                () = unused(&site.asked, IDLE_LIMIT) => Ok(()),
            }
        });
        // A call that waits on the daemon must not keep the process.
        runtime.shutdown_background();
        outcome
    }
}

/// Takes connections of this user in, a bounded number at a time; returns only when that fails.
async fn accept(listener: TcpListener, port: u16, site: Arc<Site>) -> anyhow::Result<()> {
    let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let seat = Arc::clone(&seats).acquire_owned().await.context("waiting for a seat")?;
        let (stream, peer) = listener.accept().await.context("taking in a connection")?;
        // Another user is told nothing, not even that they are refused.
        let SocketAddr::V4(peer) = peer else { continue };
        if !peer::is_ours(peer, port) {
            tracing::warn!(%peer, "a connection to the page was not made by this user");
            continue;
        }
        let site = Arc::clone(&site);
        tokio::spawn(async move {
            converse(stream, site).await;
            drop(seat);
        });
    }
}

/// Answers the requests of one connection.
async fn converse(stream: TcpStream, site: Arc<Site>) {
    let service = service_fn(move |request| {
        let site = Arc::clone(&site);
        async move { Ok::<_, std::convert::Infallible>(site.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_header_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        // Browsers hang up whenever they like.
        tracing::debug!(%error, "a connection to the page ended");
    }
}

/// Listens for signals from now on; returns what waits for one.
fn asked_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("waiting for signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("waiting for signals")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Returns when nobody asked for anything for so long.
async fn unused(asked: &Notify, idle: Duration) {
    while tokio::time::timeout(idle, asked.notified()).await.is_ok() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_nobody_asks_for_anything_ends_and_a_request_prolongs_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let asked = Notify::new();
            asked.notify_one();
            // The request that came is used up first, then nobody comes.
            unused(&asked, Duration::from_millis(1)).await;
            let took_back = tokio::time::timeout(Duration::ZERO, asked.notified()).await;
            assert!(took_back.is_err());
        });
    }

    #[test]
    fn the_page_listens_on_the_loopback_address_only() {
        let page = Page::bind(0).unwrap();
        let address = page.listener.local_addr().unwrap();
        assert!(address.ip().is_loopback());
        assert!(page.address().starts_with(&format!("http://127.0.0.1:{}/", page.port())));
        assert!(Page::bind(page.port()).is_err());
    }
}
