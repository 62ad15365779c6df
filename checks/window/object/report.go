package object

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"uabot/checks"
)

// CheckName signs the evidence of this check.
const CheckName = "object code"

// Report is what one object shows.
type Report struct {
	Object   string // the path that was given
	Arch     string // "x86-64", "powerpc 8xx" …
	None     string // why there are no windows to be seen; empty where there may be
	Findings []checks.Finding
	Windows  []checks.Windows // per source function, sorted by file and name
	Notes    []string         // limits: no debug information, functions that were not judged
}

// Check reads the object file at path and follows its windows. Errors wrap ErrNotObject,
// ErrBroken, ErrTooLarge, ErrUnsupported, or what the file system says; a finding is
// none.
func Check(path string, options Options) (*Report, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("checking an object: %w", err)
	}
	// Nothing of a report points into the object.
	defer func() {
		if b.Cap() <= maxKept {
			buffers.Put(b)
		}
	}()
	return CheckBytes(path, b.Bytes(), options)
}

// maxKept bounds the buffers that are used again.
const maxKept = 16 << 20

// CheckBytes is Check for an object that was read already; path names it.
func CheckBytes(path string, data []byte, options Options) (*Report, error) {
	o, err := open(path, data, options)
	if err != nil {
		return nil, fmt.Errorf("checking the object %s: %w", path, err)
	}
	return o.check(), nil
}

func (o *object) check() *Report {
	r := &Report{Object: o.path, Arch: o.arch.name, None: o.arch.none}
	if r.None != "" {
		return r
	}
	if o.options.Source == "" {
		o.options.Source = o.findTree()
	}
	var verdicts []*verdict // with problems
	var opens []loc
	var unjudged []string
	unclear, judged := 0, 0
	for _, f := range o.candidates() {
		if o.spent > maxSpent {
			unjudged = append(unjudged, f.name)
			continue
		}
		v := o.verify(f)
		if v.gaveUp {
			unjudged = append(unjudged, f.name)
			continue
		}
		judged++
		unclear += len(v.unclear)
		opens = append(opens, v.opens...)
		if len(v.problems) > 0 {
			verdicts = append(verdicts, v)
		}
		clear(o.decoded) // a large object's code needs many times its size
	}
	r.Findings = o.findings(verdicts)
	r.Windows = o.windows(opens)
	if len(unjudged) > 0 {
		r.Notes = append(r.Notes, "too large to be followed, not judged: "+strings.Join(unjudged, ", "))
	}
	if unclear > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d writes of the window register could not be followed: the paths through them are not judged", unclear))
	}
	if o.debugInfo() == nil && judged > 0 {
		r.Notes = append(r.Notes, "no debug information: findings have no source lines, windows are counted by symbol")
	}
	if judged == 0 && len(r.Windows) == 0 && len(unjudged) == 0 {
		r.None = o.whyNone()
	}
	return r
}

// whyNone says why an object of an arch with windows shows none.
func (o *object) whyNone() string {
	if o.arch == &archARM64 {
		for _, rows := range o.faults {
			for _, e := range rows {
				if o.arch.access(e.kind) {
					return "user accesses without windows: built for PAN in hardware, which needs none in the code"
				}
			}
		}
	}
	return "no window instructions in this object"
}

// findTree is the root of the kernel tree that an object was built from, if it is
// still where the debug information says.
func (o *object) findTree() string {
	d := o.debugInfo()
	if d == nil || len(d.units) == 0 {
		return ""
	}
	d.units[0].index() // its name may be in a .dwo file
	dir := filepath.Dir(join(d.units[0].dir, d.units[0].name))
	for range 32 {
		if exists(filepath.Join(dir, "MAINTAINERS")) && exists(filepath.Join(dir, "Kbuild")) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
