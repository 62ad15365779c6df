package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"uabot/review"
)

// maxColumns is the number of targets that stand side by side in the table.
const maxColumns = 5

// table is the part of the windows that is worth a table: what changes.
type table struct {
	functions []string // keys
	label     map[string]string
	targets   []string
	cells     map[[2]string]review.WindowChange // by function and target
	same      []string                          // targets with windows there, but no change
	word      string                            // what there is none of on them
}

// changes picks the functions and targets where the number of windows changes.
func (t *text) changes() *table {
	tab := &table{label: map[string]string{}, cells: map[[2]string]review.WindowChange{}, word: "gain"}
	labels := map[string]int{}
	changed := map[string]bool{}
	var keys []string
	for _, w := range t.v.Windows {
		key := w.File + "\x00" + w.Function
		if _, ok := tab.label[key]; !ok {
			tab.label[key] = name(w.Function)
			labels[tab.label[key]]++
			keys = append(keys, key)
		}
		tab.cells[[2]string{key, w.Target}] = w
		changed[key] = changed[key] || w.Before != w.After
		if w.After > w.Before {
			tab.word = "change"
		}
	}
	for _, key := range keys {
		if !changed[key] {
			continue
		}
		if file, _, _ := strings.Cut(key, "\x00"); labels[tab.label[key]] > 1 {
			tab.label[key] += " (" + name(file) + ")"
		}
		tab.functions = append(tab.functions, key)
	}
	for _, target := range t.v.Targets {
		differs, has := false, false
		for _, key := range tab.functions {
			w := tab.cells[[2]string{key, target.Name}]
			differs = differs || w.Before != w.After
			has = has || w.Before > 0 || w.After > 0
		}
		switch {
		case differs:
			tab.targets = append(tab.targets, target.Name)
		case has:
			tab.same = append(tab.same, name(target.Name))
		}
	}
	return tab
}

// windows is the table of how many windows each function opened before and after.
// Functions and targets where nothing changes are left out of it; the targets where
// there are windows but no gain are named below.
func (t *text) windows(p *page) {
	tab := t.changes()
	if len(tab.functions) == 0 || len(tab.targets) == 0 {
		return
	}
	p.blank()
	rows := tab.functions[:min(len(tab.functions), t.cut.rows)]
	columns := tab.targets[:min(len(tab.targets), t.cut.columns)]
	if len(rows) == 0 || len(columns) == 0 {
		p.line("The table of windows is left out: %s, %s.",
			counted(len(tab.functions), "function", "functions"), counted(len(tab.targets), "target", "targets"))
		t.left = true
		return
	}
	p.line("Windows opened in functions that you changed, before -> after:")
	width := 0
	for _, key := range rows {
		width = max(width, utf8.RuneCountInString(tab.label[key]))
	}
	absent := false
	for block := range slices.Chunk(columns, maxColumns) {
		lines := make([]string, len(rows)+1)
		lines[0] = "  " + pad("", width)
		for i, key := range rows {
			lines[i+1] = "  " + pad(tab.label[key], width)
		}
		for _, target := range block {
			column := []string{name(target)}
			for _, key := range rows {
				w, ok := tab.cells[[2]string{key, target}]
				column = append(column, cell(w, ok))
				absent = absent || w.Before < 0 || w.After < 0
			}
			wide := 0
			for _, text := range column {
				wide = max(wide, utf8.RuneCountInString(text))
			}
			for i, text := range column {
				lines[i] += "  " + pad(text, wide)
			}
		}
		for _, line := range lines {
			p.line("%s", line)
		}
	}
	t.more(p, len(tab.functions)-len(rows), "function", "functions")
	t.more(p, len(tab.targets)-len(columns), "target", "targets")
	if absent {
		p.line("  (-: there is no such function)")
	}
	if len(tab.same) > 0 {
		p.paragraph("  ", "  ", "No "+tab.word+" on "+listed(tab.same)+".")
	}
}

func cell(w review.WindowChange, ok bool) string {
	if !ok {
		return ""
	}
	return number(w.Before) + " -> " + number(w.After)
}

func number(n int) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
