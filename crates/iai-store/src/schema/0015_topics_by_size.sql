-- The largest topics of a project are read at the beginning of every session, in this order.

CREATE INDEX topic_by_size ON topic (project, n_members DESC, number) WHERE n_members > 0;
