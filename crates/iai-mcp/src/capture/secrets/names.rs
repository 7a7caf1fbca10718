//! What secrets are called: names that end an assignment, a flag or a sentence.

/// Names of things that are secret, as they end, in lower case without `_` and `-`.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "secret",
    "secretkey",
    "secretkeybase",
    "appkey",
    "keydata",
    "secretaccesskey",
    "clientsecret",
    "apikey",
    "apitoken",
    "apisecret",
    "accesskey",
    "accesstoken",
    "authtoken",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "accountkey",
    "bearertoken",
    "refreshtoken",
    "sessiontoken",
    "pwd",
    "authkey",
    "masterkey",
    "licensekey",
    "credential",
    "credentials",
    "userauth",
    "passcode",
    "kennwort",
    "contrasena",
    "senha",
    "motdepasse",
    "wachtwoord",
    "parola",
];
/// A `token` is secret, unless it tells where to go on, or belongs to a language.
const OPEN_TOKENS: &[&str] = &[
    "next",
    "page",
    "continuation",
    "cursor",
    "cancel",
    "csrf",
    "sync",
    "eos",
    "bos",
    "pad",
    "authenticity",
    "public",
];
/// A `key` or `login` is secret when it is one of somebody who gives out such keys.
const SERVICES: &[&str] = &[
    "adobe",
    "airtable",
    "algolia",
    "aws",
    "azure",
    "bitbucket",
    "bitly",
    "cloudflare",
    "cloudinary",
    "codecov",
    "cohere",
    "coinbase",
    "confluent",
    "contentful",
    "datadog",
    "deepseek",
    "discord",
    "dropbox",
    "elastic",
    "facebook",
    "fastly",
    "finnhub",
    "flickr",
    "freshbooks",
    "gemini",
    "gitlab",
    "gitter",
    "google",
    "groq",
    "heroku",
    "hubspot",
    "intercom",
    "jfrog",
    "jira",
    "kraken",
    "kucoin",
    "launchdarkly",
    "linkedin",
    "mailchimp",
    "mailgun",
    "mapbox",
    "meraki",
    "messagebird",
    "mistral",
    "netlify",
    "newrelic",
    "nytimes",
    "okta",
    "openai",
    "paypal",
    "plaid",
    "plivo",
    "rapidapi",
    "sendbird",
    "sendgrid",
    "sentry",
    "shodan",
    "snyk",
    "sonar",
    "splunk",
    "spotify",
    "square",
    "squarespace",
    "stripe",
    "sumo",
    "telegram",
    "travis",
    "trello",
    "twilio",
    "twitch",
    "twitter",
    "typeform",
    "vercel",
    "yandex",
    "zendesk",
];
/// A name is not longer than this.
pub(super) const NAME_BYTES_MAX: usize = 48;

/// Words that only end like a password's name.
const NO_PASSES: &[&str] = &["bypass", "compass", "encompass", "trespass", "surpass", "overpass"];

pub(super) fn is_secret_name(name: &str) -> bool {
    if name.ends_with("pass") {
        return !NO_PASSES.contains(&name);
    }
    let is_token = name.ends_with("token") && !OPEN_TOKENS.iter().any(|open| name.contains(open));
    let is_key = ["key", "login", "pat"].iter().any(|end| name.ends_with(end));
    NAMES.iter().any(|known| name.ends_with(known))
        || is_token
        || name.ends_with("pw")
        || (is_key && SERVICES.iter().any(|service| name.contains(service)))
}

/// Nearly every colon is behind another word; these are the last letters of [`NAMES`].
pub(super) fn ends_like_a_name(text: &str) -> bool {
    let is_around = |byte: &u8| b" \t\"'`]\\".contains(byte);
    let last = text.bytes().rev().find(|byte| !is_around(byte));
    last.is_some_and(|last| b"adeghlnrstwy".contains(&last.to_ascii_lowercase()))
}

/// Words that are the first of a name written apart: `API key`, `mot de passe`.
const FIRST_PARTS: &[&str] =
    &["api", "secret", "access", "private", "auth", "client", "bearer", "de"];

/// Returns the name that ends here, in lower case and without the signs that join its words.
pub(super) fn name_before(text: &str) -> Option<String> {
    let name = last_name(text)?;
    if !matches!(name.as_str(), "key" | "token" | "secret" | "passe") {
        return Some(name);
    }
    let before = text.trim_end_matches([' ', '\t']);
    let first = last_blank(before).and_then(|at| last_name(before.get(..at)?));
    Some(match first.filter(|first| FIRST_PARTS.contains(&first.as_str())) {
        Some(first) if first == "de" => format!("motde{name}"),
        Some(first) => first + &name,
        None => name,
    })
}

/// Returns where the last blank stands, unless it is further away than any name is long.
fn last_blank(text: &str) -> Option<usize> {
    let n = text.bytes().rev().take(NAME_BYTES_MAX).position(|byte| byte == b' ')?;
    Some(text.len() - n - 1)
}

/// Returns the last word that could be a name; around it stand quotes, also written with a
/// backslash, and the bracket of an index.
fn last_name(text: &str) -> Option<String> {
    let text = text.trim_end_matches([' ', '\t']);
    let text = text.strip_suffix(']').unwrap_or(text);
    let text = text.strip_suffix(['"', '\'', '`']).unwrap_or(text);
    let text = text.strip_suffix('\\').unwrap_or(text);
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let name: Vec<u8> = text.bytes().rev().take(NAME_BYTES_MAX).take_while(is_in).collect();
    let name: Vec<u8> = name.into_iter().rev().filter(u8::is_ascii_alphanumeric).collect();
    String::from_utf8(name).ok().map(|name| name.to_ascii_lowercase())
}
