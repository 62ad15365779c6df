package kbuild

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"uabot/checks"
)

// record is what is kept of a unit compiled at the base, in units/SOURCE.json of
// the cache entry. Its object and dumps are in the output directory.
type record struct {
	Kit string // hash of the kit that checked it
	Err string
	Log string
}

// notThere is Unit.Err of a file that the patches add.
const notThere = "the base does not have it"

// ObjectOf names the object of a source file.
func ObjectOf(source string) string {
	return strings.TrimSuffix(source, filepath.Ext(source)) + ".o"
}

// Build compiles units (sources, relative to the tree) at the base, as far as the
// cache does not have them. A unit that cannot be compiled has its Err set; an
// error is our own trouble.
func (p *Base) Build(ctx context.Context, units []string) (*checks.Built, error) {
	k, err := p.b.tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("building the base for %s: %w", p.target.Name, err)
	}
	if err := p.buildMissing(ctx, k, units); err != nil {
		return nil, fmt.Errorf("building the base for %s: %w", p.target.Name, err)
	}
	m := p.mount(p.tree.Dir, p.out(), k)
	built := &checks.Built{Target: p.target, Source: p.tree.Dir, Output: p.out(), SourceAs: m.src, OutputAs: m.out}
	for _, source := range units {
		rec, ok := p.record(source, k)
		if !ok && !exists(filepath.Join(p.tree.Dir, source)) {
			rec, ok = record{Err: notThere}, true
		}
		if !ok {
			return nil, fmt.Errorf("building the base for %s: %s is missing in the cache again", p.target.Name, source)
		}
		built.Units = append(built.Units, unitOf(p.out(), source, rec.Err, rec.Log))
	}
	return built, nil
}

// unitOf describes a unit by what is in an output directory.
func unitOf(out, source, failed, log string) checks.Unit {
	u := checks.Unit{Source: source, Object: ObjectOf(source), Err: failed, Log: log}
	if failed == "" {
		for suffix, field := range map[string]*string{".uabot.cfg": &u.Dump, ".uabot.overlay.cfg": &u.Overlay} {
			name := beside(u.Object, suffix)
			if st, err := os.Stat(filepath.Join(out, name)); err == nil && st.Mode().IsRegular() {
				*field = name
			}
		}
	}
	return u
}

func (p *Base) recordPath(source string) string {
	return filepath.Join(p.dir, "units", source+".json")
}

// record returns what is known of a unit; false when it was never compiled, or
// checked by another kit.
func (p *Base) record(source string, k *kit) (record, bool) {
	var rec record
	data, err := os.ReadFile(p.recordPath(source))
	if err != nil || json.Unmarshal(data, &rec) != nil || rec.Kit != k.hash {
		return record{}, false
	}
	if rec.Err == "" {
		if _, err := os.Stat(filepath.Join(p.out(), ObjectOf(source))); err != nil {
			return record{}, false
		}
	}
	return rec, true
}

func (p *Base) buildMissing(ctx context.Context, k *kit, units []string) error {
	missing := func() (list []string) {
		for _, source := range units {
			if _, ok := p.record(source, k); !ok {
				list = append(list, source)
			}
		}
		return list
	}
	if len(missing()) == 0 {
		return nil
	}
	building, err := lockFile(ctx, p.dir+".build.lock", true, func() {
		p.b.progress(p.target, "waiting for another uabot that compiles the base")
	})
	if err != nil {
		return err
	}
	defer building.release()
	var todo []string
	for _, source := range missing() { // the other one may have made some
		if exists(filepath.Join(p.tree.Dir, source)) {
			todo = append(todo, source)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	p.b.progress(p.target, "compiling %s of the base", count(len(todo), "object"))
	if err := refresh(p.out(), time.Now()); err != nil {
		return err
	}
	m := p.mount(p.tree.Dir, p.out(), k)
	made, err := p.makeUnits(ctx, m, k, p.out(), todo)
	if err != nil {
		return err
	}
	for _, source := range todo {
		rec := made[source]
		rec.Kit = k.hash
		data, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(p.recordPath(source)), 0o755); err != nil {
			return err
		}
		if err := writeAtomic(p.recordPath(source), data); err != nil {
			return err
		}
	}
	return nil
}

// makeUnits compiles units with one call of make, whatever of them fails, and
// tells what became of each.
func (p *Base) makeUnits(ctx context.Context, m mounts, k *kit, output string, units []string) (map[string]record, error) {
	args := []string{"-k", "--output-sync=target", "C=2", "CHECK=sh " + m.kit + "/check.sh"}
	for _, source := range units {
		args = append(args, ObjectOf(source))
	}
	c := p.make(ctx, m, k, args...)
	c.Limits = p.b.Limits
	res, err := p.b.Runner.Run(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("make: %w", err)
	}
	if output != p.out() {
		// A patched Makefile may have done anything to its output.
		if err := removeLinks(output); err != nil {
			return nil, err
		}
	}
	text := strings.ReplaceAll(string(res.Stdout), m.src+"/", "")
	logs, failed := splitMake(text)
	made := map[string]record{}
	for _, source := range units {
		object := ObjectOf(source)
		rec := record{Log: bounded(logs[object])}
		_, err := os.Stat(filepath.Join(output, object))
		if why, bad := failed[object]; bad || err != nil {
			rec.Err = firstError(rec.Log)
			if rec.Err == "" {
				rec.Err = why
			}
			if rec.Err == "" {
				rec.Err = "make did not build it: " + string(tail([]byte(text), 1))
			}
		}
		rec.Log += sparseLog(output, object, m.src)
		made[source] = rec
	}
	return made, nil
}

// checkHeader stands in a Unit.Log before what sparse printed, as kbuild writes it.
const checkHeader = "  CHECK   "

// sparseLog returns what sparse printed for object, with names relative to the tree.
func sparseLog(output, object, src string) string {
	data, err := os.ReadFile(filepath.Join(output, beside(object, ".uabot-sparse")))
	if err != nil || len(data) == 0 {
		return ""
	}
	return checkHeader + object + "\n" + bounded(strings.ReplaceAll(string(data), src+"/", ""))
}

// maxLog is what is kept of the messages of one tool on one unit, in bytes.
const maxLog = 1 << 20

func bounded(log string) string {
	if len(log) <= maxLog {
		return log
	}
	return log[:strings.LastIndexByte(log[:maxLog], '\n')+1]
}

var (
	makeStep   = regexp.MustCompile(`^  [A-Z][A-Z_0-9]+ (?:\[M\])? +(\S+)$`)
	makeFailed = regexp.MustCompile(`^make(?:\[\d+\])?: \*\*\* (?:\[(?:[^\]]*: )?([^\]: ]+\.o)\] (.*)|(No rule to make target '([^']+\.o)'.*))$`)
	makeTalk   = regexp.MustCompile(`^make(?:\[\d+\])?: `)
)

// splitMake splits the output of make -k --output-sync=target into the messages of
// each object. Every recipe's output comes in one piece behind the line that kbuild
// prints for it: "  CC [M]  a/b.o". failed has the objects that make says it could
// not make, with its words.
func splitMake(text string) (logs, failed map[string]string) {
	failed = map[string]string{}
	texts := map[string]*strings.Builder{}
	object := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		if m := makeFailed.FindStringSubmatch(bare); m != nil {
			if m[1] != "" {
				failed[m[1]] = "make: " + m[2]
			} else {
				failed[m[4]] = strings.TrimSuffix(m[3], ".")
			}
			continue
		}
		if makeTalk.MatchString(bare) {
			continue
		}
		if m := makeStep.FindStringSubmatch(bare); m != nil {
			object = ""
			if strings.HasSuffix(m[1], ".o") {
				object = m[1]
			}
			continue
		}
		if object != "" {
			if texts[object] == nil {
				texts[object] = &strings.Builder{}
			}
			texts[object].WriteString(line)
		}
	}
	logs = map[string]string{}
	for object, text := range texts {
		logs[object] = text.String()
	}
	return logs, failed
}

var errorLine = regexp.MustCompile(`(?m)^[^\s:][^:\n]*:(?:\d+:){1,2} (?:fatal )?error: .*$|^\S*(?:ld|as|objtool): .*$`)

// firstError returns the first line of a log that tells an error.
func firstError(log string) string {
	return errorLine.FindString(log)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
