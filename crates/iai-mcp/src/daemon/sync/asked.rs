//! What people ask about vaults: begin, invite, join, look, put out, leave.

use std::collections::BTreeMap;
use std::time::Duration;

use iai_memory::{MemoryEngine, SyncProject, VaultInvite, VaultKind, VaultView};
use iai_sync::{
    Invitation, InvitationCode, MachineId, Remote as _, RemoteError, SyncKey, VaultId, VaultKeys,
    from_words, qr, random, to_words,
};
use iai_wire::code;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Syncing, draw_identity};
use crate::clock;
use crate::daemon::handlers::Failure;
use crate::fields::Fields as _;
use crate::sync::remote;

/// An invitation is good for so long, unless somebody says otherwise …
const INVITATION_MINUTES: u64 = 15;
/// … and never longer than this.
const INVITATION_MINUTES_MAX: u64 = 24 * 60;

/// How long a question waits for an exchange; whoever wants to know asks again.
const PATIENCE: Duration = Duration::from_secs(5);

type Answer = Result<Value, Failure>;

/// Answers a question about vaults; none when it is about something else.
pub(in crate::daemon) fn answer(
    syncing: &Syncing,
    engine: &MemoryEngine,
    method: &str,
    params: &Value,
) -> Option<Answer> {
    Some(match method {
        "sync_status" => status(syncing, engine, params),
        "sync_now" => now(syncing),
        "sync_preview" => preview(engine, params),
        "sync_setup" => set_up(syncing, engine, params),
        "sync_invite" => invite(engine, params),
        "sync_join" => join(syncing, engine, params),
        "sync_share" => share(syncing, engine, params),
        "sync_rotate" => rotate(syncing, engine, params),
        "sync_leave" => leave(engine, params),
        _ => return None,
    })
}

/// Tells how the vaults are; with `number`, once that exchange is done or some time has passed.
fn status(syncing: &Syncing, engine: &MemoryEngine, params: &Value) -> Answer {
    if let Some(number) = params.at("number").as_u64() {
        syncing.shared.wait_for(number, PATIENCE);
    }
    let status = engine.sync_status()?;
    let mut told = json!(status);
    let views = told.get_mut("vaults").and_then(Value::as_array_mut);
    let state = syncing.shared.state();
    for (view, vault) in views.into_iter().flatten().zip(&status.vaults) {
        view.set("address", remote::shown(&vault.address));
        view.set("last", json!(state.last.get(&vault.id)));
    }
    told.set("rung", state.n_rung);
    told.set("done", state.n_done);
    Ok(told)
}

fn now(syncing: &Syncing) -> Answer {
    Ok(json!({"number": syncing.run().map_err(|error| failed(&error))?}))
}

fn preview(engine: &MemoryEngine, params: &Value) -> Answer {
    let paths: Vec<String> = projects_of(params).into_iter().map(|project| project.path).collect();
    Ok(json!(engine.sync_preview(kind_of(params)?, &paths)?))
}

fn set_up(syncing: &Syncing, engine: &MemoryEngine, params: &Value) -> Answer {
    let kind = kind_of(params)?;
    let projects = projects_of(params);
    if kind == VaultKind::Team && projects.is_empty() {
        let why = "a team's vault needs at least one project: `--project NAME=PATH`";
        return Err(Failure::new(code::BAD_PARAMS, why));
    }
    let id = VaultId::from_random(random().map_err(|error| no_randomness(&error))?);
    let key = SyncKey::from_bytes(random().map_err(|error| no_randomness(&error))?);
    let prepared =
        remote::set_up(&text(params, "address")?, id).map_err(|error| no_remote(&error))?;
    let name = text(params, "name")?;
    let invite = VaultInvite {
        id,
        name: name.clone(),
        kind,
        address: prepared.address.clone(),
        keys: VaultKeys::founded(key.clone()),
        projects,
    };
    engine.sync_add_vault(&invite, draw_identity(text(params, "machine")?)?, clock::now())?;
    syncing.run().map_err(|error| failed(&error))?;
    Ok(json!({
        "vault": name,
        "id": id.to_string(),
        "address": remote::shown(&prepared.address),
        "notes": prepared.notes,
        "words": to_words(&key).as_str(),
    }))
}

fn invite(engine: &MemoryEngine, params: &Value) -> Answer {
    let vault = vault_of(engine, params)?;
    let minutes = params.at("minutes").as_u64().unwrap_or(INVITATION_MINUTES);
    let minutes = i64::try_from(minutes.clamp(1, INVITATION_MINUTES_MAX)).unwrap_or(1);
    let until = clock::now() + SignedDuration::from_mins(minutes);
    let code = InvitationCode::from_random(random().map_err(|error| no_randomness(&error))?);
    let sealed = engine
        .sync_invitation(vault.number, until.as_millisecond())?
        .seal(&code, random().map_err(|error| no_randomness(&error))?);
    let mut place = remote::open(&vault.address).map_err(|error| no_remote(&error))?;
    place
        .put_invitation(&code.name_at_remote(), &sealed, until.as_millisecond())
        .map_err(|error| no_remote(&error))?;
    let code = code
        .with_remote(&vault.address)
        .map_err(|error| Failure::new(code::FAILED, error.to_string()))?;
    let text = code.to_text();
    Ok(json!({
        "vault": vault.name,
        "code": text.as_str(),
        "picture": qr(&code.to_scan()),
        "good_until": until.to_string(),
    }))
}

fn join(syncing: &Syncing, engine: &MemoryEngine, params: &Value) -> Answer {
    let invite = match params.at("code").as_str() {
        Some(code) => invited(code, params)?,
        None => remembered(params)?,
    };
    engine.sync_add_vault(&invite, draw_identity(text(params, "machine")?)?, clock::now())?;
    syncing.run().map_err(|error| failed(&error))?;
    let projects: BTreeMap<&str, &str> =
        invite.projects.iter().map(|known| (known.name.as_str(), known.path.as_str())).collect();
    Ok(json!({
        "vault": invite.name,
        "kind": invite.kind.as_str(),
        "address": remote::shown(&invite.address),
        "projects": projects,
    }))
}

/// Takes the invitation that a code leads to.
fn invited(code: &str, params: &Value) -> Result<VaultInvite, Failure> {
    let bad = |error: iai_sync::InvitationError| Failure::new(code::BAD_PARAMS, error.to_string());
    let code = InvitationCode::parse(code).map_err(bad)?;
    let address = params.at("address").as_str().or(code.remote()).ok_or_else(|| {
        Failure::new(code::BAD_PARAMS, "this code is without an address: say `--address`")
    })?;
    let now_ms = clock::now().as_millisecond();
    let mut place = remote::open(address).map_err(|error| no_remote(&error))?;
    let sealed =
        place.take_invitation(&code.name_at_remote(), now_ms).map_err(|error| no_remote(&error))?;
    let sealed = sealed.ok_or_else(|| {
        let why = "there is no such invitation: it was used or has expired; ask for another";
        Failure::new(code::FAILED, why)
    })?;
    let invitation = Invitation::open(&code, &sealed, now_ms).map_err(bad)?;
    let here = projects_of(params);
    let (kind, projects) = match invitation.kind {
        iai_sync::VaultKind::Personal => (VaultKind::Personal, Vec::new()),
        iai_sync::VaultKind::Team { projects } => {
            let placed = projects.into_iter().map(|name| placed(name, &here));
            (VaultKind::Team, placed.collect())
        }
    };
    Ok(VaultInvite {
        id: invitation.vault,
        name: params.at("name").as_str().map_or(invitation.name, str::to_owned),
        kind,
        address: address.to_owned(),
        keys: invitation.keys,
        projects,
    })
}

/// A project that nobody said where it is stands under its own name.
fn placed(name: String, here: &[SyncProject]) -> SyncProject {
    let known = here.iter().find(|project| project.name == name);
    let path = known.map_or_else(|| name.clone(), |project| project.path.clone());
    SyncProject { name, path }
}

/// Joins with the words that were written down, one key after the other.
fn remembered(params: &Value) -> Result<VaultInvite, Failure> {
    let bad = |why: String| Failure::new(code::BAD_PARAMS, why);
    let id = text(params, "vault")?;
    let id: VaultId = id.parse().map_err(|_| bad(format!("`{id}` is not the id of a vault")))?;
    let mut keys = VaultKeys::default();
    let words = params.at("words").as_array().map(Vec::as_slice).unwrap_or_default();
    for (epoch, words) in (1..).zip(words.iter().filter_map(Value::as_str)) {
        keys.insert(epoch, from_words(words).map_err(|error| bad(error.to_string()))?);
    }
    Ok(VaultInvite {
        id,
        name: text(params, "name")?,
        kind: kind_of(params)?,
        address: text(params, "address")?,
        keys,
        projects: projects_of(params),
    })
}

fn share(syncing: &Syncing, engine: &MemoryEngine, params: &Value) -> Answer {
    let vault = vault_of(engine, params)?;
    let projects = projects_of(params);
    for project in &projects {
        engine.sync_share(vault.number, project)?;
    }
    syncing.run().map_err(|error| failed(&error))?;
    Ok(json!({"vault": vault.name, "shared": projects.len()}))
}

fn rotate(syncing: &Syncing, engine: &MemoryEngine, params: &Value) -> Answer {
    let vault = vault_of(engine, params)?;
    let out = match params.at("machine").as_str() {
        None => None,
        Some(named) => Some(machine_of(&vault, named)?),
    };
    let epoch = engine.sync_rekey(vault.number, out, clock::now())?;
    let key = engine.sync_current_key(vault.number)?;
    syncing.run().map_err(|error| failed(&error))?;
    Ok(json!({"vault": vault.name, "key": epoch, "words": to_words(&key).as_str()}))
}

fn leave(engine: &MemoryEngine, params: &Value) -> Answer {
    let vault = vault_of(engine, params)?;
    engine.sync_leave(vault.number)?;
    Ok(json!({"vault": vault.name, "left": true}))
}

/// Finds the vault that is meant; the only one needs no name.
fn vault_of(engine: &MemoryEngine, params: &Value) -> Result<VaultView, Failure> {
    let vaults = engine.sync_status()?.vaults;
    let named = params.at("vault").as_str();
    let names: Vec<String> = vaults.iter().map(|vault| vault.name.clone()).collect();
    let mut meant = vaults
        .into_iter()
        .filter(|vault| named.is_none_or(|name| vault.name == name || vault.id.starts_with(name)));
    match (meant.next(), meant.next()) {
        (Some(vault), None) => Ok(vault),
        (None, _) if names.is_empty() => {
            let why = "there is no vault; `iai-mcp sync setup` begins one, `sync join` joins one";
            Err(Failure::new(code::FAILED, why))
        }
        _ => {
            let why = format!("say which vault: `--vault` {}", names.join(" or "));
            Err(Failure::new(code::BAD_PARAMS, why))
        }
    }
}

fn machine_of(vault: &VaultView, named: &str) -> Result<MachineId, Failure> {
    let fits = |name: &str, id: &str| name == named || id.starts_with(named);
    let mut meant = vault.machines.iter().filter(|machine| fits(&machine.name, &machine.id));
    let wrong = |why: &str| Failure::new(code::BAD_PARAMS, format!("`{named}` {why}"));
    match (meant.next(), meant.next()) {
        (Some(machine), None) => machine.id.parse().map_err(|_| wrong("has no id")),
        (None, _) => Err(wrong("is no machine of this vault; `iai-mcp sync status` lists them")),
        (Some(_), Some(_)) => Err(wrong("is several machines; say the beginning of an id")),
    }
}

fn kind_of(params: &Value) -> Result<VaultKind, Failure> {
    let word = params.at("kind").as_str().unwrap_or("personal");
    word.parse().map_err(|_| Failure::new(code::BAD_PARAMS, "`kind` is personal or team"))
}

fn projects_of(params: &Value) -> Vec<SyncProject> {
    let given = params.at("projects").as_object();
    let project = |(name, path): (&String, &Value)| {
        Some(SyncProject { name: name.clone(), path: path.as_str()?.to_owned() })
    };
    given.into_iter().flatten().filter_map(project).collect()
}

fn text(params: &Value, name: &str) -> Result<String, Failure> {
    let given = params.at(name).as_str().filter(|text| !text.trim().is_empty());
    given
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(code::BAD_PARAMS, format!("`{name}` is missing")))
}

fn no_remote(error: &RemoteError) -> Failure {
    Failure::new(code::FAILED, error.to_string())
}

fn no_randomness(error: &iai_sync::RandomError) -> Failure {
    Failure::new(code::INTERNAL, error.to_string())
}

fn failed(error: &anyhow::Error) -> Failure {
    Failure::new(code::FAILED, format!("{error:#}"))
}
