//! Makes a model file: `convert SOURCE-FOLDER NAME MODEL-FILE`.
#![expect(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [source, name, to] = words.as_slice() else {
        return Err("usage: convert SOURCE-FOLDER NAME MODEL-FILE".into());
    };
    let identity = iai_embed::convert(Path::new(source), name, Path::new(to))?;
    println!("{identity:#?}");
    Ok(())
}
