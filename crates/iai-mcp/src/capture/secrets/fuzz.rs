//! Whatever somebody says, looking for secrets in it does not break, and once is enough.

use super::{SecretPolicy, secrets_in, without_secrets};

#[test]
fn what_was_cleaned_is_clean() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/secrets");
    iai_fuzz::fuzz(corpus, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for found in secrets_in(&text) {
            assert!(text.get(found.range.clone()).is_some_and(|secret| !secret.is_empty()));
        }
        let policy = SecretPolicy::default();
        let cleaned = without_secrets(&text, &policy).text;
        assert_eq!(without_secrets(&cleaned, &policy).text, cleaned, "{text:?}");
    });
}
