package storage

import (
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// dialect is what differs between the databases. Queries are written with $1, $2 …
// in order, which both understand.
type dialect struct {
	driver string
	types  *strings.Replacer // in migrations
	// migrating and taking make a transaction wait for the others that do the same.
	// Empty where there is one writer at a time anyway.
	migrating, taking string
}

var sqlite = dialect{
	driver: "sqlite",
	types:  strings.NewReplacer("{id}", "INTEGER PRIMARY KEY AUTOINCREMENT", "{bytes}", "BLOB"),
}

// postgres. The numbers of the locks mean nothing, but must differ. Mails are taken
// one batch after another: a number that was given first but committed last would be
// passed over by who follows the numbers.
var postgres = dialect{
	driver:    "pgx",
	types:     strings.NewReplacer("{id}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "{bytes}", "BYTEA"),
	migrating: "SELECT pg_advisory_xact_lock(8573140001)",
	taking:    "SELECT pg_advisory_xact_lock(8573140002)",
}
