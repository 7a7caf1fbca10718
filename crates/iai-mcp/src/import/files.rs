//! Turns too large for a message: handed to the daemon in a sealed file instead.

use anyhow::Context as _;
use serde_json::{Value, json};

use super::message::Piece;
use super::{Purpose, Work};
use crate::capture::{Delivery, deliver, write_for_checking};
use crate::clock;

/// Has the turns stored, or looked for, and returns the daemon's answer.
pub(super) fn send(work: &Work<'_>, piece: &Piece<'_>) -> anyhow::Result<Value> {
    let home = &work.settings.home;
    let now = clock::now();
    let Piece { session, cwd, events, .. } = *piece;
    let delivery = Delivery { session, cwd, events, now };
    match work.purpose {
        Purpose::Store | Purpose::StoreUntrusted => {
            let path = deliver(home, &delivery)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut done = work.client.call_daemon("spool_drain", &json!({"file": name}))?;
            if let Some(fields) = done.as_object_mut() {
                fields.remove("set_aside");
            }
            Ok(done)
        }
        Purpose::Verify => {
            let path = write_for_checking(home, &delivery).context("writing a turn to check")?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let done = work.client.call_daemon("turns_check_file", &json!({"file": name}));
            #[expect(clippy::disallowed_methods, reason = "made above, for this one question")]
            std::fs::remove_file(&path).context("removing what was checked")?;
            Ok(done?)
        }
    }
}
