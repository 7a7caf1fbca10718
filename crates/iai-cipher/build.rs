//! Compiles SQLite with SQLCipher, whose ciphers are ours.

/// What a store needs of SQLite, as `rusqlite` would build it.
const SQLITE: &[(&str, &str)] = &[
    ("SQLITE_CORE", "1"),
    ("SQLITE_DEFAULT_FOREIGN_KEYS", "1"),
    ("SQLITE_ENABLE_API_ARMOR", "1"),
    ("SQLITE_ENABLE_STAT4", "1"),
    ("SQLITE_THREADSAFE", "1"),
    ("SQLITE_USE_URI", "1"),
    // Stores of the first versions hold such a table, and migrations look at it.
    ("SQLITE_ENABLE_FTS5", "1"),
    // Counting what is allocated takes one lock for all threads, and nobody looks at the count.
    ("SQLITE_DEFAULT_MEMSTATUS", "0"),
    // Nothing may bring foreign code into the process that holds the key.
    ("SQLITE_OMIT_LOAD_EXTENSION", "1"),
    ("HAVE_ISNAN", "1"),
    ("HAVE_LOCALTIME_R", "1"),
    ("HAVE_STDINT_H", "1"),
    ("HAVE_USLEEP", "1"),
];

/// What SQLCipher asks for.
const SQLCIPHER: &[(&str, &str)] = &[
    ("SQLITE_HAS_CODEC", "1"),
    ("SQLITE_TEMP_STORE", "2"),
    ("SQLITE_EXTRA_INIT", "sqlcipher_extra_init"),
    ("SQLITE_EXTRA_SHUTDOWN", "sqlcipher_extra_shutdown"),
    // In `src/kernels.rs`.
    ("SQLCIPHER_CRYPTO_CUSTOM", "iai_cipher_setup"),
];

/// The structure that `Provider` in `src/kernels.rs` spells out: the compiler cannot compare them.
const PROVIDER: &str = "struct sqlcipher_provider {
  int (*init)(void);
  void (*shutdown)(void);
  const char* (*get_provider_name)(void *ctx);
  int (*add_random)(void *ctx, const void *buffer, int length);
  int (*random)(void *ctx, void *buffer, int length);
  int (*hmac)(void *ctx, int algorithm,
              const unsigned char *hmac_key, int key_sz,
              const unsigned char *in, int in_sz,
              const unsigned char *in2, int in2_sz,
              unsigned char *out);
  int (*kdf)(void *ctx, int algorithm,
              const unsigned char *pass, int pass_sz,
              const unsigned char* salt, int salt_sz,
              int workfactor,
              int key_sz, unsigned char *key);
  int (*cipher)(void *ctx, int mode,
              const unsigned char *key, int key_sz,
              const unsigned char *iv,
              const unsigned char *in, int in_sz,
              unsigned char *out);
  const char* (*get_cipher)(void *ctx);
  int (*get_key_sz)(void *ctx);
  int (*get_iv_sz)(void *ctx);
  int (*get_block_sz)(void *ctx);
  int (*get_hmac_sz)(void *ctx, int algorithm);
  int (*ctx_init)(void **ctx);
  int (*ctx_free)(void **ctx);
  int (*fips_status)(void *ctx);
  const char* (*get_provider_version)(void *ctx);
  sqlcipher_provider *next;
};";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let path = sqlcipher_src::source_dir().join(sqlcipher_src::SOURCE_FILE);
    let source = std::fs::read(&path).expect("the source package holds its source");
    let is_known = String::from_utf8_lossy(&source).contains(PROVIDER);
    assert!(is_known, "SQLCipher has changed its provider: change src/kernels.rs alike");
    let mut build = cc::Build::new();
    build.file(path).warnings(false);
    // Also for tests: an unoptimised SQLite makes every one of them wait.
    build.opt_level(3);
    for (name, value) in SQLITE.iter().chain(SQLCIPHER) {
        build.define(name, *value);
    }
    build.compile("sqlcipher");
}
