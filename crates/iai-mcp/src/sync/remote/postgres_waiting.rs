//! Waits for news of others. A connection of its own listens on a channel per vault; where what is
//! told there does not arrive, as behind PgBouncer, somebody looks now and then instead.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::time::{Duration, Instant};

use deadpool_postgres::Pool;
use iai_sync::{MachineId, RemoteError, VaultId};
use tokio::sync::mpsc::{self, Receiver};
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Notification, Socket};
use uuid::Uuid;

use super::postgres_address::{Address, Protection};
use super::postgres_errors as errors;
use super::postgres_tls::Tls;

const CONNECT_MAX: Duration = Duration::from_secs(10);
/// What is told arrives in milliseconds, or never.
const ECHO_MAX: Duration = Duration::from_secs(1);
/// Where nobody tells, somebody looks so often.
const LOOK_EVERY: Duration = Duration::from_secs(15);
/// After so long it is tried again whether somebody tells.
const TRY_AGAIN: Duration = Duration::from_mins(10);
/// News that wait to be heard; more of them say nothing new.
const NEWS_MAX: usize = 64;

/// What waiting is about.
#[derive(Default)]
pub(super) struct About {
    /// Vaults that somebody asked for.
    pub(super) vaults: BTreeSet<VaultId>,
    /// Chains that are written here: news of them is no news.
    pub(super) own: BTreeSet<MachineId>,
}

/// How news arrive.
#[derive(Default)]
pub(super) enum Waiting {
    /// Nobody has waited yet, or the connection was lost.
    #[default]
    NotYet,
    /// Told by the server.
    Listening(Listening),
    /// Not told: looked for, since then.
    Looking(Instant),
}

/// A connection that listens. It lives as long as this.
pub(super) struct Listening {
    client: Client,
    news: Receiver<Notification>,
    vaults: BTreeSet<VaultId>,
}

impl Waiting {
    /// Waits until somebody else may have appended something, at most so long.
    pub(super) async fn wait(
        &mut self,
        address: &Address,
        pool: &Pool,
        about: &About,
        patience: Duration,
    ) -> Result<(), RemoteError> {
        if self.is_to_be_tried(&about.vaults) {
            let before = std::mem::take(self);
            *self = begin(before, address, pool, &about.vaults).await?;
            // Whatever came before the channel was open, nobody told.
            return Ok(());
        }
        match self {
            Self::Listening(listening) => {
                let heard = timeout(patience, listening.hear(&about.own)).await;
                if heard == Ok(Heard::Lost) {
                    *self = Self::NotYet;
                    let told = "PostgreSQL: the connection that listens was lost".to_owned();
                    return Err(RemoteError::Away(told));
                }
            }
            Self::NotYet | Self::Looking(_) => {
                timeout(patience.min(LOOK_EVERY), std::future::pending::<()>()).await.ok();
            }
        }
        Ok(())
    }

    fn is_to_be_tried(&self, vaults: &BTreeSet<VaultId>) -> bool {
        match self {
            Self::NotYet => true,
            Self::Listening(listening) => !vaults.is_subset(&listening.vaults),
            Self::Looking(since) => TRY_AGAIN < since.elapsed(),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Heard {
    News,
    Lost,
}

impl Listening {
    async fn hear(&mut self, own: &BTreeSet<MachineId>) -> Heard {
        while let Some(news) = self.news.recv().await {
            let machine: Option<MachineId> = news.payload().parse().ok();
            if machine.is_none_or(|machine| !own.contains(&machine)) {
                // Whoever looks now sees what the others told, too.
                while self.news.try_recv().is_ok() {}
                return Heard::News;
            }
        }
        Heard::Lost
    }

    async fn listen(&mut self, vaults: &BTreeSet<VaultId>) -> Result<(), RemoteError> {
        for vault in vaults {
            let name = Uuid::from_bytes(*vault.as_bytes()).simple();
            let listen = self.client.batch_execute(&format!("listen iai_sync_{name}")).await;
            listen.map_err(|error| errors::of_server(&error))?;
        }
        self.vaults.clone_from(vaults);
        Ok(())
    }

    /// Tries whether what is told on another connection arrives on this one.
    async fn has_echo(&mut self, pool: &Pool) -> Result<bool, RemoteError> {
        const TELL: &str = "select pg_notify($1, '')";
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| RemoteError::Away(format!("no random numbers: {error}")))?;
        let channel = format!("iai_sync_echo_{}", Uuid::from_bytes(random).simple());
        let server = |error| errors::of_server(&error);
        self.client.batch_execute(&format!("listen {channel}")).await.map_err(server)?;
        let teller = pool.get().await.map_err(errors::of_pool)?;
        teller.query_typed(TELL, &[(&channel, Type::TEXT)]).await.map_err(server)?;
        let echo = async {
            while let Some(news) = self.news.recv().await {
                if news.channel() == channel {
                    return true;
                }
            }
            false
        };
        let is_heard = timeout(ECHO_MAX, echo).await.unwrap_or(false);
        if is_heard {
            let unlisten = self.client.batch_execute(&format!("unlisten {channel}")).await;
            unlisten.map_err(server)?;
        }
        Ok(is_heard)
    }
}

async fn begin(
    before: Waiting,
    address: &Address,
    pool: &Pool,
    vaults: &BTreeSet<VaultId>,
) -> Result<Waiting, RemoteError> {
    if let Waiting::Listening(mut listening) = before {
        listening.listen(vaults).await?;
        return Ok(Waiting::Listening(listening));
    }
    let begun = async {
        let mut listening = match &address.protection {
            Protection::None => connect(&address.config, NoTls).await,
            Protection::Verified(roots) => {
                connect(&address.config, Tls::new(roots.as_deref())?).await
            }
        }?;
        listening.listen(vaults).await?;
        let is_told = listening.has_echo(pool).await?;
        Ok(if is_told { Waiting::Listening(listening) } else { Waiting::Looking(Instant::now()) })
    };
    let late = || RemoteError::Away("PostgreSQL does not take the connection".to_owned());
    timeout(CONNECT_MAX, begun).await.unwrap_or_else(|_| Err(late()))
}

async fn connect<T>(config: &Config, tls: T) -> Result<Listening, RemoteError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, mut connection) =
        config.connect(tls).await.map_err(|error| errors::of_server(&error))?;
    let (tell, news) = mpsc::channel(NEWS_MAX);
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                // Full: somebody is woken already.
                tell.try_send(notification).ok();
            }
        }
    });
    Ok(Listening { client, news, vaults: BTreeSet::new() })
}
