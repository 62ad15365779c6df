package mail

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Tier says how close to user access a symbol is; the lower the closer.
type Tier int

// The tiers.
const (
	NoTier   Tier = iota
	Windows       // opens, closes or needs a window: user_access_begin, unsafe_put_user
	Accesses      // one checked access: get_user, access_ok
	Copies        // a copy: copy_to_user
)

func (t Tier) String() string {
	return [...]string{"none", "windows", "accesses", "copies"}[t]
}

// Topics is what makes a series relevant. Symbols are regular expressions that
// match whole identifiers; paths are patterns as of path.Match, for the base name
// where they have no slash.
type Topics struct {
	Windows  []string // looked for in changed lines, in context and in the function around a hunk
	Accesses []string // the same
	Copies   []string // looked for in changed lines only: too common otherwise
	X86      []string // as Windows, but in files of arch/x86 only: elsewhere STAC is an audio codec
	Paths    []string
}

// DefaultTopics are the symbols and files of user access, read off Linux 6.12 and
// what was added until 6.19.
func DefaultTopics() Topics {
	return Topics{
		Windows: []string{
			`(__|masked_)?user_(read_|write_|rw_)?access_(begin|end)`,
			`masked_user_(read|write|rw)_access_begin`,
			`(__)?scoped_(masked_)?user_(read|write|rw)_access\w*`,
			`(arch_)?unsafe_(get|put)_user`,
			`unsafe_copy_(to|from)_user`,
			`unsafe_(put|get)_compat_sigset`,
			`unsafe_(put|get)_sigset\w*`,
			`unsafe_try_cmpxchg_user`,
			`unsafe_atomic_store_release_user`,
			`(get|put)_user_inline`,
			`user_access_(save|restore)`,
			`can_do_masked_user_access`,
			`mask_user_address`,
			`__uaccess_begin(_nospec)?`,
			`__uaccess_end`,
			`lass_(stac|clac)`,
			`ASM_(STAC|CLAC)`,
			`smap_(save|restore)`,
			`uaccess_ttbr0_\w+`,
			`uaccess_(enable|disable)_privileged`,
			`uaccess_save_and_enable`,
			`uaccess_restore`,
			`(allow|prevent)_\w*user\w*`,
			`restore_user_access`,
			`set_kuap`,
			`(__)?kuap_\w+`,
			`__(enable|disable)_user_access`,
			`(arch|_)_(get|put)_kernel_nofault`,
			`(enter|exit)_vmx_usercopy`,
			`(EX_TYPE|ex_handler)_(UACCESS|uaccess)\w*`, // what a fault in a window comes to
		},
		Accesses: []string{
			`(__)?(get|put)_user`,
			`access_ok`,
			`__chk_user_ptr`,
		},
		Copies: []string{
			`(__|_|raw_)?copy_(to|from|in)_user(_(inatomic|nocache|nofault|nmi|flushcache|mc))*`,
			`(__)?copy_tofrom_user`,
			`copy_mc_to_user`,
			`copy_struct_(from|to)_user`,
			`(__|__arch_)?clear_user`,
			`strncpy_from_user(_nofault)?`,
			`strnlen_user(_nofault)?`,
			`v?memdup_user(_nul)?`,
			`memdup_array_user`,
			`vmemdup_array_user`,
			`_?copy_(from|to)_iter\w*`,
			`copy_(from|to)_sockptr\w*`,
		},
		X86:   []string{`stac`, `clac`, `STAC`, `CLAC`},
		Paths: []string{"uaccess*.h", "uaccess*.S", "kup*.h", "smap.h", "usercopy.c", "tools/objtool/check.c"},
	}
}

// Relevance finds out whether a series is about user access. It may be used by
// several goroutines.
type Relevance struct {
	tiers [Copies + 1]*regexp.Regexp
	x86   *regexp.Regexp
	paths []string

	mu    sync.Mutex
	words map[string]meaning // what identifiers that were met before mean
}

type meaning struct {
	tier Tier
	x86  bool // in files of arch/x86 only
}

// NewRelevance compiles topics; it fails for a pattern that is none, and names it.
func NewRelevance(t Topics) (*Relevance, error) {
	r := &Relevance{words: map[string]meaning{}}
	for _, p := range t.Paths {
		if _, err := path.Match(p, "x"); err != nil {
			return nil, fmt.Errorf("path pattern %q: %w", p, err)
		}
	}
	r.paths = t.Paths
	for _, set := range []struct {
		into     **regexp.Regexp
		patterns []string
	}{
		{&r.tiers[Windows], t.Windows}, {&r.tiers[Accesses], t.Accesses}, {&r.tiers[Copies], t.Copies}, {&r.x86, t.X86},
	} {
		for _, p := range set.patterns {
			if _, err := regexp.Compile(p); err != nil {
				return nil, fmt.Errorf("symbol pattern %q: %w", p, err)
			}
		}
		if len(set.patterns) > 0 {
			*set.into = regexp.MustCompile(`^(?:` + strings.Join(set.patterns, "|") + `)$`)
		}
	}
	return r, nil
}

// Interest is why a series, or one patch, is about user access.
type Interest struct {
	Relevant bool
	Tier     Tier   // the closest
	Why      string // for a reader; empty when it is not relevant
	Hits     []Hit  // symbols before files, the closest first
}

// Hit is one symbol or file that makes a patch relevant.
type Hit struct {
	Tier     Tier
	Symbol   string // empty when it is the file alone
	File     string
	Function string // what stands in the hunk's header
	Where    Where
	Patch    int // the patch's number
}

// Where says in which lines of a hunk a symbol stands.
type Where int

// The places, the one that says most first.
const (
	Changed Where = iota // in an added or removed line
	Around               // the hunk is in a function of that name
	Nearby               // in a line of context
	Path                 // the file itself
)

// Of says whether a series is about user access.
func (r *Relevance) Of(s *Series) Interest {
	var hits []Hit
	for _, p := range s.Patches {
		hits = append(hits, r.hits(p)...)
	}
	return interest(hits, s.Total)
}

// OfPatch says whether one patch is about user access.
func (r *Relevance) OfPatch(p *Patch) Interest { return interest(r.hits(p), 1) }

func interest(hits []Hit, total int) Interest {
	if len(hits) == 0 {
		return Interest{}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if a.Where == Path != (b.Where == Path) {
			return int(a.Where/Path) - int(b.Where/Path)
		}
		if a.Tier != b.Tier {
			return int(a.Tier) - int(b.Tier)
		}
		return int(a.Where) - int(b.Where)
	})
	closest := slices.MinFunc(hits, func(a, b Hit) int { return int(a.Tier) - int(b.Tier) })
	return Interest{Relevant: true, Tier: closest.Tier, Why: explain(hits, total), Hits: hits}
}

// explain puts the first few hits in words.
func explain(hits []Hit, total int) string {
	const most = 3
	var parts []string
	seen := map[string]bool{}
	more := 0
	for _, h := range hits {
		key := h.Symbol + " " + h.File
		if seen[key] {
			continue
		}
		seen[key] = true
		if len(parts) == most {
			more++
			continue
		}
		var text string
		switch h.Where {
		case Path:
			text = "changes " + h.File
		case Changed:
			text = h.Symbol + " in changed lines of " + h.File
		case Around:
			text = "changes " + h.Symbol + " in " + h.File
		case Nearby:
			text = h.Symbol + " near changed lines of " + h.File
		}
		if total > 1 {
			text += fmt.Sprintf(" (patch %d)", h.Patch)
		}
		parts = append(parts, text)
	}
	why := strings.Join(parts, "; ")
	if more > 0 {
		why += fmt.Sprintf("; %d more", more)
	}
	return why
}

// hits looks through the hunks of a patch: not through what stands between them,
// so that a quoted diff is never seen.
func (r *Relevance) hits(p *Patch) (hits []Hit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range p.Files {
		file := name(f.NewName, f.OldName)
		if r.isPath(f.NewName) || r.isPath(f.OldName) {
			hits = append(hits, Hit{Tier: Windows, File: file, Where: Path, Patch: p.Number})
		}
		if !isSource(file) {
			continue
		}
		x86 := strings.Contains(file, "arch/x86/")
		best := map[string]Hit{} // by symbol
		note := func(text, function string, where Where) {
			r.eachSymbol(text, func(word string, m meaning) {
				if m.x86 && !x86 || m.tier == Copies && where != Changed || f.IsDelete && m.tier != Windows {
					return // of a file that goes away no access is left to look at
				}
				if old, ok := best[word]; !ok || where < old.Where {
					best[word] = Hit{m.tier, word, file, function, where, p.Number}
				}
			})
		}
		for _, hunk := range f.TextFragments {
			function := hunk.Comment
			note(functionName(function), function, Around)
			comment := false // inside a block comment
			for _, line := range hunk.Lines {
				text := strings.TrimSpace(line.Line)
				if inComment(text, &comment) {
					continue
				}
				where := Nearby
				if line.Op != gitdiff.OpContext {
					where = Changed
				}
				note(text, function, where)
			}
		}
		var words []string
		for word := range best {
			words = append(words, word)
		}
		slices.Sort(words)
		for _, word := range words {
			hits = append(hits, best[word])
		}
	}
	return hits
}

func (r *Relevance) isPath(file string) bool {
	for _, p := range r.paths {
		target := file
		if !strings.Contains(p, "/") {
			target = path.Base(file)
		}
		if ok, _ := path.Match(p, target); ok {
			return true
		}
	}
	return false
}

// isSource reports whether a file holds code of the kernel: prose and test programs
// that name a symbol change nothing.
func isSource(file string) bool {
	switch path.Ext(file) {
	case ".c", ".h", ".S", ".s", ".rs", ".inc", ".tbl", ".cc", ".cpp":
		return !strings.HasPrefix(file, "Documentation/") && !strings.HasPrefix(file, "tools/")
	}
	return false
}

// inComment reports whether a line is nothing but comment. Hunks begin anywhere, so
// lines that begin as those of a block comment do count as such.
func inComment(text string, open *bool) bool {
	if *open {
		if i := strings.Index(text, "*/"); i >= 0 {
			*open = false
			return strings.TrimSpace(text[i+2:]) == ""
		}
		return true
	}
	switch {
	case strings.HasPrefix(text, "//"), strings.HasPrefix(text, "* "), text == "*", text == "*/":
		return true
	case strings.HasPrefix(text, "/*"):
		if i := strings.Index(text, "*/"); i >= 0 {
			return strings.TrimSpace(text[i+2:]) == ""
		}
		*open = true
		return true
	}
	return false
}

// functionName is what a hunk header names: the identifier before the parenthesis,
// or after #define.
func functionName(header string) string {
	if rest, ok := strings.CutPrefix(header, "#define "); ok {
		header = rest
		if end := strings.IndexFunc(header, func(r rune) bool { return !isWord(byte(r)) }); end >= 0 {
			return header[:end]
		}
		return header
	}
	before, _, ok := strings.Cut(header, "(")
	if !ok {
		return ""
	}
	start := len(before)
	for start > 0 && isWord(before[start-1]) {
		start--
	}
	return before[start:]
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// maxWords bounds the identifiers whose meaning is remembered.
const maxWords = 200_000

// eachSymbol calls f for the identifiers of a line that mean something.
func (r *Relevance) eachSymbol(text string, f func(word string, m meaning)) {
	for i := 0; i < len(text); {
		if !isWord(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && isWord(text[i]) {
			i++
		}
		word := text[start:i]
		if len(word) < 4 || len(word) > 64 {
			continue
		}
		if before := text[:start]; strings.HasSuffix(before, "->") || strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "..") {
			continue // a member of that name: KVM's register tables have a .get_user
		}
		m, known := r.words[word]
		if !known {
			m = r.meaning(word)
			if len(r.words) >= maxWords {
				clear(r.words)
			}
			r.words[strings.Clone(word)] = m
		}
		if m.tier != NoTier {
			f(word, m)
		}
	}
}

func (r *Relevance) meaning(word string) meaning {
	for tier := Windows; tier <= Copies; tier++ {
		if p := r.tiers[tier]; p != nil && p.MatchString(word) {
			return meaning{tier: tier}
		}
	}
	if r.x86 != nil && r.x86.MatchString(word) {
		return meaning{tier: Windows, x86: true}
	}
	return meaning{}
}
