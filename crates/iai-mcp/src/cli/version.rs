//! What `--version` prints: the program, the commit, and every format and protocol it speaks.

use std::sync::LazyLock;

use crate::client::store_schema;
use crate::mcp::protocol_revisions;
use crate::stamp;

/// The first line, and all that `-V` prints: `iai-mcp` and this.
pub(super) const SHORT: &str = env!("CARGO_PKG_VERSION");

/// Returns everything, one fact a line; the first line is the short version's.
pub(super) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let commit = stamp::commit().unwrap_or("unknown");
        let protocol = iai_wire::PROTOCOL_VERSION;
        let revisions = protocol_revisions().join(", ");
        let schema = store_schema();
        format!(
            "{SHORT}\ncommit {commit}\nsocket protocol {protocol}\nMCP {revisions}\n\
             store schema {schema}"
        )
    });
    &LONG
}
