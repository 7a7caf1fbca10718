//! Secrets told in sentences and tables, and as many sentences and tables that tell none.

use super::tests::{check_kept, check_secret, plain};

/// Drawn: letters and digits, often another kind.
const DRAWN: &str = "Zr7kk92QpLmN4xTb8s";

#[test]
fn a_name_tells_of_a_value_though_words_lie_between() {
    for (before, after, kind) in [
        ("the root password for staging is ", "", "password"),
        ("password for staging: ", "", "password"),
        ("the db password on prod: ", "", "password"),
        ("The admin password of the router is ", ".", "password"),
        ("api key for stripe test account is ", "", "named-secret"),
        ("here is the API key you asked for: ", "", "named-secret"),
        ("Password for the staging database = ", "", "password"),
        ("the secret for the webhook is ", "", "named-secret"),
        ("my API token for GitHub is ", ", keep it", "named-secret"),
        ("the passphrase for the backup is ", "\n", "named-secret"),
        ("das Passwort für Staging lautet ", "", "password"),
        ("Passwort für die Datenbank: ", "", "password"),
        ("das Kennwort vom Server ist ", "", "password"),
        ("Der geheime Schlüssel für AWS lautet ", "", "password"),
        ("le mot de passe de la base est ", "", "password"),
        ("mot de passe pour staging : ", "", "password"),
        ("la contraseña del servidor es ", "", "password"),
        ("contraseña de staging: ", "", "password"),
        ("a senha do banco é ", "", "named-secret"),
        ("senha do banco: ", "", "named-secret"),
        ("la password è ", "", "password"),
        ("la password del database è ", "", "password"),
        ("het wachtwoord is ", "", "named-secret"),
        ("het wachtwoord voor staging is ", "", "named-secret"),
        ("hasło: ", "", "password"),
        ("hasło to ", "", "password"),
        ("hasło do bazy: ", "", "password"),
        ("şifre: ", "", "password"),
        ("veritabanı şifresi: ", "", "password"),
        ("parola: ", "", "named-secret"),
        ("пароль от базы: ", "", "password"),
        ("пароль для стейджинга — ", "", "password"),
        ("パスワード：", "", "password"),
        ("パスワードは「", "」です", "password"),
        ("密码是「", "」", "password"),
        ("密码：“", "”", "password"),
        ("password (staging): ", "", "password"),
        ("password → ", "", "password"),
        ("the wifi password at the office is ", "", "password"),
        ("Password for deploy@prod: ", "", "password"),
        ("voici le mot de passe pour la prod : ", "", "password"),
        ("la password per lo staging è: ", "", "password"),
        ("пароль от админки это ", "", "password"),
        ("hasło do serwera to ", "", "password"),
        ("het wachtwoord van de database is ", "", "named-secret"),
    ] {
        check_secret(before, DRAWN, after, kind);
    }
    check_secret("le mot de passe est ", "Zr7kkQpL!", "", "password");
}

#[test]
fn values_have_cells_of_their_own() {
    let (aws_id, aws_secret) = ("AKIAQ3EGR7TNXW5HLZ2M", plain(40));
    for (before, after) in [
        ("| DB_PASSWORD | ", " |"),
        ("| Name | Value |\n|---|---|\n| `DB_PASSWORD` | `", "` |\n"),
        ("DB_PASSWORD\t", ""),
        ("user\tadmin\npassword\t", "\n"),
        ("db_pw: ", ""),
        ("DB_PW=", "\n"),
        ("db_admin_pw = \"", "\""),
        ("CREATE USER app IDENTIFIED BY '", "';"),
        ("alter user 'root'@'localhost' identified by '", "';"),
        ("IDENTIFIED WITH mysql_native_password BY '", "'"),
        ("db.internal:5432:app:app_user:", ""),
        ("# hosts\n*:*:*:postgres:", "\n"),
    ] {
        check_secret(before, DRAWN, after, "password");
    }
    let csv = super::all_marked(&format!("id,secret\n{aws_id},{aws_secret}\n")).into_owned();
    assert!(!csv.contains(&aws_secret[..8]) && csv.matches("[secret:").count() == 2, "{csv}");
    // A token of which the last letter is a dash.
    for token in [format!("glpat-{}-", plain(19)), format!("AIza{}-", plain(34))] {
        let kind = if token.starts_with('g') { "gitlab-token" } else { "google-key" };
        check_secret("use ", &token, ", please", kind);
    }
}

/// What has the shape of the rules, and no secret in it.
const KEPT: &[&str] = &[
    "the password for staging is in 1Password",
    "the password for the demo is required",
    "The password for the staging environment is stored in Vault under kv/staging",
    "password for staging: ask ops",
    "Password for user: must be 8 characters",
    "the root password for staging is the same as for dev",
    "API key for stripe: see the wiki",
    "the API key you asked for: I sent it by mail",
    "Password for the database: changeme",
    "password policy for admins: MinLength12AndDigits",
    "the token for CI is created in GitHub settings",
    "password reset for account42: done",
    "the secret for good code: tests",
    "The key for the map is MapKey2Value",
    "password field on login page: PasswordField1",
    "the password of User1: unchanged",
    "hasło: wymagane",
    "şifre: zorunlu",
    "parola: obbligatoria",
    "la password è obbligatoria",
    "wachtwoord is verplicht",
    "a senha do banco é obrigatória",
    "пароль от базы: в 1Password",
    "パスワード：必須",
    "パスワードは8文字以上です",
    "密码：必填",
    "| DB_PASSWORD | required |",
    "| DB_PASSWORD | string | the password of the database |",
    "| password | yes | no |",
    "| API_KEY | env | see README |",
    "DB_PASSWORD\tstring\trequired",
    "| token | 7f3a9c | ok |",
    "| commit | 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c |",
    "| id | a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d |",
    "Password\nPasswordConfirmation",
    "Password\nForgot your password?",
    "db_pw: $DB_PW",
    "DB_PW=${DB_PW}",
    "const pw = await read()",
    "show_pw: true",
    "IDENTIFIED BY password",
    "IDENTIFIED BY RANDOM PASSWORD",
    "CREATE USER app IDENTIFIED BY 'password';",
    "identified by 'your_password_here'",
    "this is identified by 'UserId42' in the log",
    "10.0.0.1:5432:tcp:open:ServiceName1",
    "2026-11-17 10:20:30:INFO:Module1",
    "a:b:c:d:e",
    "src/main.rs:12:5:warning:UnusedVariable1",
    "http -a flag:verbose",
    "WIFI:S:home;T:nopass;;",
    "Access key ID,Secret access key\nsee the console, it shows them once",
    "uuid for staging: a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d",
    "sha256 for the release: 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "the commit for the password fix is 9f8e7d6c5b4a39281706",
    "password fix for staging: commit 9f8e7d6c5b4a",
    "fix the password check for OAuth2Client: done in PR1234",
    "the password hash for User is Argon2id",
    "the password check in LoginForm2 is AuthService1.verify",
    "password for staging: see AuthConfig2Test",
    "the token count for GPT4 is Max8192Tokens",
    "the api key for tests is test-key-1",
    "the password for tests is hunter2",
    "glpat-xxxxxxxxxxxxxxxxxxx-",
    "see AIza-style keys",
    "パスワードは「必須」です",
    "密码是「必填」项",
    "the secret manager for prod: AwsSecretsManager2",
    "api key rotation for stripe: every 90Days",
    "the password manager we use is 1Password7",
    "token endpoint for OAuth2: /oauth2/v1/token",
    "the password for staging is set by TF_VAR_db_password",
    "for the password: use Argon2id with 64MiB",
    "le mot de passe est obligatoire!",
    "das Passwort für Staging liegt im Vault",
    "la contraseña del servidor es la misma",
    "mot de passe pour staging : voir le wiki",
    "password input: type=password",
    "the password is `process.env.DB_PASSWORD`",
    "key for cache: user:42:profile",
    "secret for HMAC: config.hmacSecret",
    "MD5 for file.zip: 900150983cd24fb0d6963f7d28e17f72",
    "The password you need is in the vault under Staging2",
    "new password for the admin account: sent by mail",
    "I changed the password of the CI user to something longer",
    "Use this API key for the sandbox: the one from yesterday",
    "password (staging): see Confluence",
    "the access token for the bot = getToken(BotId2)",
    "the tokens for GPT4o are counted by TikToken2",
    "|API_TOKEN|required|yes|",
    "| token | TokenType2 | enum |",
    "SECRET_KEY\tstring\tmust be 32Bytes",
    "CREATE ROLE app LOGIN PASSWORD 'password';",
    "passwords for users: hashed with Argon2id",
    "key for lookups in RedisCache2: UserId42Key",
    "the secret of success is PracticeMakes2Perfect",
    "token of type JsonToken2: StartObject1",
    "password for i18n: messages.en.PasswordLabel2",
    "the password for SHA256Crypt: see RFC7617",
    "secret in k8s: MySecret2Name",
    "the token for React18: useToken2Hook",
    "http://host:8080:a:b:C1d2E3f4G5h6",
];

#[test]
fn sentences_and_tables_that_tell_no_secret_are_kept() {
    KEPT.iter().for_each(|text| check_kept(text));
}
