package kbuild

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// headerUse is what the touched headers of a series mean for the rest of the tree,
// the same for all targets.
type headerUse struct {
	headers []string            // touched
	names   map[string][]string // header -> what the series changes in it, sorted
	users   map[string][]user   // header -> sources that name something of that, most uses first
}

type user struct {
	source string
	uses   int
}

// headerUnits chooses the sources that include a touched header, directly or
// through others, and name something that the series changes in it. At most
// HeaderUnits of them, those with the most uses first, are added to the plan.
func (p *Base) headerUnits(ctx context.Context, plan *Plan, tip Tree, touched []string) error {
	var headers []string
	for _, name := range touched {
		if path.Ext(name) == ".h" && p.foreign(name) == "" {
			headers = append(headers, name)
		}
	}
	if len(headers) == 0 {
		return nil
	}
	use, err := p.b.headerUse(ctx, p.tree, tip, headers)
	if err != nil {
		return err
	}
	graph := &includeGraph{root: tip.Dir, arch: sourceArch(p.target), known: map[string][]string{}}
	left := p.b.HeaderUnits
	if left == 0 {
		left = defaultHeaderUnits
	}
	for i, header := range headers {
		var list []string
		for _, u := range use.users[header] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if p.foreign(u.source) == "" && !slices.Contains(plan.Units, u.source) && graph.includes(u.source, header) {
				list = append(list, u.source)
			}
		}
		// An equal share of what is left for each header.
		share := (left + len(headers) - i - 1) / (len(headers) - i)
		chosen, err := p.firstConfigured(ctx, tip, list, share)
		if err != nil {
			return err
		}
		left -= len(chosen)
		plan.Units = append(plan.Units, chosen...)
		if len(chosen) < len(list) && len(chosen) == share { // else the others are not in the configuration
			plan.Notes = append(plan.Notes, fmt.Sprintf("%s: of %d files that may include it and name %s, the first %d are compiled",
				header, len(list), someOf(use.names[header], 4), len(chosen)))
		}
	}
	return nil
}

// defaultHeaderUnits is the cap when Builder.HeaderUnits is 0.
const defaultHeaderUnits = 24

// firstConfigured returns the first n of sources that the target compiles.
func (p *Base) firstConfigured(ctx context.Context, tip Tree, sources []string, n int) ([]string, error) {
	var chosen []string
	for len(sources) > 0 && len(chosen) < n {
		batch := sources[:min(len(sources), 2*n)]
		sources = sources[len(batch):]
		off, err := p.configured(ctx, tip, batch)
		if err != nil {
			return nil, err
		}
		for _, source := range batch {
			if off[source].off == "" && len(chosen) < n {
				chosen = append(chosen, source)
			}
		}
	}
	return chosen, nil
}

func someOf(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" or %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}

// headerUse finds out what a series changes in headers and who names it, once for
// all targets.
func (b *Builder) headerUse(ctx context.Context, base, tip Tree, headers []string) (*headerUse, error) {
	key := base.Commit + ".." + tip.Commit + " " + strings.Join(headers, " ")
	b.scan.Lock()
	defer b.scan.Unlock()
	if b.scanned == key {
		return b.use, nil
	}
	use := &headerUse{headers: headers, names: map[string][]string{}, users: map[string][]user{}}
	all := map[string]bool{}
	for _, header := range headers {
		diff, err := git(ctx, tip.git(), "diff", "--no-ext-diff", "--no-color", "-U0", base.Commit, tip.Commit, "--", header)
		if err != nil {
			return nil, err
		}
		before, _ := os.ReadFile(filepath.Join(base.Dir, header))
		after, _ := os.ReadFile(filepath.Join(tip.Dir, header))
		use.names[header] = changedNames(diff, before, after)
		for _, name := range use.names[header] {
			all[name] = true
		}
	}
	if len(all) > 0 {
		found, err := b.findNames(ctx, tip.Dir, all)
		if err != nil {
			return nil, fmt.Errorf("searching %s: %w", tip.Dir, err)
		}
		for _, header := range headers {
			for source, uses := range found {
				n := 0
				for _, name := range use.names[header] {
					n += uses[name]
				}
				if n > 0 {
					use.users[header] = append(use.users[header], user{source, n})
				}
			}
			slices.SortFunc(use.users[header], func(a, b user) int {
				if a.uses != b.uses {
					return b.uses - a.uses
				}
				return strings.Compare(a.source, b.source)
			})
		}
	}
	b.scanned, b.use = key, use
	return use, nil
}

var (
	hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	defineLine = regexp.MustCompile(`^\s*#\s*(?:define|undef)\s+([A-Za-z_]\w*)`)
	tagLine    = regexp.MustCompile(`^(?:typedef\s+)?(?:struct|union|enum)\s+([A-Za-z_]\w*)\s*\{?\s*$`)
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// changedNames lists the macros, functions, types and objects of a header that a
// diff (of -U0) changes: what its changed lines define or are inside of.
func changedNames(diff, before, after []byte) []string {
	names := map[string]bool{}
	for line := range strings.Lines(string(diff)) {
		m := hunkHeader.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, side := range []struct {
			text         []byte
			first, count string
		}{{before, m[1], m[2]}, {after, m[3], m[4]}} {
			first, _ := strconv.Atoi(side.first)
			count := 1
			if side.count != "" {
				count, _ = strconv.Atoi(side.count)
			}
			lines := strings.Split(string(side.text), "\n")
			for n := first; n < first+count && n <= len(lines); n++ {
				if name := nameAround(lines, n); name != "" {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// nameAround names what line n (1-based) of a header belongs to: a macro, a
// function, a type, a declaration; "" for none, such as comments and includes.
func nameAround(lines []string, n int) string {
	i := n - 1
	if i < 0 {
		return ""
	}
	// A macro is all of its continued lines.
	for j := i; j >= 0 && (j == i || strings.HasSuffix(strings.TrimRight(lines[j], " \t"), `\`)); j-- {
		if m := defineLine.FindStringSubmatch(lines[j]); m != nil {
			return m[1]
		}
	}
	if strings.HasPrefix(strings.TrimSpace(lines[i]), "#") || strings.TrimSpace(lines[i]) == "" {
		return ""
	}
	for j := i; j >= 0; j-- {
		line := lines[j]
		if j < i && strings.HasPrefix(line, "}") {
			return ""
		}
		if m := syscallLine.FindStringSubmatch(line); m != nil {
			return "sys_" + m[1]
		}
		if m := tagLine.FindStringSubmatch(line); m != nil {
			return m[1]
		}
		if line == "" || line[0] == '#' || line[0] == '/' || line[0] == ' ' && strings.HasPrefix(strings.TrimSpace(line), "*") {
			if j == i && line != "" {
				return ""
			}
			continue
		}
		if m := openingLine.FindStringSubmatch(line); m != nil {
			if j < i && strings.HasSuffix(strings.TrimSpace(line), ";") {
				continue // a declaration before
			}
			return m[1]
		}
		if j == i && strings.HasSuffix(strings.TrimSpace(line), ";") && line[0] != '\t' && line[0] != ' ' {
			// "extern int x;"
			if all := identifier.FindAllString(line, -1); len(all) > 0 {
				return all[len(all)-1]
			}
		}
	}
	return ""
}

// findNames counts how often the C sources of a tree use each name.
func (b *Builder) findNames(ctx context.Context, root string, names map[string]bool) (map[string]map[string]int, error) {
	files := make(chan string, 256)
	found := map[string]map[string]int{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range b.jobs() {
		workers.Go(func() {
			for name := range files {
				data, err := os.ReadFile(filepath.Join(root, name))
				if err != nil {
					continue
				}
				if uses := countNames(data, names); uses != nil {
					mu.Lock()
					found[name] = uses
					mu.Unlock()
				}
			}
		})
	}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch rel {
			case ".git", "tools", "scripts", "Documentation", "samples", "usr", "rust":
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(rel) == ".c" && d.Type().IsRegular() {
			files <- rel
		}
		return nil
	})
	close(files)
	workers.Wait()
	return found, err
}

// countNames counts the uses of names in a text, whole words only; nil for none.
func countNames(data []byte, names map[string]bool) map[string]int {
	var uses map[string]int
	for name := range names {
		for rest, at := data, 0; ; {
			i := bytes.Index(rest, []byte(name))
			if i < 0 {
				break
			}
			at += i
			end := at + len(name)
			if (at == 0 || !isWord(data[at-1])) && (end == len(data) || !isWord(data[end])) {
				if uses == nil {
					uses = map[string]int{}
				}
				uses[name]++
			}
			at = end
			rest = data[end:]
		}
	}
	return uses
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
