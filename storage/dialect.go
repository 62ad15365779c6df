package storage

import "strings"

// dialect is what differs between the databases. Queries are written with $1, $2 …
// once each and in order, which both understand.
type dialect struct {
	name  string
	types *strings.Replacer // in migrations
	lock  string            // holds other programs off while migrating; "" when the transaction does
}

var sqlite = dialect{
	name:  "sqlite",
	types: strings.NewReplacer("{id}", "INTEGER PRIMARY KEY AUTOINCREMENT", "{bytes}", "BLOB"),
}
