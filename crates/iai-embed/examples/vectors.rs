//! Prints ids and vectors, to compare with other programs: `vectors MODEL-FILE < TEXTS`.
//!
//! Each input line is a JSON string; each output line is `{"ids":[…],"vector":[…]}`. All texts go
//! through the model in one batch.
#![expect(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::error::Error;
use std::io::BufRead as _;
use std::path::Path;

use iai_embed::{Embedder as _, Model};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: vectors MODEL-FILE < TEXTS")?;
    let model = Model::open(Path::new(&path))?;
    let mut texts: Vec<String> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        texts.push(serde_json::from_str(&line?)?);
    }
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (text, vector) in borrowed.iter().zip(model.embed(&borrowed)?) {
        println!("{}", json!({ "ids": model.token_ids(text), "vector": vector }));
    }
    Ok(())
}
