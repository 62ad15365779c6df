package mail

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// MaxDiff is the size of a diff, in bytes, above which it is not read, and refused.
const MaxDiff = 16 << 20

// ErrRefused is wrapped by the errors of Refuse.
var ErrRefused = errors.New("refused")

// Refuse says why a patch must not be given to `git am`; nil when it may be. It
// looks for what could write outside of the tree or into git's own files, or what
// no kernel patch needs: NUL bytes, symbolic links, submodules, absolute, `..` and
// quoted paths, `.git`, a diff that is too large or that could not be read. Errors
// wrap ErrRefused and name the file.
func (p *Patch) Refuse() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("patch %d (%s): %w: %w", p.Number, p.Title, ErrRefused, fmt.Errorf(format, args...))
	}
	if strings.IndexByte(p.Diff, 0) >= 0 || strings.IndexByte(p.Log, 0) >= 0 {
		return refuse("it has NUL bytes")
	}
	if p.DiffError != nil {
		return refuse("%w", p.DiffError)
	}
	if len(p.Files) == 0 {
		return refuse("it changes no file")
	}
	for _, line := range headerLines(p.Diff) {
		if strings.IndexByte(line, '"') >= 0 {
			return refuse("a file name is quoted: %.200s", line)
		}
		// Every name that the text has, and not only those that the parser
		// chose: git may choose another.
		for _, word := range strings.Fields(line)[1:] {
			if why := badPath(word); why != "" && word != os.DevNull {
				return refuse("the path %q %s", word, why)
			}
		}
	}
	for _, f := range p.Files {
		for _, mode := range []os.FileMode{f.OldMode, f.NewMode} {
			switch mode & 0o170000 {
			case 0, 0o100000:
			case 0o120000:
				return refuse("%s is a symbolic link", name(f.NewName, f.OldName))
			case 0o160000:
				return refuse("%s is a submodule", name(f.NewName, f.OldName))
			default:
				return refuse("%s has the mode %o", name(f.NewName, f.OldName), uint32(mode))
			}
		}
		for _, n := range []string{f.OldName, f.NewName} {
			if why := badPath(n); why != "" {
				return refuse("the path %q %s", n, why)
			}
		}
	}
	return nil
}

func name(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// headerLines returns the lines of a diff that name files. "--- " counts only with a
// "+++ " below it: otherwise it is a removed line.
func headerLines(diff string) []string {
	var lines []string
	last := ""
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\r\n")
		for _, prefix := range []string{"diff --git ", "rename ", "copy "} {
			if strings.HasPrefix(line, prefix) {
				lines = append(lines, line)
			}
		}
		if strings.HasPrefix(line, "+++ ") && strings.HasPrefix(last, "--- ") {
			for _, l := range []string{last, line} {
				l, _, _ = strings.Cut(l, "\t") // a date
				lines = append(lines, l)
			}
		}
		last = line
	}
	return lines
}

// badPath says what is wrong with a path in a diff; "" when nothing is.
func badPath(p string) string {
	if p == "" || p == os.DevNull {
		return ""
	}
	if path.IsAbs(p) || strings.HasPrefix(p, "~") {
		return "is absolute"
	}
	if strings.ContainsAny(p, "\\\"") {
		return "is quoted"
	}
	for _, c := range p {
		if c < ' ' || c == 0x7f {
			return "has control characters"
		}
	}
	for _, part := range strings.Split(p, "/") {
		switch lower := strings.ToLower(part); {
		case part == "..":
			return "leaves the tree"
		case lower == ".git" || strings.HasPrefix(lower, "git~"):
			return "is git's own"
		case lower == ".gitmodules" || lower == ".gitattributes":
			// .gitattributes can name filters and merge drivers of the
			// user's configuration; .gitmodules names repositories.
			if lower == ".gitmodules" {
				return "names submodules"
			}
		}
	}
	return ""
}
