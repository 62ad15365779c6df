package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// positions places an error about a value on the line of the file that set it. A
// nil *positions is a configuration without a file.
type positions struct {
	file string
	text []byte
	rows []Target // the target tables of the file, in order
}

// errorf words an error about key: "jobs", "bot.url", "tree[0].path".
func (p *positions) errorf(key, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if p == nil {
		return fmt.Errorf("configuration: %w", err)
	}
	lines := keyLines(p.text)
	for {
		if line, ok := lines[key]; ok {
			return fmt.Errorf("%s:%d: %w", p.file, line, err)
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		key = key[:i] // the table, where the key itself is missing
	}
}

// targetErrorf words an error about a key of the target with that name.
func (p *positions) targetErrorf(name, key, format string, args ...any) error {
	if p == nil {
		return p.errorf("", format, args...)
	}
	i := slices.IndexFunc(p.rows, func(t Target) bool { return t.Name == name })
	return p.errorf(fmt.Sprintf("target[%d].%s", i, key), format, args...)
}

// keyLines maps each key and table of a TOML text to its line, array tables
// numbered from 0.
func keyLines(text []byte) map[string]int {
	lines := map[string]int{}
	count := map[string]int{}
	prefix := ""
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		node := p.Expression()
		key, offset := keyOf(node)
		line := 1 + bytes.Count(text[:offset], []byte("\n"))
		switch node.Kind {
		case unstable.Table:
			lines[key] = line
			prefix = key + "."
		case unstable.ArrayTable:
			numbered := fmt.Sprintf("%s[%d]", key, count[key])
			count[key]++
			lines[numbered] = line
			prefix = numbered + "."
		case unstable.KeyValue:
			lines[prefix+key] = line
		}
	}
	return lines
}

// keyOf returns the dotted key of an expression and where it starts.
func keyOf(node *unstable.Node) (key string, offset uint32) {
	var parts []string
	for it := node.Key(); it.Next(); {
		if len(parts) == 0 {
			offset = it.Node().Raw.Offset
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), offset
}
