//! The `iai-mcp` binary: parse, dispatch, exit.

mod bench;
mod capture;
mod cli;
mod client;
mod clock;
mod daemon;
mod exit;
mod fields;
mod home;
mod hook;
mod host;
mod import;
mod install;
mod log;
mod mcp;
mod model;
mod service;
mod settings;
mod stamp;
mod sync;
mod teach;
mod web;

fn main() {
    home::set_own_umask();
    exit::outlive_file_limit();
    exit::leave(cli::main());
}
