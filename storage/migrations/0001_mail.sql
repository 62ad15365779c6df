-- Mails as they were taken from the sources. The words {id} and {bytes} stand for
-- what the two databases call differently (dialect.go). Times are Unix seconds, 0
-- for unknown.

-- One row per content. raw is empty once the mail was purged.
CREATE TABLE messages (
	id       {id},
	content  {bytes} NOT NULL UNIQUE, -- SHA-256 of the raw mail
	raw      {bytes} NOT NULL,        -- zstd
	size     BIGINT NOT NULL,         -- of the raw mail, in bytes
	received BIGINT NOT NULL,         -- by the source, as far as it says
	taken    BIGINT NOT NULL
);

-- An id can have several contents (a mail sent again, changed), a content several ids.
CREATE TABLE message_ids (
	message_id TEXT NOT NULL,
	message    BIGINT NOT NULL REFERENCES messages (id),
	PRIMARY KEY (message_id, message)
);
CREATE INDEX message_ids_of ON message_ids (message);

-- Where a content was seen: the list that a mail came through decides about the
-- tree and about who gets an answer.
CREATE TABLE sightings (
	message BIGINT NOT NULL REFERENCES messages (id),
	source  TEXT NOT NULL,
	origin  TEXT NOT NULL,
	PRIMARY KEY (message, source)
);

-- What a source took back. By content, not by message: it may never have been taken.
CREATE TABLE deletions (
	content {bytes} NOT NULL,
	source  TEXT NOT NULL,
	purged  BOOLEAN NOT NULL,
	at      BIGINT NOT NULL,
	PRIMARY KEY (content, source)
);

CREATE TABLE cursors (
	source TEXT NOT NULL PRIMARY KEY,
	cursor TEXT NOT NULL,
	at     BIGINT NOT NULL
);
