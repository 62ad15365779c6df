package kbuild

import (
	"bytes"
	"iter"
	"maps"
	"slices"
)

// tail returns the last n lines of text.
func tail(text []byte, n int) []byte {
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return bytes.Join(lines, []byte("\n"))
}

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
