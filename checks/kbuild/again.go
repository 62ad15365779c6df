package kbuild

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// madeState is a unit as it was built in an earlier state of a series. Its files
// are used again as long as that state's output directory is there.
type madeState struct {
	output string
	record record
}

// madeOf says what of a state's changes can go into a unit, as text that is equal
// for equal states; "" when it is what the base has. Changes are those from the
// base, deps what the unit read there.
//
// A changed file counts when the unit read it. So does every changed header once
// one of those is changed, since that may include others now, and every new one at
// any time, since it may stand before another on the include path.
func madeOf(deps []string, changed []change) string {
	isHeader := func(c change) bool { return path.Ext(c.path) == ".h" }
	touched := slices.ContainsFunc(changed, func(c change) bool {
		return slices.Contains(deps, c.path) || c.added && isHeader(c)
	})
	if !touched {
		return ""
	}
	var key []string
	for _, c := range changed {
		if c.added || isHeader(c) || slices.Contains(deps, c.path) {
			key = append(key, c.path+" "+c.blob)
		}
	}
	slices.Sort(key)
	return strings.Join(key, "\n")
}

// unitKey is a unit and what of the changes goes into it.
func (p *Base) unitKey(m mounts, changed []change, source string) (key string, likeBase bool, err error) {
	cmd, err := readCmd(p.out(), ObjectOf(source))
	if err != nil {
		return "", false, err
	}
	base := m.src
	if !p.b.Runner.Sandboxed() {
		base = p.tree.Dir
	}
	made := madeOf(cmd.inTree(base), changed)
	return source + "\n" + made, made == "", nil
}

// alreadyBuilt takes a unit over from the base or an earlier state that it was
// built in with the same content. base is the unit's record there.
func (p *Base) alreadyBuilt(m mounts, output string, changed []change, source string, base record) (record, bool) {
	key, likeBase, err := p.unitKey(m, changed, source)
	if err != nil {
		return record{}, false
	}
	from := madeState{p.out(), base}
	if !likeBase {
		p.mu.Lock()
		known, ok := p.states[key]
		p.mu.Unlock()
		if !ok {
			return record{}, false
		}
		from = known
	}
	object := ObjectOf(source)
	if from.record.Err == "" && !exists(filepath.Join(from.output, object)) {
		return record{}, false
	}
	if err := os.MkdirAll(filepath.Join(output, filepath.Dir(object)), 0o755); err != nil {
		return record{}, false
	}
	for _, name := range filesOf(from.output, object) {
		if err := copyFile(filepath.Join(from.output, name), filepath.Join(output, name)); err != nil {
			return record{}, false
		}
	}
	return from.record, true
}

// keepState remembers what a unit was built from.
func (p *Base) keepState(m mounts, output string, changed []change, source string, rec record) {
	key, likeBase, err := p.unitKey(m, changed, source)
	if err != nil || likeBase {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.states == nil {
		p.states = map[string]madeState{}
	}
	p.states[key] = madeState{output, rec}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err1 := out.Close(); err == nil {
		err = err1
	}
	return err
}
