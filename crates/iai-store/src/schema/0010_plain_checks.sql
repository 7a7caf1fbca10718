-- The checks of the busiest tables, saying the same in other words: for a list of three or more,
-- SQLite builds a table of its own at every insertion, which cost more than the rest of the checks.
-- Only the wording changes, no row: the way SQLite's manual gives for that.

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(replace(sql,
    'tier IN (''working'', ''episodic'', ''semantic'', ''procedural'', ''parametric'')',
    'tier = ''episodic'' OR tier = ''semantic'' OR tier = ''working'' OR tier = ''procedural''
               OR tier = ''parametric'''),
    'role IN (''user'', ''assistant'', ''system'')',
    'role = ''user'' OR role = ''assistant'' OR role = ''system''')
 WHERE type = 'table' AND name = 'memory';

UPDATE sqlite_schema SET sql = replace(sql,
    'role IN (''entity'', ''file'', ''command'', ''tool'', ''lang'')',
    'role = ''entity'' OR role = ''file'' OR role = ''command'' OR role = ''tool'' OR role = ''lang''')
 WHERE type = 'table' AND name = 'attribute';

UPDATE sqlite_schema SET sql = replace(sql,
    'kind IN (''temporal_next'', ''similar'', ''near_duplicate'', ''hebbian'', ''contradicts'',
                        ''consolidated_from'', ''schema_instance_of'', ''entity_shared'')',
    'kind = ''similar'' OR kind = ''near_duplicate'' OR kind = ''hebbian'' OR kind = ''contradicts''
               OR kind = ''consolidated_from'' OR kind = ''temporal_next''
               OR kind = ''schema_instance_of'' OR kind = ''entity_shared''')
 WHERE type = 'table' AND name = 'link';

-- Other connections notice by the schema's version, which only a change of tables moves.
CREATE TABLE checks_reworded (one INTEGER) STRICT;
DROP TABLE checks_reworded;
PRAGMA writable_schema = RESET;
