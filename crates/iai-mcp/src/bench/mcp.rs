//! One MCP server process, spoken to as a host does: JSON-RPC over its stdin and stdout.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::process::wait_for;
use crate::fields::Fields as _;

const PROTOCOL: &str = "2025-06-18";
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
const END_LIMIT: Duration = Duration::from_secs(5);

/// A running MCP server that has been initialized.
pub(super) struct Mcp {
    child: Child,
    /// Taken when we hang up: the server ends when its input does.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    n_requests: u64,
    /// From the start of the process to its answer to `initialize`.
    pub(super) initialized_after: Duration,
}

impl Mcp {
    /// Starts `command` and shakes hands with it.
    pub(super) fn start(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn().context("starting the MCP server")?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("the MCP server has no output")?;
        let (said, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    return;
                }
            }
        });
        let mut mcp =
            Self { child, input, lines, n_requests: 0, initialized_after: Duration::ZERO };
        let hello = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "iai-mcp bench", "version": env!("CARGO_PKG_VERSION")},
        });
        mcp.request("initialize", &hello)?;
        mcp.initialized_after = begun.elapsed();
        mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(mcp)
    }

    /// Recalls by the tool; returns its structured answer.
    pub(super) fn recall(&mut self, arguments: &Value) -> anyhow::Result<Value> {
        let call = json!({"name": "memory_recall", "arguments": arguments});
        let mut result = self.request("tools/call", &call)?;
        Ok(result.get_mut("structuredContent").map(Value::take).unwrap_or_default())
    }

    fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.n_requests += 1;
        let id = self.n_requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let begun = Instant::now();
        loop {
            let left = ANSWER_LIMIT.saturating_sub(begun.elapsed());
            let line = self.lines.recv_timeout(left);
            let line = line.with_context(|| format!("waiting for the answer to `{method}`"))?;
            if let Some(answer) = answer_to(id, &line)? {
                return Ok(answer);
            }
        }
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the MCP server has no input")?;
        writeln!(input, "{message}").and_then(|()| input.flush()).context("asking the MCP server")
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        self.input = None;
        let ended =
            wait_for("the MCP server's end", END_LIMIT, || Ok(self.child.try_wait()?.map(|_| ())));
        if ended.is_err() {
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }
}

/// Returns the result a line brings for request `id`; other messages are not for us.
fn answer_to(id: u64, line: &str) -> anyhow::Result<Option<Value>> {
    let mut message: Value =
        serde_json::from_str(line).with_context(|| format!("the MCP server printed {line:?}"))?;
    if message.at("id").as_u64() != Some(id) {
        return Ok(None);
    }
    match message.get_mut("result").map(Value::take) {
        Some(result) if result.at("isError") == true => bail!("the tool failed: {result}"),
        Some(result) => Ok(Some(result)),
        None => bail!("the MCP server answered with an error: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_our_request_counts() {
        for other in
            [r#"{"jsonrpc":"2.0","method":"x"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]
        {
            assert_eq!(answer_to(2, other).unwrap(), None);
        }
        let answer = answer_to(2, r#"{"jsonrpc":"2.0","id":2,"result":{"a":1}}"#).unwrap();
        assert_eq!(answer, Some(json!({"a": 1})));
        for line in [
            "a banner",
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"isError":true}}"#,
        ] {
            assert!(answer_to(2, line).is_err(), "{line}");
        }
    }
}
