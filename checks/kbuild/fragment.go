package kbuild

import (
	"bufio"
	"bytes"
	"strings"
)

// notHonoured returns the lines that a finished .config does not follow: Kconfig
// drops what its dependencies forbid, without a word.
func notHonoured(lines []string, dotconfig []byte) []string {
	set := map[string]string{}
	for scan := bufio.NewScanner(bytes.NewReader(dotconfig)); scan.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimPrefix(scan.Text(), "CONFIG_"), "="); ok {
			set[name] = value
		}
	}
	var bad []string
	for _, line := range lines {
		name, want, _ := strings.Cut(line, "=")
		got, ok := set[name]
		if !ok {
			got = "n"
		}
		if got != want {
			bad = append(bad, line)
		}
	}
	return bad
}
