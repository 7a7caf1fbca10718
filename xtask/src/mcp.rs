//! One MCP server process, spoken to as a host does: JSON-RPC, one message per line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process;

const PROTOCOL: &str = "2025-06-18";
const ANSWER_DEADLINE: Duration = Duration::from_secs(20);
const END_DEADLINE: Duration = Duration::from_secs(5);

/// A running MCP server that has been initialized.
pub(crate) struct Mcp {
    child: Child,
    /// Taken when we hang up: the server ends when its input does.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    n_requests: u64,
    /// From the start of the process to its `initialize` answer.
    pub(crate) initialized_after: Duration,
}

/// One memory a recall brought back.
pub(crate) struct Hit {
    pub(crate) score: f64,
    pub(crate) role: String,
    pub(crate) text: String,
}

impl Mcp {
    /// Starts `command` and shakes hands with it.
    pub(crate) fn start(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let begin = Instant::now();
        let mut child =
            command.spawn().map_err(|error| format!("cannot start the MCP server: {error}"))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the MCP server has no output")?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            for line in lines {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let initialized_after = Duration::ZERO;
        let mut mcp = Self { child, input, lines, n_requests: 0, initialized_after };
        let hello = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "xtask", "version": env!("CARGO_PKG_VERSION")},
        });
        mcp.request("initialize", &hello)?;
        mcp.initialized_after = begin.elapsed();
        mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(mcp)
    }

    /// Asks the memory about `cue` and returns the hits, best first.
    pub(crate) fn recall(&mut self, cue: &str, budget_tokens: u32) -> Result<Vec<Hit>, String> {
        let arguments = json!({"cue": cue, "budget_tokens": budget_tokens});
        let call = json!({"name": "memory_recall", "arguments": arguments});
        let result = self.request("tools/call", &call)?;
        hits(&result).ok_or_else(|| format!("the recall answered without hits: {result}"))
    }

    /// Returns how many tools the server offers.
    pub(crate) fn n_tools(&mut self) -> Result<usize, String> {
        let result = self.request("tools/list", &json!({}))?;
        let tools = result.get("tools").and_then(Value::as_array);
        tools.map(Vec::len).ok_or_else(|| format!("no list of tools in {result}"))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.n_requests += 1;
        let id = self.n_requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let begin = Instant::now();
        loop {
            let left = ANSWER_DEADLINE.saturating_sub(begin.elapsed());
            let line = self
                .lines
                .recv_timeout(left)
                .map_err(|error| format!("no answer to `{method}`: {error}"))?;
            if let Some(answer) = answer_to(id, &line) {
                return answer;
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the MCP server has no input")?;
        writeln!(input, "{message}")
            .and_then(|()| input.flush())
            .map_err(|error| format!("the MCP server does not listen: {error}"))
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        self.input = None;
        if let Err(sentence) = process::reap(&mut self.child, END_DEADLINE) {
            eprintln!("xtask: ending the MCP server: {sentence}");
        }
    }
}

/// Returns the result or the error a line brings for request `id`; other messages are not for us.
fn answer_to(id: u64, line: &str) -> Option<Result<Value, String>> {
    let mut message: Value = match serde_json::from_str(line) {
        Ok(message) => message,
        Err(_) => return Some(Err(format!("the MCP server printed something else: {line}"))),
    };
    if message.get("id").and_then(Value::as_u64) != Some(id) {
        return None;
    }
    let result = message.get_mut("result").map(Value::take);
    Some(match result {
        Some(result) if result.get("isError").and_then(Value::as_bool) == Some(true) => {
            Err(format!("the tool failed: {result}"))
        }
        Some(result) => Ok(result),
        None => Err(format!("the MCP server answered with an error: {message}")),
    })
}

fn hits(result: &Value) -> Option<Vec<Hit>> {
    let reply = match result.get("structuredContent") {
        Some(reply) if reply.is_object() => reply.clone(),
        _ => serde_json::from_str(result.pointer("/content/0/text")?.as_str()?).ok()?,
    };
    let text = |hit: &Value, field: &str| hit.get(field).and_then(Value::as_str).map(str::to_owned);
    let hits = reply.get("hits")?.as_array()?.iter().map(|hit| Hit {
        score: hit.get("score").and_then(Value::as_f64).unwrap_or(0.0),
        role: text(hit, "role").unwrap_or_else(|| "-".to_owned()),
        text: text(hit, "literal_surface").unwrap_or_default(),
    });
    Some(hits.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_our_request_counts() {
        assert!(answer_to(2, r#"{"jsonrpc":"2.0","method":"notifications/x"}"#).is_none());
        assert!(answer_to(2, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).is_none());
        let answer = answer_to(2, r#"{"jsonrpc":"2.0","id":2,"result":{"a":1}}"#);
        assert_eq!(answer, Some(Ok(json!({"a": 1}))));
        for line in [
            "a banner",
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"isError":true}}"#,
        ] {
            assert!(matches!(answer_to(2, line), Some(Err(_))), "{line}");
        }
    }

    #[test]
    fn hits_are_read_from_either_form_of_a_result() {
        let reply = json!({"hits": [{"score": 0.5, "role": "user", "literal_surface": "a"}]});
        let structured = json!({"structuredContent": reply, "content": []});
        let plain = json!({"content": [{"type": "text", "text": reply.to_string()}]});
        for result in [structured, plain] {
            let hits = hits(&result).expect("hits");
            let [hit] = hits.as_slice() else { panic!("one hit") };
            assert_eq!((hit.score, hit.role.as_str(), hit.text.as_str()), (0.5, "user", "a"));
        }
        assert!(hits(&json!({"content": []})).is_none());
    }
}
