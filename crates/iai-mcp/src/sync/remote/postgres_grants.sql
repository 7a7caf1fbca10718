-- What a member of any vault may do; which rows it concerns is said by the policies.
-- Nobody deletes, and of an entry only the payload may change.
grant usage on schema iai_sync to iai_sync_member;
grant select on iai_sync.schema_version, iai_sync.vault, iai_sync.member to iai_sync_member;
grant select, insert on iai_sync.head, iai_sync.entry to iai_sync_member;
grant update (counter, hash) on iai_sync.head to iai_sync_member;
grant update (payload) on iai_sync.entry to iai_sync_member;
grant execute on all functions in schema iai_sync to iai_sync_member;
