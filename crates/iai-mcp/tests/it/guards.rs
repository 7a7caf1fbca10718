//! How often the guards are right, over texts of our own: rates that must not get worse.

use std::fs;

use serde_json::Value;

use crate::support::Sandbox;

const ORDERS: &str = include_str!("guards/orders.jsonl");
/// `{plain 36}` stands for 36 letters that are drawn here: no file of ours looks like it held
/// somebody's key.
const SECRETS: &str = include_str!("guards/secrets.jsonl");

/// Draws letters as a machine does, always the same.
struct Draw(u64);

impl Draw {
    fn letters(&mut self, kind: &str, n: usize) -> String {
        let letters: &[u8] = match kind {
            "plain" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "hex" => b"0123456789abcdef",
            "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "digit" => b"0123456789",
            _ => panic!("no letters are called {kind}"),
        };
        let mut drawn = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            letters[usize::try_from(self.0 >> 40).unwrap() % letters.len()]
        };
        (0..n).map(|_| char::from(drawn())).collect()
    }

    /// Puts letters in the place of every `{kind n}`.
    fn fill(&mut self, line: &str) -> String {
        let mut filled = String::new();
        let mut rest = line;
        while let Some((before, behind)) = rest.split_once('{') {
            let wish = behind.split_once('}').and_then(|(wish, behind)| {
                let (kind, n) = wish.split_once(' ')?;
                Some((kind, n.parse().ok()?, behind))
            });
            filled.push_str(before);
            match wish {
                Some((kind, n, behind)) => {
                    filled.push_str(&self.letters(kind, n));
                    rest = behind;
                }
                None => {
                    filled.push('{');
                    rest = behind;
                }
            }
        }
        filled + rest
    }
}

/// Measures one file and returns how many of each label were marked.
fn measure(sandbox: &Sandbox, name: &str, lines: &str) -> Value {
    let path = sandbox.path(name);
    fs::write(&path, lines).unwrap();
    sandbox.json(&["--json", "bench", "guards", "--data", path.to_str().unwrap()])["figures"].take()
}

#[track_caller]
fn check(figures: &Value, name: &str, is_right: impl Fn(u64, u64) -> bool) {
    let (n, of) = (figures[name]["n"].as_u64().unwrap(), figures[name]["of"].as_u64().unwrap());
    assert!(is_right(n, of), "{name}: {n} of {of}; {}", figures["judged wrongly"]);
}

#[test]
fn orders_are_found_and_ordinary_talk_is_left_alone() {
    let figures = measure(&Sandbox::new(), "orders.jsonl", ORDERS);
    check(&figures, "orders found", |n, of| of - n <= 2);
    check(&figures, "taken for orders by mistake", |n, _| n <= 1);
}

#[test]
fn secrets_are_found_and_hashes_are_left_alone() {
    let sandbox = Sandbox::new();
    for seed in [1, 2, 3] {
        let filled = Draw(seed).fill(SECRETS);
        let figures = measure(&sandbox, "secrets.jsonl", &filled);
        check(&figures, "secrets found", |n, of| of - n <= 1);
        check(&figures, "taken for secrets by mistake", |n, _| n == 0);
    }
}
