//! Tokens that say by their first letters what they are.

/// The letters a token is made of.
#[derive(Clone, Copy)]
pub(super) enum Letters {
    /// `A-Z a-z 0-9`
    Plain,
    /// those and `_ -`
    Url,
    /// those and `. _ - = / +`
    Any,
    /// `A-Z 0-9`
    Upper,
    /// `0-9 a-f`
    Hex,
}

impl Letters {
    pub(super) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Any => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'/' | b'+')
            }
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        }
    }
}

/// A kind of token: how it begins, what follows, and how much of it there is at least.
pub(super) struct Token {
    pub(super) kind: &'static str,
    pub(super) beginning: &'static str,
    pub(super) letters: Letters,
    pub(super) n_min: usize,
    /// What follows has this length and no other.
    pub(super) is_exact: bool,
}

const fn token(
    kind: &'static str,
    beginning: &'static str,
    letters: Letters,
    n_min: usize,
) -> Token {
    Token { kind, beginning, letters, n_min, is_exact: false }
}

const fn exact(kind: &'static str, beginning: &'static str, letters: Letters, n: usize) -> Token {
    Token { kind, beginning, letters, n_min: n, is_exact: true }
}

/// By their first letter; a longer beginning stands before a shorter one that it contains.
pub(super) const TOKENS: &[Token] = &[
    token("1password-key", "A3-", Letters::Url, 32),
    exact("aws-key-id", "ABIA", Letters::Upper, 16),
    token("aws-bedrock-key", "ABSK", Letters::Any, 100),
    exact("aws-key-id", "ACCA", Letters::Upper, 16),
    token("age-key", "AGE-SECRET-KEY-1", Letters::Upper, 50),
    token("google-key", "AIza", Letters::Url, 35),
    token("artifactory-key", "AKCp", Letters::Plain, 60),
    exact("aws-key-id", "AKIA", Letters::Upper, 16),
    exact("octopus-key", "API-", Letters::Upper, 26),
    token("google-key", "AQ.Ab8RN6", Letters::Url, 30),
    exact("aws-key-id", "ASIA", Letters::Upper, 16),
    token("atlassian-token", "ATATT3xFfGF0", Letters::Any, 100),
    token("bitbucket-token", "ATBB", Letters::Plain, 28),
    token("atlassian-token", "ATCTT3xFfG", Letters::Any, 100),
    token("clojars-token", "CLOJARS_", Letters::Plain, 60),
    token("square-token", "EAAA", Letters::Url, 60),
    token("facebook-token", "EAACEdEose0cBA", Letters::Plain, 20),
    token("facebook-token", "EAA", Letters::Plain, 100),
    token("easypost-key", "EZAK", Letters::Plain, 54),
    token("easypost-key", "EZTK", Letters::Plain, 54),
    token("flutterwave-key", "FLWSECK-", Letters::Url, 32),
    token("flutterwave-key", "FLWSECK_TEST-", Letters::Url, 12),
    token("google-client-secret", "GOCSPX-", Letters::Url, 24),
    token("gitlab-token", "GR1348941", Letters::Url, 20),
    token("heroku-key", "HRKU-", Letters::Url, 30),
    exact("alibaba-key-id", "LTAI", Letters::Plain, 20),
    token("newrelic-key", "NRAK-", Letters::Plain, 24),
    token("postman-key", "PMAK-", Letters::Url, 40),
    token("sendgrid-key", "SG.", Letters::Any, 60),
    exact("twilio-key", "SK", Letters::Hex, 32),
    token("docker-swarm-key", "SWMKEY-1-", Letters::Any, 40),
    token("docker-swarm-key", "SWMTKN-1-", Letters::Url, 60),
    token("huggingface-token", "api_org_", Letters::Plain, 34),
    token("aws-bedrock-key", "bedrock-api-key-", Letters::Any, 40),
    exact("crates-token", "cio", Letters::Plain, 32),
    token("artifactory-token", "cmVmd", Letters::Plain, 59),
    token("cerebras-key", "csk-", Letters::Plain, 40),
    token("databricks-token", "dapi", Letters::Hex, 32),
    token("docker-token", "dckr_oat_", Letters::Url, 20),
    token("docker-token", "dckr_pat_", Letters::Url, 20),
    token("discord-webhook", "discord.com/api/webhooks/", Letters::Any, 60),
    token("discord-webhook", "discordapp.com/api/webhooks/", Letters::Any, 60),
    token("digitalocean-token", "doo_v1_", Letters::Hex, 64),
    token("digitalocean-token", "dop_v1_", Letters::Hex, 64),
    token("digitalocean-token", "dor_v1_", Letters::Hex, 64),
    token("doppler-token", "dp.ct.", Letters::Plain, 40),
    token("doppler-token", "dp.pt.", Letters::Plain, 40),
    token("doppler-token", "dp.sa.", Letters::Plain, 40),
    token("doppler-token", "dp.st.", Letters::Any, 40),
    token("dynatrace-token", "dt0c01.", Letters::Any, 80),
    token("duffel-token", "duffel_live_", Letters::Url, 40),
    token("duffel-token", "duffel_test_", Letters::Url, 40),
    token("grafana-token", "eyJrIjoi", Letters::Any, 70),
    exact("firecrawl-key", "fc-", Letters::Hex, 32),
    token("figma-token", "figd_", Letters::Url, 36),
    token("frameio-token", "fio-u-", Letters::Url, 60),
    token("flyio-token", "fm1a_", Letters::Any, 100),
    token("flyio-token", "fm1r_", Letters::Any, 100),
    token("flyio-token", "fm2_", Letters::Any, 100),
    token("flyio-token", "fo1_", Letters::Url, 43),
    token("github-token", "gho_", Letters::Plain, 36),
    token("github-token", "ghp_", Letters::Plain, 36),
    token("github-token", "ghr_", Letters::Plain, 36),
    token("github-token", "ghs_", Letters::Plain, 36),
    token("github-token", "ghu_", Letters::Plain, 36),
    token("github-token", "github_pat_", Letters::Url, 50),
    token("gitlab-token", "glagent-", Letters::Url, 50),
    token("grafana-token", "glc_", Letters::Any, 32),
    token("gitlab-token", "glcbt-", Letters::Url, 20),
    token("gitlab-token", "gldt-", Letters::Url, 20),
    token("gitlab-token", "glffct-", Letters::Url, 20),
    token("gitlab-token", "glft-", Letters::Url, 20),
    token("gitlab-token", "glimt-", Letters::Url, 20),
    token("gitlab-token", "gloas-", Letters::Url, 60),
    token("gitlab-token", "glpat-", Letters::Url, 20),
    token("gitlab-token", "glptt-", Letters::Hex, 40),
    token("gitlab-token", "glrt-", Letters::Url, 20),
    token("grafana-token", "glsa_", Letters::Url, 32),
    token("gitlab-token", "glsoat-", Letters::Url, 20),
    token("groq-key", "gsk_", Letters::Plain, 40),
    token("huggingface-token", "hf_", Letters::Plain, 34),
    token("slack-webhook", "hooks.slack.com/services/", Letters::Any, 30),
    token("slack-webhook", "hooks.slack.com/triggers/", Letters::Any, 30),
    token("slack-webhook", "hooks.slack.com/workflows/", Letters::Any, 30),
    token("vault-token", "hvb.", Letters::Url, 24),
    token("vault-token", "hvr.", Letters::Url, 24),
    token("vault-token", "hvs.", Letters::Url, 24),
    token("infracost-key", "ico-", Letters::Plain, 32),
    token("jina-key", "jina_", Letters::Url, 50),
    exact("mailgun-key", "key-", Letters::Hex, 32),
    token("linear-key", "lin_api_", Letters::Plain, 32),
    token("linear-token", "lin_oauth_", Letters::Plain, 32),
    token("langsmith-key", "lsv2_pt_", Letters::Any, 40),
    token("langsmith-key", "lsv2_sk_", Letters::Any, 40),
    token("npm-token", "npm_", Letters::Plain, 36),
    token("notion-token", "ntn_", Letters::Plain, 40),
    token("nvidia-key", "nvapi-", Letters::Url, 60),
    token("1password-token", "ops_eyJ", Letters::Any, 100),
    exact("nuget-key", "oy2", Letters::Plain, 43),
    exact("adafruit-key", "p8e-", Letters::Plain, 32),
    token("pinecone-key", "pcsk_", Letters::Url, 60),
    token("posthog-key", "phx_", Letters::Plain, 40),
    token("prefect-token", "pnu_", Letters::Plain, 36),
    token("perplexity-key", "pplx-", Letters::Plain, 40),
    token("planetscale-token", "pscale_oauth_", Letters::Any, 32),
    token("planetscale-token", "pscale_pw_", Letters::Any, 32),
    token("planetscale-token", "pscale_tkn_", Letters::Any, 32),
    exact("pulumi-token", "pul-", Letters::Hex, 40),
    token("pypi-token", "pypi-AgEIcHlwaS5vcmc", Letters::Url, 50),
    token("replicate-token", "r8_", Letters::Plain, 37),
    token("readme-token", "rdme_", Letters::Plain, 70),
    token("stripe-key", "rk_live_", Letters::Plain, 20),
    token("stripe-key", "rk_prod_", Letters::Plain, 20),
    token("stripe-key", "rk_test_", Letters::Plain, 20),
    token("rubygems-token", "rubygems_", Letters::Hex, 48),
    token("razorpay-key", "rzp_live_", Letters::Plain, 14),
    token("42-secret", "s-s4t2af-", Letters::Hex, 64),
    token("42-secret", "s-s4t2ud-", Letters::Hex, 64),
    token("supabase-key", "sb_secret_", Letters::Url, 24),
    token("supabase-key", "sbp_", Letters::Hex, 40),
    exact("notion-token", "secret_", Letters::Plain, 43),
    token("sourcegraph-token", "sgp_", Letters::Url, 40),
    token("openshift-token", "sha256~", Letters::Url, 43),
    token("shippo-token", "shippo_live_", Letters::Hex, 40),
    token("shippo-token", "shippo_test_", Letters::Hex, 40),
    token("shopify-token", "shpat_", Letters::Hex, 32),
    token("shopify-token", "shpca_", Letters::Hex, 32),
    token("shopify-token", "shppa_", Letters::Hex, 32),
    token("shopify-token", "shpss_", Letters::Hex, 32),
    token("openai-key", "sk-admin-", Letters::Url, 32),
    token("anthropic-key", "sk-ant-", Letters::Url, 32),
    token("langfuse-key", "sk-lf-", Letters::Url, 32),
    token("openrouter-key", "sk-or-v1-", Letters::Hex, 64),
    token("openai-key", "sk-proj-", Letters::Url, 32),
    token("openai-key", "sk-svcacct-", Letters::Url, 32),
    token("openai-key", "sk-", Letters::Plain, 40),
    token("stripe-key", "sk_live_", Letters::Plain, 20),
    token("stripe-key", "sk_prod_", Letters::Plain, 20),
    token("stripe-key", "sk_test_", Letters::Plain, 20),
    token("dropbox-token", "sl.", Letters::Url, 130),
    token("settlemint-token", "sm_aat_", Letters::Plain, 16),
    token("settlemint-token", "sm_pat_", Letters::Plain, 16),
    token("settlemint-token", "sm_sat_", Letters::Plain, 16),
    token("sentry-token", "sntrys_", Letters::Any, 40),
    token("sentry-token", "sntryu_", Letters::Hex, 64),
    token("square-token", "sq0atp-", Letters::Url, 22),
    token("square-token", "sq0csp-", Letters::Url, 40),
    token("sonar-token", "sqa_", Letters::Plain, 40),
    token("sonar-token", "sqp_", Letters::Plain, 40),
    token("sonar-token", "squ_", Letters::Plain, 40),
    token("scalingo-token", "tk-us-", Letters::Url, 48),
    token("tailscale-key", "tskey-", Letters::Url, 24),
    token("tavily-key", "tvly-", Letters::Url, 30),
    token("stripe-key", "whsec_", Letters::Any, 24),
    token("xai-key", "xai-", Letters::Plain, 60),
    token("slack-token", "xapp-", Letters::Url, 30),
    token("sendinblue-key", "xkeysib-", Letters::Any, 64),
    token("slack-token", "xoxa-", Letters::Url, 20),
    token("slack-token", "xoxb-", Letters::Url, 20),
    token("slack-token", "xoxc-", Letters::Url, 20),
    token("slack-token", "xoxd-", Letters::Any, 20),
    token("slack-token", "xoxe-", Letters::Url, 20),
    token("slack-token", "xoxe.xoxb-", Letters::Url, 20),
    token("slack-token", "xoxe.xoxp-", Letters::Url, 20),
    token("slack-token", "xoxo-", Letters::Url, 20),
    token("slack-token", "xoxp-", Letters::Url, 20),
    token("slack-token", "xoxr-", Letters::Url, 20),
    token("slack-token", "xoxs-", Letters::Url, 20),
    token("google-token", "ya29.", Letters::Url, 20),
];

/// Where the tokens with each first letter stand: most words begin with none of them.
static GROUPS: [(usize, usize); 128] = groups();

#[expect(clippy::indexing_slicing, reason = "a place beyond the end would not compile")]
const fn groups() -> [(usize, usize); 128] {
    let mut groups = [(0, 0); 128];
    let mut at = 0;
    while at < TOKENS.len() {
        let letter = TOKENS[at].beginning.as_bytes()[0] as usize;
        let start = if groups[letter].1 == 0 { at } else { groups[letter].0 };
        groups[letter] = (start, at + 1);
        at += 1;
    }
    groups
}

/// Returns the tokens that may begin with these bytes.
pub(super) fn beginning_with(bytes: &[u8]) -> impl Iterator<Item = &'static Token> {
    let letter = bytes.first().copied().unwrap_or_default();
    let second = bytes.get(1).copied();
    let (start, end) = GROUPS.get(usize::from(letter)).copied().unwrap_or_default();
    let group = TOKENS.get(start..end).unwrap_or_default().iter();
    group.filter(move |token| token.beginning.as_bytes().get(1).copied() == second)
}
