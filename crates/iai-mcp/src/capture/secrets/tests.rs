//! What is a secret and what is not: both halves matter.

use super::tokens::TOKENS;
use super::*;

/// Letters as a machine draws them, always the same.
fn drawn(n: usize, letters: &str) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 40).unwrap()
    };
    (0..n).map(|_| letters[draw() % letters.len()]).collect()
}

pub(super) fn plain(n: usize) -> String {
    drawn(n, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
}

fn hex(n: usize) -> String {
    drawn(n, "0123456789abcdef")
}

fn clean(text: &str) -> String {
    all_marked(text).into_owned()
}

/// The secret is gone, its mark is there, and so is everything around it.
#[track_caller]
pub(super) fn check_secret(before: &str, secret: &str, after: &str, kind: &str) {
    let cleaned = clean(&format!("{before}{secret}{after}"));
    let middle = cleaned.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    let middle = middle.unwrap_or_else(|| panic!("{cleaned}"));
    assert!(middle.starts_with(&format!("[secret:{kind}:")), "{cleaned}");
    assert!(middle.ends_with(']') && middle.len() == kind.len() + 14, "{cleaned}");
    assert_eq!(clean(&cleaned), cleaned, "a mark is no secret");
}

#[track_caller]
pub(super) fn check_kept(text: &str) {
    assert_eq!(clean(text), text);
}

#[test]
fn tokens_are_known_by_their_beginning() {
    for token in TOKENS {
        let body = match token.letters {
            tokens::Letters::Hex => hex(token.n_min.max(32)),
            tokens::Letters::Upper => drawn(token.n_min, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
            _ => plain(token.n_min),
        };
        let secret = format!("{}{body}", token.beginning);
        check_secret("use ", &secret, " please", token.kind);
        check_secret("KEY_OF_X=", &secret, "\n", token.kind);
        check_secret("`", &secret, "`.", token.kind);
    }
}

#[test]
fn tokens_of_services_nobody_listed_are_known_by_their_shape() {
    let drawn = plain(40);
    for name in ["acme", "zq", "ACME", "acme_live", "acme-prod-key"] {
        let secret = format!("{name}{}{drawn}", if name.contains('-') { '-' } else { '_' });
        check_secret("it is ", &secret, " as of today", "token");
        check_secret("curl -H 'X-Auth: ", &secret, "' https://x", "token");
    }
    check_secret("", "acme_f8k2mw0qz7x4j1t9v6b3n5c8d2r7y4h1", "", "token");
    for kept in [
        format!("acme_{}", &drawn[..24]),
        format!("commit_{}", hex(40)),
        format!("sha512-{drawn}"),
        format!("/img/acme_{drawn}"),
        format!("Acme_{drawn}"),
        format!("x_{drawn}=="),
        "a_ReallyLongNameOfATypeWithVersion2InTheMiddleOfIt".to_owned(),
        "test_what_is_forgotten_in_2026_does_not_come_back_with_the_next_import".to_owned(),
        "id_01234567890123456789012345678901234567890".to_owned(),
        "acme_your0Token1Here2AndNotMineAtAll3Ok4Yes5".to_owned(),
    ] {
        check_kept(&kept);
    }
}

#[test]
fn the_same_secret_has_the_same_mark_and_another_one_another() {
    let (one, two) = (format!("ghp_{}", plain(36)), format!("ghp_{}", plain(40)));
    let text = clean(&format!("{one} {two} {one}"));
    let marks: Vec<&str> = text.split(' ').collect();
    assert_eq!(marks[0], marks[2]);
    assert_ne!(marks[0], marks[1]);
}

#[test]
fn keys_and_web_tokens_go_whole() {
    let line = plain(64);
    let key = |label: &str, gap: &str| {
        format!("-----BEGIN {label}-----{gap}{line}{gap}{line}{gap}abc={gap}-----END {label}-----")
    };
    check_secret("it is\n", &key("RSA PRIVATE KEY", "\n"), "\nthere", "private-key");
    check_secret("\"key\": \"", &key("PRIVATE KEY", "\\n"), "\"", "private-key");
    check_secret("", &key("OPENSSH PRIVATE KEY", "\r\n"), "", "private-key");
    let cut = format!("-----BEGIN EC PRIVATE KEY-----\n{line}\n{line}");
    check_secret("cut off: ", &cut, "", "private-key");
    check_secret("cut off: ", &cut, "\nand then we talked on", "private-key");
    let web = format!("eyJ{}.eyJ{}.{}", plain(30), plain(60), plain(43));
    check_secret("Authorization: Bearer ", &web, "\n", "jwt");
    check_secret("bot ", &format!("123456789:AA{}", plain(33)), " it", "telegram-token");
}

#[test]
fn names_tell_what_a_value_is() {
    for (before, secret, after, kind) in [
        ("password = \"", "Tr0ub4dor&3x", "\"", "password"),
        ("DB_PASSWORD=", "s3cR3t!pa55", "\n", "password"),
        ("my password is ", "Tr0ub4dor&3", ".", "password"),
        ("Password=", "Xy7!kkLm2", ";Server=db", "password"),
        ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzK9", "", "named-secret"),
        ("\"client_secret\": \"", "q8Zr2mVt7Ks1Lp0X", "\"", "named-secret"),
        ("api-key: ", "9f8e7d6c5b4a39281706f5e4d3c2b1a0", "\n", "named-secret"),
        ("//registry/:_authToken=", "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d", "", "named-secret"),
        ("Authorization: Basic ", "dXNlcjpwYXNzdzByZDEyMw==", "\n", "authorization"),
        ("$ curl -u admin:", "S3cure!pass", " http://h", "password"),
        ("postgres://app:", "k3yboardc4t", "@db.internal/prod", "url-password"),
        ("https://bob:", "pa55", "@git.example.com/r.git", "url-password"),
        ("redis://:", "q9w8e7", "@cache:6379/0", "url-password"),
        ("curl https://h \\\n  --user  'ann:", "h0pk1ns~21s", "' -v", "password"),
        ("-H \"Authorization: Token ", "22cb987851bc5659229114c62e60c79a", "\"", "authorization"),
        ("<password>", "s3cR3tpa55", "</password>", "password"),
        ("<add key=\"DbPassword\" value=\"", "s3cR3tpa55", "\" />", "password"),
        ("SNYK_TOKEN ?= \"", "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d", "\"", "named-secret"),
        ("sonar.login=", "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c", "\n", "named-secret"),
        ("password: ", "UyFCXCpkJHpEc2I9", "\n", "password"),
        ("kind: Secret\ndata:\n  x: ", "YWRtaW46cGFzcw==", "\n", "kubernetes-secret"),
        ("kind: Secret\ndata:\n  x: |\n    ", "YWRtaW46cGFzcw==", "\n", "kubernetes-secret"),
        ("it is ", "abc8Q~wJalrXUtnFEMIK7MDENGbPxRfiCYzz2K9", " there", "azure-secret"),
        ("app ", "123456789012345|rhoK1cbv0DOU-RTX-87O4MkX7AI", "", "facebook-token"),
    ] {
        check_secret(before, secret, after, kind);
    }
}

#[test]
fn secrets_are_known_in_unusual_surroundings() {
    let (drawn, word) = (plain(40), "m2qE3e*KDHFRfRN7L");
    for (before, secret, after, kind) in [
        ("{\\\"api_key\\\":\\\"", drawn.as_str(), "\\\",\\\"x\\\":1}", "named-secret"),
        ("SMTP_PASS=", word, "\n", "password"),
        ("SECRET_KEY_BASE=", &hex(128), "\n", "named-secret"),
        ("mysql -h db -u root -p", word, " shop", "password"),
        ("docker login -u robot -p ", &drawn, " registry.corp", "password"),
        ("sshpass -p ", word, " ssh root@h", "password"),
        ("redis-cli -h c -a ", &drawn, " info", "password"),
        ("aws configure set aws_secret_access_key ", &drawn, "", "named-secret"),
        ("machine h login me password ", word, "\n", "password"),
        ("http POST h Authorization:\"Basic ", "c3ZjOkd5KkY2dipYbFJoejZo", "\"", "authorization"),
        ("{\"auth\": \"", "cm9ib3Q6Tis5JVpnR2pMKk5Mc3Ah", "\"}", "authorization"),
        ("- name: API_KEY\n  value: ", &drawn, "\n", "named-secret"),
        ("{\"name\":\"DB_PASSWORD\",\"value\":\"", word, "\"}", "password"),
        ("token: !!str ", &drawn, "\n", "named-secret"),
        ("auth_password: >-\n    ", word, "\n", "password"),
        ("client-key-data: ", &drawn, "\n", "named-secret"),
        ("https://h/f?sv=1&sp=r&sig=", &format!("{drawn}%2Bx%3D"), "&x=1", "signed-address"),
        ("das Passwort lautet ", word, ", bitte", "password"),
        ("le mot de passe : ", word, "", "password"),
        ("la contraseña es: ", word, "", "password"),
        ("пароль: ", word, "", "password"),
        ("密码：", word, "", "password"),
        ("パスワードは ", word, " です", "password"),
        ("API key: ", &drawn, "", "named-secret"),
        ("user=admin pass=", word, "", "password"),
        ("api_key: str = \"", &drawn, "\"", "named-secret"),
        ("define(\"DB_PASSWORD\", \"", word, "\");", "password"),
        ("$config['encryption_key'] = '", &drawn, "';", "named-secret"),
        ("setPassword(\"", word, "\")", "password"),
    ] {
        check_secret(before, secret, after, kind);
    }
    let bot = format!("1615831231:AA{}", plain(33));
    check_secret("https://api.telegram.org/bot", &bot, "/getMe", "telegram-token");
}

#[test]
fn keys_are_known_however_they_were_pasted() {
    let line = plain(64);
    let lines = ["-----BEGIN RSA PRIVATE KEY-----", &line, &line, "-----END RSA PRIVATE KEY-----"];
    let quoted = lines.map(|line| format!("> {line}")).join("\n");
    let numbered = lines.map(|line| format!("    12\t{line}")).join("\n");
    let in_code = lines.map(|line| format!("  '{line}'")).join(",\n");
    let diff = lines.map(|line| format!("+{line}")).join("\n");
    let headers = format!("{}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n", lines[0]);
    let encrypted = format!("{headers}{line}\n{line}\n{}", lines[3]);
    let putty = format!("Encryption: none\nPrivate-Lines: 2\n{line}\n{line}\nPrivate-MAC: 00");
    for text in [quoted, numbered, in_code, diff, encrypted, putty] {
        let cleaned = clean(&text);
        assert!(!cleaned.contains(&line[..20]) && cleaned.contains("private-key"), "{cleaned}");
        assert_eq!(clean(&cleaned), cleaned);
    }
}

#[test]
fn what_only_looks_like_one_of_them_stays() {
    for text in [
        "--- PASS: TestE2E_AutoCommitStrategy (13.48s)",
        "const jwtSecret1 = await getSecret('JWT_SECRET_1');",
        "bypass = Xy7kkLm2Q9w8 and compass: Xy7kkLm2Q9w8",
        "postgres://postgres:postgres@localhost/test and https://user:pass@h.example/",
        "password: str | None = None, password: Option<SecretString>",
        "--password-file /run/secrets/db_password --token $TOKEN",
        "primary key: customerAccountIdentifier2, cache key: depsLinux2026",
        "- name: PORT\n  value: Xy7kkLm2Q9w8aa",
        "\"auth\": \"oauth2-proxy-v7\", auth: cm9ib3QgaXMgbmljZSE=",
        "密码必须至少包含八个字符，パスワードをリセット2026してください",
        "token is refreshed, the password is stored, das Passwort ist lang",
        "mysql -p shop, docker run -p 8080:80 image, mkdir -p Some/Path2/Here9",
        "&sig=short&x=1",
    ] {
        check_kept(text);
    }
}

#[test]
fn hashes_ids_code_and_images_are_somebodys_words() {
    let (sha, image) = (hex(64), drawn(4000, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh0123456789+/"));
    for text in [
        "next_page_token = 'q8Zr2mVt7Ks1Lp0Xq8Zr2mVt7Ks1Lp0X'".to_owned(),
        "kind: ConfigMap\ndata:\n  x: YWRtaW46cGFzcw==".to_owned(),
        "curl -u user:pass http://h and curl -u $A:$B http://h".to_owned(),
        "publicToken = '9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC'".to_owned(),
        "API_TOKEN=ops_wJalrXUtnFEMIK7MDENGbPxRfi...".to_owned(),
        format!("sha256:{sha} commit {}", &sha[..40]),
        format!("integrity sha512-{}==", plain(86)),
        "id 550e8400-e29b-41d4-a716-446655440000 of the session".to_owned(),
        format!("<img src=\"data:image/png;base64,{image}\">"),
        "let password = std::env::var(\"DB_PASSWORD\")?;".to_owned(),
        "password: ${DB_PASSWORD}, secret: {{ vault.secret }}, token=$TOKEN".to_owned(),
        "if user.password == other.password { check_password(password) }".to_owned(),
        "fn password(secret: &SecretString) -> ApiKey { api_key: Default::default() }".to_owned(),
        "the password is stored in the vault, and the secret is safe".to_owned(),
        "password=password123? no: use a password manager, password: changeme123!".to_owned(),
        "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
        "AKIAIOSFODNN7EXAMPLE is the key of the documentation".to_owned(),
        "pip install sk-learn npm_config_cache hf_hub_download glpat-your-token-here".to_owned(),
        "https://example.com:8080/path and git@github.com:me/repo.git".to_owned(),
        "postgres://user:password@localhost/db and postgres://u:$PGPASSWORD@h/db".to_owned(),
        "A file begins with -----BEGIN PRIVATE KEY----- and then the base64 text comes.".to_owned(),
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----".to_owned(),
        "eyJhbGciOiJIUzI1NiJ9 is only the head of a web token".to_owned(),
        "the private_key: PathBuf, secret_key = load_key(path)?, api_key: Option<String>"
            .to_owned(),
        "max_tokens=4096 n_tokens: 12345678901234567890".to_owned(),
        "Bearer of bad news: Basic understanding is enough".to_owned(),
        "P0: Basic prompt→changes→commit".to_owned(),
        "docker run -u 1000:1000 image; ls -u a:b".to_owned(),
        "[secret:github-token:9f2c] was here, password=[secret:password:12ab]".to_owned(),
        "пароль: жёлтый; 密码: 黄色的; mot de passe: jaune".to_owned(),
    ] {
        check_kept(&text);
    }
}

#[test]
fn values_of_a_kubernetes_secret_go_whatever_their_keys_are_called() {
    let (word, base64) = ("Zr7kk92QpLmN4x", drawn(44, "ABCDEFGHabcdefgh0123456789+/"));
    let kind = "kubernetes-secret";
    for (before, secret, after) in [
        ("kind: Secret\nstringData:\n  dsn: ", word, "\n"),
        ("kind: Secret\nstringData:\n  dsn: \"", word, "\"  # of staging\n"),
        ("- kind: 'Secret'\n  stringData:\n    pin: ", "correct horse battery", " # ours\n"),
        ("kind: Secret\nstringData:\n  a.conf: |\n    user: bob\n    handle: ", word, "\n"),
        ("stringData:\n  dsn: ", word, "\ntype: Opaque\nkind: Secret\n"),
        (
            "{\n \"data\": {\n  \"tls\": \"",
            &base64,
            "\",\n  \"b\": \"\"\n },\n \"kind\": \"Secret\"\n}",
        ),
        ("{\n \"kind\": \"Secret\",\n \"stringData\": {\n  \"x\": \"", word, "\"\n }\n}"),
        ("kind: Secret\nstringData:\n  dsn: ", "a=Zr7kk92QpLmN4x;pwd=Zr7!kk92_Qp;b=Qp4", "\n"),
    ] {
        check_secret(before, secret, after, kind);
    }
    for text in [
        "kind: Secret\nstringData:\n  a: ${DB_PASSWORD}\n  b: {{ .Values.password }}\n",
        "kind: Secret\nstringData:\n  a: <put-it-in-here>\n  b: changeme-please\n  c: admin\n",
        "kind: Secret\nstringData:\n  # of the database, see the wiki\n  a: https://db.corp/x\n",
        "kind: ConfigMap\nstringData:\n  x: Zr7kk92QpLmN4x\n",
        "kind: Secret\nmetadata:\n  name: a-rather-long-name-2026\nstringData:\n  user: bob\n",
        "the field stringData: holds plain values, of kind: Secret",
    ] {
        check_kept(text);
    }
    check_kept(&format!(
        "{{\n \"kind\": \"ConfigMap\",\n \"data\": {{\n  \"x\": \"{base64}\"\n }}\n}}"
    ));
}

#[test]
fn a_value_is_known_however_it_is_joined_to_its_name() {
    let word = "Zr7!kk92_Qp";
    for (before, after) in [
        ("密码是：", "，不要告诉别人"),
        ("密码：", "。请保密"),
        ("пароль — ", ""),
        ("Пароль: ", ""),
        ("contraseña — ", ""),
        ("Passwort – ", ", bitte"),
        ("password — ", ", thanks"),
        ("password - ", ""),
        ("the password is: ", ""),
        ("das Passwort ist: ", "."),
        ("le mot de passe est : ", ""),
        ("the password is \t: ", ", thanks"),
        ("la password è ", ""),
        ("a senha é ", ""),
        ("Password:\n  ", "\nthat is it"),
        ("<input type=\"password\" value=\"", "\">"),
        ("<input type=\"password\" name=\"user_pw\" value=\"", "\">"),
        ("<input data-name='x' name='password' nickname='y' value='", "'>"),
        ("pw: ", ""),
    ] {
        check_secret(before, word, after, "password");
    }
    check_secret("\u{1b}[32m", &format!("ghp_{}", plain(36)), "\u{1b}[0m", "github-token");
    for text in [
        "密码是必填项，长度至少八位。密码是：请输入您的密码",
        "пароль — обязательное поле; пароль — минимум 12 символов, Az09",
        "password — a field of the form; the password is: required, longer than 12",
        "Passwort – siehe Vault-Eintrag db2; secret - rotate every 90d in Vault2",
        "password:\n  minLength: 12\n  pattern: Xy7kkLm2Q9w8",
        "password:\nXy7kkLm2Q9w8 is how the release is called",
        "this is: Zr7kk92QpLm, that is : Zr7kk92QpLm, raw: Zr7kk92QpLm, view - Zr7kk92QpLm",
        "<input type=\"text\" value=\"Zr7!kk92_Qp\">",
        "<input type=\"text\" name=\"user\" key=\"7\" value=\"Zr7!kk92_Qp\">",
        "\u{1b}[32mok\u{1b}[0m 12 passed, \u{1b}[1;31mghp_\u{1b}[0m is a beginning",
    ] {
        check_kept(text);
    }
}

#[test]
fn a_token_that_goes_on_in_the_next_line_goes_whole() {
    let (token, value) = (format!("ghp_{}", plain(36)), plain(32));
    let whole = clean(&token);
    for at in [5, 20, 39] {
        for gap in ["\\\n", "\\\r\n"] {
            let text = format!("export A=1; X='{}{gap}{}'\n", &token[..at], &token[at..]);
            assert_eq!(clean(&text), format!("export A=1; X='{whole}'\n"));
            assert_eq!(clean(&clean(&text)), clean(&text));
        }
    }
    // Its first half was drawn as well.
    let (first, second) = value.split_at(15);
    check_secret("A=\\\n1 PASSWORD=", &format!("{first}\\\n{second}"), "\nB=2\\\n3", "password");
    for text in [
        format!("docker run \\\n  -e A=1 \\\n  image:{}", hex(12)),
        format!("sha256:{}\\\n{}", hex(30), hex(34)),
        "gcc -O2 foo\\\nbar.c; echo aaaaaaaaaaaaaaaaaaaa\\\nbbbbbbbbbbbbbbbbbbbbb1".to_owned(),
    ] {
        check_kept(&text);
    }
}

#[test]
fn secrets_that_overlap_where_a_line_goes_on_all_go() {
    let line = plain(64);
    let key = format!("-----BEGIN PRIVATE KEY-----\n{line}\n{line}\n-----END PRIVATE KEY-----");
    let password = "PASSWORD=Zr7kk92QpLmN4x";
    let (half, token) = ("ghp_Zr7kk92QpLmN4xTb83WqVd5s", format!("acmelivekeys_{}", plain(40)));
    for gap in ["\\\n", "\\\r\n"] {
        // A shell has the password end with the first word of the key.
        let cleaned = clean(&format!("{password}{gap}{key}\n"));
        assert_eq!(cleaned, format!("{}{}\n", clean(password), clean(&key)));
        assert_eq!(clean(&cleaned), cleaned);
        // The name of the second token would be the end of the first.
        let cleaned = clean(&format!("{half}{gap}{token}\n"));
        assert!(cleaned.starts_with("[secret:github-token:"), "{cleaned}");
        assert!(cleaned.ends_with(&format!("]{}\n", clean(&token))), "{cleaned}");
        assert!(!cleaned.contains("Zr7kk92"), "{cleaned}");
        assert_eq!(clean(&cleaned), cleaned);
    }
}

/// Where secrets begin and end.
type Places<'a> = &'a [(usize, usize)];

#[track_caller]
fn check_joined(in_lines: Places, joined: Places, expect: Places) {
    let found = |places: Places| -> Vec<Found> {
        places.iter().map(|(start, end)| Found { kind: "token", range: *start..*end }).collect()
    };
    let text = format!("{}\\\n{}", "x".repeat(20), "x".repeat(30));
    assert_eq!(with_larger(&text, found(in_lines), found(joined)), found(expect));
}

#[test]
fn a_whole_takes_the_place_of_its_halves_and_is_cut_where_it_only_overlaps() {
    check_joined(&[(0, 5), (9, 14)], &[(0, 5), (9, 14)], &[(0, 5), (9, 14)]);
    check_joined(&[(5, 10)], &[(0, 3), (14, 25)], &[(0, 3), (5, 10), (14, 25)]);
    check_joined(&[(10, 15), (22, 30), (31, 40)], &[(10, 30)], &[(10, 30), (31, 40)]);
    check_joined(&[(10, 30)], &[(15, 25)], &[(10, 30)]);
    check_joined(&[(10, 15), (24, 50)], &[(10, 30)], &[(10, 24), (24, 50)]);
    check_joined(&[(0, 12)], &[(10, 30)], &[(0, 12), (12, 30)]);
    check_joined(&[(0, 12), (24, 50)], &[(10, 30)], &[(0, 12), (12, 24), (24, 50)]);
    check_joined(&[(10, 20), (22, 40)], &[(15, 30)], &[(10, 20), (22, 40)]);
}

#[test]
fn what_is_allowed_stays_and_the_switch_turns_it_off() {
    let secret = format!("ghp_{}", plain(36));
    let mark = clean(&secret);
    for allowed in [secret.clone(), mark] {
        let policy = SecretPolicy { is_off: false, allowed: vec![allowed] };
        assert_eq!(without_secrets(&secret, &policy).text, secret);
    }
    let off = SecretPolicy { is_off: true, allowed: Vec::new() };
    assert_eq!(without_secrets(&secret, &off).text, secret);
}

#[test]
fn a_text_is_known_again_however_its_secrets_were_kept() {
    let (token, password) = (format!("ghp_{}", plain(36)), "Tr0ub4dor&3x");
    let text = format!(
        "export GH={token}; the password is {password}\ncurl -u me:{password} \
         https://me:{password}@host/x -H \"Authorization: Bearer {token}\" pwd='{password}'"
    );
    let known_by = clean(&text);
    assert!(!known_by.contains(&token) && !known_by.contains(password), "{known_by}");
    for policy in [
        SecretPolicy { is_off: true, allowed: Vec::new() },
        SecretPolicy { is_off: false, allowed: vec![token] },
        SecretPolicy { is_off: false, allowed: vec![password.to_owned()] },
        SecretPolicy::default(),
    ] {
        let kept = without_secrets(&text, &policy);
        assert!(kept.has_secret);
        assert_eq!(clean(&kept.text), known_by, "{policy:?}");
    }
    assert!(!without_secrets("no secret", &SecretPolicy::default()).has_secret);
}

#[test]
fn a_text_made_to_keep_us_busy_is_read_in_linear_time() {
    // Were it quadratic, this would take minutes.
    for piece in [
        "-u ",
        "eyJ.eyJ.",
        "password=",
        "sk-ant-",
        "-----BEGIN ",
        "a://b:",
        "whsec_=",
        "define('",
        "Private-Lines:",
        "key:",
        " token",
        "a\\\n",
        "password:\n",
        "password — ",
        "密码-",
        "\u{1b}[1",
        "is:",
        "password for ",
        "password for a is Zr7kk92QpLmN4x:",
        "| password ",
        "password\t",
        "a:5:b:Zr7kk92QpLmN4x:",
        "é to ",
        "identified by '",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        assert!(secrets_in(&text).len() < 10, "{piece}");
    }
    // Nor does it matter how much is found, by which rules.
    let n = 20_000;
    for (before, piece) in [
        ("a\\\nb\n", "password=Zr7!kk92_Qp\n"),
        ("", "PASSWORD=Zr7kk92QpLmN4x\\\nabc\n"),
        ("", "setPassword(\"Zr7!kk92_Qp\")\n"),
    ] {
        let text = format!("{before}{}", piece.repeat(n));
        assert_eq!(secrets_in(&text).len(), n, "{piece}");
    }
}
