//! SQLite with SQLCipher, and the ciphers SQLCipher calls: AES-256-CBC, HMAC-SHA-512 and
//! PBKDF2-HMAC-SHA-512, from `RustCrypto`.
//!
//! The pages are those of SQLCipher 4 to the last bit, whoever wrote them. `docs/decisions/0011`
//! says why it is not OpenSSL that does this. What is stored and under which key is the store's.

mod kernels;
mod known;
mod pages;

pub use kernels::ensure_ready;
