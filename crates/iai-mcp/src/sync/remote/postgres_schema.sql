-- The first form of the schema. Forms that were released are followed, never edited.
-- A vault is the key of everything: tables can be spread over a cluster by it.

create schema iai_sync;
revoke all on schema iai_sync from public;

create table iai_sync.schema_version (
    only_row boolean primary key default true check (only_row),
    version integer not null,
    -- The oldest form that a program may know and still work with this one.
    oldest_known integer not null
);
insert into iai_sync.schema_version (version, oldest_known) values (1, 1);

create table iai_sync.vault (
    vault uuid primary key,
    made_at timestamptz not null default now()
);

create table iai_sync.member (
    role name not null,
    vault uuid not null references iai_sync.vault,
    primary key (role, vault)
);

-- How far each chain reaches, so that nobody counts entries. Rewritten with every batch: half of a
-- page stays free, and the new row lands beside the old one without touching the index.
create table iai_sync.head (
    vault uuid not null,
    machine uuid not null,
    counter bigint not null check (0 <= counter),
    hash bytea not null,
    primary key (vault, machine)
) with (fillfactor = 50);

-- Ciphertext does not get smaller, and is read in long runs: kept as it is, beside its row.
create table iai_sync.entry (
    vault uuid not null,
    machine uuid not null,
    counter bigint not null check (0 < counter),
    epoch bigint not null check (0 <= epoch),
    previous bytea not null check (octet_length(previous) = 32),
    digest bytea not null check (octet_length(digest) = 32),
    payload bytea check (octet_length(payload) <= 67108864),
    primary key (vault, machine, counter)
) with (toast_tuple_target = 8160);
alter table iai_sync.entry alter column payload set storage external;

create table iai_sync.invitation (
    name text primary key check (octet_length(name) <= 128),
    sealed bytea not null check (octet_length(sealed) <= 65536),
    expires_ms bigint not null
);

-- A role sees the vaults it is a member of. `array(select …)` is looked up once per statement,
-- not once per row.
alter table iai_sync.member enable row level security;
alter table iai_sync.vault enable row level security;
alter table iai_sync.head enable row level security;
alter table iai_sync.entry enable row level security;

create policy own on iai_sync.member for select using (role = current_user);
create policy own on iai_sync.vault for select using (
    vault = any (array(select m.vault from iai_sync.member m where m.role = current_user)));
create policy own on iai_sync.head using (
    vault = any (array(select m.vault from iai_sync.member m where m.role = current_user)));
create policy reads on iai_sync.entry for select using (
    vault = any (array(select m.vault from iai_sync.member m where m.role = current_user)));
create policy adds on iai_sync.entry for insert with check (
    vault = any (array(select m.vault from iai_sync.member m where m.role = current_user)));
-- An update takes a payload away; it never puts another one in its place.
create policy erases on iai_sync.entry for update using (
    vault = any (array(select m.vault from iai_sync.member m where m.role = current_user)))
    with check (payload is null);

-- Keeps entries that follow each other, all or none. IS001: the chain that is kept goes another
-- way, at the entry in the detail. IS002: it ends too early. IS003: no such vault for this role.
create function iai_sync.append(
    of_vault uuid,
    of_machine uuid,
    first bigint,
    epochs bigint[],
    previouses bytea[],
    digests bytea[],
    payloads bytea[],
    last_hash bytea
) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    n bigint := cardinality(epochs);
    last bigint := first + n - 1;
    n_new bigint;
    kept_counter bigint;
    kept_hash bytea;
    differing bigint;
begin
    if not exists (select from iai_sync.vault v where v.vault = of_vault) then
        raise exception 'no such vault' using errcode = 'IS003';
    end if;
    insert into iai_sync.head (vault, machine, counter, hash)
        values (of_vault, of_machine, 0, '') on conflict do nothing;
    -- Whoever else writes this chain waits here.
    select h.counter, h.hash into kept_counter, kept_hash from iai_sync.head h
        where h.vault = of_vault and h.machine = of_machine for update;
    if kept_counter + 1 < first then
        raise exception 'entries are missing' using errcode = 'IS002', detail = kept_counter;
    end if;
    if kept_counter + 1 = first and 0 < kept_counter and previouses[1] <> kept_hash then
        raise exception 'another chain' using errcode = 'IS001', detail = kept_counter;
    end if;
    insert into iai_sync.entry (vault, machine, counter, epoch, previous, digest, payload)
        select of_vault, of_machine, first + g.n - 1, g.epoch, g.previous, g.digest, g.payload
        from unnest(epochs, previouses, digests, payloads)
            with ordinality as g (epoch, previous, digest, payload, n)
        on conflict (vault, machine, counter) do nothing;
    get diagnostics n_new = row_count;
    if n_new < n then
        select min(e.counter) into differing
            from unnest(epochs, previouses, digests)
                with ordinality as g (epoch, previous, digest, n)
            join iai_sync.entry e on e.vault = of_vault and e.machine = of_machine
                and e.counter = first + g.n - 1
            where (e.epoch, e.previous, e.digest) is distinct from (g.epoch, g.previous, g.digest);
        if differing is not null then
            raise exception 'another chain' using errcode = 'IS001', detail = differing;
        end if;
    end if;
    if kept_counter < last then
        update iai_sync.head h set counter = last, hash = last_hash
            where h.vault = of_vault and h.machine = of_machine;
        -- A channel per vault: its name is a secret of those who are in it.
        perform pg_notify('iai_sync_' || replace(of_vault::text, '-', ''), of_machine::text);
    end if;
end $$;

-- Invitations are found by their names only; nobody can list them.
create function iai_sync.put_invitation(its_name text, its_sealed bytea, its_expires_ms bigint)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    delete from iai_sync.invitation
        where expires_ms <= extract(epoch from clock_timestamp()) * 1000;
    if 1000 <= (select count(*) from iai_sync.invitation) then
        raise exception 'too many invitations are open' using errcode = 'IS004';
    end if;
    insert into iai_sync.invitation (name, sealed, expires_ms)
        values (its_name, its_sealed, its_expires_ms)
        on conflict (name) do update
            set sealed = excluded.sealed, expires_ms = excluded.expires_ms;
end $$;

create function iai_sync.take_invitation(its_name text, now_ms bigint)
returns bytea language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    taken iai_sync.invitation;
begin
    delete from iai_sync.invitation where name = its_name returning * into taken;
    return case when now_ms < taken.expires_ms then taken.sealed end;
end $$;

revoke all on all functions in schema iai_sync from public;
