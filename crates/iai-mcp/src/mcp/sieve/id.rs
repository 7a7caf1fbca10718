//! Finds the id of a request that is too long to be read: of its top level only, byte by byte, and
//! without keeping any of it.

use serde_json::Value;

/// A longer id is not answered to.
const ID_BYTES_MAX: usize = 1024;

/// What was seen of a line so far.
#[derive(Default)]
pub(super) struct IdSeeker {
    depth: u64,
    is_in_string: bool,
    is_escaped: bool,
    /// The key or value of the top level that is being read.
    token: Vec<u8>,
    /// Whether the value being read belongs to a key `id`.
    is_id: bool,
    found: Option<Value>,
}

impl IdSeeker {
    pub(super) fn look_at(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.is_in_string {
                self.go_on_in_string(*byte);
            } else {
                self.go_on(*byte);
            }
        }
    }

    /// Returns the id, where the line had one that can be answered to.
    pub(super) fn found(self) -> Option<Value> {
        self.found
    }

    fn go_on_in_string(&mut self, byte: u8) {
        self.keep(byte);
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.is_in_string = false,
            _ => {}
        }
    }

    fn go_on(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.is_in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                // Whatever is nested is no id; what it holds is not kept.
                self.keep(byte);
                self.depth += 1;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.is_id = self.token == b"\"id\"";
                self.token.clear();
            }
            b',' if self.depth == 1 => self.end_value(),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= ID_BYTES_MAX {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        let token = std::mem::take(&mut self.token);
        if std::mem::take(&mut self.is_id) && token.len() <= ID_BYTES_MAX {
            let id = serde_json::from_slice::<Value>(&token).ok();
            self.found = id.filter(|id| id.is_i64() || id.is_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(line: &str, want: Option<&Value>) {
        for n_bytes in [1, 7, line.len()] {
            let mut seeker = IdSeeker::default();
            line.as_bytes().chunks(n_bytes).for_each(|part| seeker.look_at(part));
            assert_eq!(seeker.found().as_ref(), want, "{line}");
        }
    }

    #[test]
    fn only_the_id_of_the_top_level_counts() {
        check(r#"{"jsonrpc":"2.0","id":7,"params":{"id":8,"x":[{"id":9}]}}"#, Some(&json!(7)));
        check(r#"{"params":{"id":8}, "id" : "a\"b," }"#, Some(&json!("a\"b,")));
        check(r#"{"params":"{\"id\":8}\\","id":-3}"#, Some(&json!(-3)));
        check(r#"{"params":{"id":8}}"#, None);
        check(r#"{"x":"id","y":5}"#, None);
        check(r#"{"id":null}"#, None);
        check(r#"{"id":{"id":1}}"#, None);
        check(r#"{"id":[1]}"#, None);
        check(r#"[{"id":1}]"#, None);
        check(&format!(r#"{{"id":"{}"}}"#, "x".repeat(2000)), None);
        check(r#"{"id":1"#, None);
        check("]]}}\"", None);
    }
}
