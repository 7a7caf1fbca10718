//! Programs developers run, and what is said to them: enough to know a command among words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::text::words;

/// Programs that do many things, and the words that say which. In code any word may follow; in
/// prose only these tell a command from a sentence.
const SUBCOMMANDS: &[(&str, &str)] = &[
    (
        "cargo",
        "add audit bench build check clean clippy deny doc fetch fix fmt init insta install \
         llvm-cov machete metadata miri nextest publish remove run sqlx tarpaulin test tree update \
         watch xtask",
    ),
    (
        "npm pnpm yarn bun",
        "add audit build ci create dedupe dev dlx exec init install link lint list outdated pack \
         publish remove run start test uninstall update upgrade why x",
    ),
    ("npx bunx uvx", ""),
    (
        "make just rake nx turbo",
        "all bench build check ci clean coverage deploy dev dist docs down e2e fmt format generate \
         install lint migrate package release run seed serve setup start stop test tests typecheck \
         up verify watch",
    ),
    (
        "git",
        "add am apply bisect blame branch checkout cherry-pick clean clone commit config describe \
         diff fetch filter-repo gc grep init log ls-files merge mv pull push range-diff rebase \
         reflog remote reset restore revert rm show stash status submodule switch tag worktree",
    ),
    (
        "docker podman",
        "build buildx compose cp create exec images info inspect kill load login logs network ps \
         pull push restart rm rmi run save start stats stop swarm system tag top volume",
    ),
    ("docker-compose", "build down exec logs ps pull push restart run start stop up"),
    (
        "kubectl",
        "annotate apply attach cordon cp create delete describe diff drain edit exec explain \
         expose get label logs patch port-forward proxy rollout run scale top uncordon wait",
    ),
    (
        "helm",
        "create dependency diff get history install lint list package pull push repo rollback show \
         status template test uninstall upgrade",
    ),
    (
        "terraform tofu terragrunt pulumi",
        "apply destroy fmt graph import init output plan preview refresh show stack state taint up \
         validate workspace",
    ),
    ("go", "build clean doc env fix fmt generate get install list mod run test tool vet work"),
    (
        "flutter dart",
        "analyze attach build clean compile create devices doctor drive fix format gen-l10n \
         install pub run test upgrade",
    ),
    (
        "gradle gradlew",
        "assemble assembleDebug assembleRelease bootRun build check clean connectedAndroidTest \
         dependencies detekt installDebug ktlintCheck ktlintFormat lint publish run spotlessApply \
         tasks test",
    ),
    (
        "mvn mvnw",
        "clean compile dependency:tree deploy install package site spotless:apply spring-boot:run \
         test validate verify",
    ),
    ("uv", "add build export init lock pip publish remove run sync tool tree venv"),
    ("pip pip3 pipx", "check download freeze install list run show uninstall upgrade wheel"),
    (
        "poetry pdm hatch",
        "add build check config env export init install lock publish remove run shell show test \
         update version",
    ),
    ("conda mamba", "activate create env install list remove update"),
    ("ruff", "check format"),
    ("pre-commit", "autoupdate install run"),
    (
        "systemctl",
        "daemon-reload disable enable is-active is-enabled mask reload restart start status stop \
         unmask",
    ),
    (
        "apt apt-get brew dnf yum",
        "autoremove cleanup info install list purge reinstall remove search uninstall update \
         upgrade",
    ),
    ("gh", "api auth gist issue pr release repo run search workflow"),
    ("aws", "cloudformation ec2 ecr ecs eks iam lambda logs rds s3 s3api secretsmanager ssm sts"),
    ("gcloud", "app auth builds compute config container functions iam logging projects run sql"),
    ("az", "account acr aks deployment group keyvault login storage vm webapp"),
    ("rustup", "component default override show target toolchain update"),
    ("deno", "bench bundle check compile fmt install lint run task test"),
    ("dotnet", "add build clean ef format new nuget pack publish restore run test tool watch"),
    ("mix", "compile credo dialyzer format test"),
    ("rails", "console db:migrate db:rollback db:seed generate routes runner server test"),
    ("bundle composer gem", "add dump-autoload exec install lock outdated require update"),
    ("php", "artisan"),
    ("bazel", "build clean query run test"),
    ("sbt", "assembly clean compile run test"),
    ("swift zig", "build fmt init package run test"),
    (
        "firebase fly flyctl heroku netlify supabase vercel wrangler",
        "db deploy dev emulators link login logs migrate secrets serve start tail",
    ),
    ("alembic", "current downgrade history revision stamp upgrade"),
    ("nix", "build develop flake run shell"),
    ("iai-mcp", "doctor forget import list recall search setup status verify"),
];

/// Where the word behind the subcommand says what is done: `npm run build`, `go mod tidy`.
const CARRIERS: &[(&str, &str)] = &[
    ("npm pnpm yarn bun", "run exec dlx x"),
    ("uv", "run pip tool"),
    ("poetry pdm hatch pipx deno pre-commit", "run"),
    ("bundle", "exec"),
    ("cargo", "nextest sqlx xtask"),
    ("docker podman", "compose buildx"),
    ("kubectl", "rollout"),
    ("git", "bisect remote stash submodule worktree"),
    ("go", "mod work"),
    ("flutter dart", "build pub"),
    ("gh", "issue pr release repo run workflow"),
    ("dotnet", "ef"),
    ("php", "artisan"),
];

/// Programs that are a command by their name alone: who runs them says no more.
static LONE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "black ctest cypress eslint flake8 golangci-lint isort jest mypy phpstan phpunit \
         playwright pre-commit prettier pylint pyright pytest rspec rubocop ruff shellcheck tox \
         tsc vitest",
    )
});
/// Programs that are a command with something behind them.
static WITH_ARGUMENTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "ansible-playbook bash cat chmod chown cmake cp curl diff ffmpeg find gcc grep jq kill \
         less ls mkdir mongosh mv mysql node pg_dump pg_restore ping psql python python3 redis-cli \
         rg rm rsync rustc scp sed sqlite3 ssh tail tar tmux vim vite wget xargs",
    )
});
/// Programs with the name of an ordinary word: more must speak for a command.
const ORDINARY: &[&str] = &[
    "black", "cat", "diff", "find", "go", "just", "kill", "less", "make", "mix", "ping", "tail",
    "top",
];

static BY_PROGRAM: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| table(SUBCOMMANDS));
static CARRIER: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| table(CARRIERS));

fn table(
    rows: &'static [(&'static str, &'static str)],
) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let each = |(programs, then): &(&'static str, &'static str)| {
        let then = words(then);
        programs.split_whitespace().map(move |program| (program, then.clone())).collect::<Vec<_>>()
    };
    rows.iter().flat_map(each).collect()
}

/// Tells whether the program does many things, so that the next word says which.
pub(super) fn has_subcommands(program: &str) -> bool {
    BY_PROGRAM.contains_key(program)
}

/// Tells whether the program is known to do this.
pub(super) fn has_subcommand(program: &str, word: &str) -> bool {
    BY_PROGRAM.get(program).is_some_and(|known| known.contains(word))
}

/// Tells whether the word behind the subcommand says what is done.
pub(super) fn is_carrier(program: &str, subcommand: &str) -> bool {
    CARRIER.get(program).is_some_and(|known| known.contains(subcommand))
}

/// Tells whether the program only runs the one that is named behind it.
pub(super) fn is_runner(program: &str, subcommand: &str) -> bool {
    match program {
        "npx" | "bunx" | "uvx" => true,
        "uv" | "poetry" | "pdm" | "hatch" | "pipx" => subcommand == "run",
        "npm" | "pnpm" | "yarn" | "bun" | "bundle" => {
            matches!(subcommand, "exec" | "dlx" | "x")
        }
        _ => false,
    }
}

/// Tells whether the name alone is a command.
pub(super) fn is_lone(program: &str) -> bool {
    LONE.contains(program)
}

/// Tells whether the program is known to be one.
pub(super) fn is_program(program: &str) -> bool {
    has_subcommands(program) || is_lone(program) || WITH_ARGUMENTS.contains(program)
}

/// Tells whether the program is called like something else.
pub(super) fn is_ordinary(program: &str) -> bool {
    ORDINARY.contains(&program)
}
