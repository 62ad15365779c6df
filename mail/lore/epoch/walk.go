package epoch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// entry is what one commit did: it brought a mail, or took one back.
type entry struct {
	commit   string
	received time.Time // the committer date: when the archive got the mail
	blob     string    // the mail
	deleted  bool
}

// emptyBlob is what public-inbox-purge leaves of a mail, in SHA-1 and SHA-256.
func emptyBlob(blob string) bool {
	return blob == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" ||
		blob == "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
}

// walk visits the commits of range_ (a commit, or A..B), the oldest first. A
// mail is the file m of its commit, one that is taken back the file d.
func (r repository) walk(ctx context.Context, range_ string, visit func(entry) error) error {
	return r.stream(ctx, func(output io.Reader) error { return readLog(output, visit) },
		"log", "--reverse", "--format=commit %H %ct", "--raw", "--no-abbrev", "--no-renames", "--root", "--no-show-signature", "--no-notes", "--no-mailmap", range_, "--", "m", "d")
}

func readLog(log io.Reader, visit func(entry) error) error {
	lines := bufio.NewScanner(log)
	var current entry
	done := func() error {
		if current.commit == "" {
			return nil
		}
		return visit(current)
	}
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "commit "); ok {
			if err := done(); err != nil {
				return err
			}
			commit, at, _ := strings.Cut(rest, " ")
			seconds, err := strconv.ParseInt(at, 10, 64)
			if err != nil || !isObject(commit) {
				return fmt.Errorf("git log printed %.80q", line)
			}
			current = entry{commit: commit, received: time.Unix(seconds, 0).UTC()}
			continue
		}
		// :100644 100644 OLD NEW M\tm
		change, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(change)
		if !ok || len(fields) != 5 || fields[4] == "D" || (path != "m" && path != "d") {
			continue
		}
		if !isObject(fields[3]) {
			return fmt.Errorf("git log printed %.80q", line)
		}
		current.blob, current.deleted = fields[3], path == "d"
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read git log: %w", err)
	}
	return done()
}

func isObject(name string) bool {
	return (len(name) == 40 || len(name) == 64) && strings.Trim(name, "0123456789abcdef") == ""
}
