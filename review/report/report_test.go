package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"uabot/checks"
	"uabot/review"
)

var write = flag.Bool("write", false, "write the golden files")

var bot = Identity{
	Name:    "uabot",
	Address: "uabot@example.org",
	URL:     "https://uabot.example.org/",
	Page:    "https://uabot.example.org/r/3f2a",
}

// fixture reads a case: a verdict, and the diffs of its patches beside it as N.diff.
func fixture(t testing.TB, name string) (v *review.Verdict, want []string) {
	t.Helper()
	switch name {
	case "20-long":
		return long(), []string{"mail"}
	case "21-hostile":
		return hostile(), []string{"mail", "text"}
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	v = &review.Verdict{}
	for _, f := range archive.Files {
		if f.Name != "verdict.json" {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(f.Data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, f := range archive.Files {
		var n int
		switch {
		case f.Name == "want":
			want = strings.Fields(string(f.Data))
		case f.Name == "verdict.json":
		default:
			if _, err := fmt.Sscanf(f.Name, "%d.diff", &n); err != nil || n < 1 || n > len(v.Series.Patches) {
				t.Fatalf("%s: what is %q?", name, f.Name)
			}
			v.Series.Patches[n-1].Diff = string(f.Data)
		}
	}
	return v, want
}

func cases(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".txtar")
	}
	return append(files, "20-long", "21-hostile")
}

// The smallest verdicts there can be keep the form, too.
func TestFormOfLittle(t *testing.T) {
	for _, v := range []*review.Verdict{{}, {Applied: true}, {Applied: true, Uncompiled: []review.Uncompiled{{}}, Findings: []review.Finding{{Status: review.New}}}} {
		for _, opt := range []Options{{}, {From: bot}, {Lines: -1}} {
			checkForm(t, v, opt)
		}
	}
}

// Each case of testdata/ names the forms that it is kept in: mail, text (as on a
// terminal, without bound and signature), json.
func TestGolden(t *testing.T) {
	for _, name := range cases(t) {
		t.Run(name, func(t *testing.T) {
			v, want := fixture(t, name)
			if len(want) == 0 {
				t.Fatal("the case wants nothing")
			}
			for _, form := range want {
				var got []byte
				var err error
				switch form {
				case "mail":
					got, err = Mail(v, bot)
					got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")) // for diffs that people read
				case "text":
					got = []byte(Text(v, Options{Lines: -1}))
				case "json":
					got, err = JSON(v)
				default:
					t.Fatalf("what is %q?", form)
				}
				if err != nil {
					t.Fatal(err)
				}
				golden(t, filepath.Join("testdata", name+"."+form), got)
			}
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *write {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -write makes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test -write shows how in git diff. Got:\n%s", path, got)
	}
}

// Every case, whatever it holds, keeps the promises of a text.
func TestForm(t *testing.T) {
	for _, name := range cases(t) {
		t.Run(name, func(t *testing.T) {
			v, _ := fixture(t, name)
			for _, opt := range []Options{{}, {From: bot}, {Lines: -1}} {
				checkForm(t, v, opt)
			}
		})
	}
}

func checkForm(t *testing.T, v *review.Verdict, opt Options) {
	t.Helper()
	text := Text(v, opt)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if opt.Lines == 0 && len(lines) > MaxLines+len(v.Reproduce) {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	if lines[len(lines)-1] == "" {
		t.Errorf("an empty line at the end:\n%s", text)
	}
	for i, line := range lines {
		if line != "-- " && strings.TrimRight(line, " \t") != line {
			t.Errorf("line %d ends in a blank: %q", i+1, line)
		}
		if i > 0 && line == "" && lines[i-1] == "" {
			t.Errorf("line %d: two empty lines:\n%s", i+1, text)
		}
		for _, tool := range []string{"diff --git", "--- ", "+++ ", "@@ ", "#uabot", "From "} {
			if strings.HasPrefix(line, tool) {
				t.Errorf("line %d can be taken for something else: %q", i+1, line)
			}
		}
		for _, r := range line {
			if r != '\t' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e') {
				t.Errorf("line %d holds %U: %q", i+1, r, line)
			}
		}
	}
	for i := range Numbered(v) {
		if tag := fmt.Sprintf("[%d]", i+1); !strings.Contains(text, tag) && !strings.Contains(text, "more, [") {
			t.Errorf("finding %s is cut silently", tag)
		}
	}
	if again := Text(v, opt); again != text {
		t.Error("the same verdict gives another text")
	}
}

func TestNumbered(t *testing.T) {
	v := &review.Verdict{}
	add := func(title string, class checks.Class, status review.Status, patch, healed int) {
		v.Findings = append(v.Findings, review.Finding{
			Finding: checks.Finding{Title: title, Class: class}, Status: status, Patch: patch, HealedBy: healed,
		})
	}
	add("ack", checks.Policy, review.New, 1, 0)
	add("healed", checks.Object, review.New, 1, 3)
	add("unknown patch", checks.Object, review.New, 0, 0)
	add("third", checks.Build, review.New, 3, 0)
	add("fifth", checks.Object, review.New, 5, 0)
	add("old", checks.Object, review.Before, 0, 0)
	add("second", checks.Source, review.New, 2, 0)
	add("doubt", checks.Heuristic, review.New, 1, 0)
	var got []string
	for _, f := range Numbered(v) {
		got = append(got, f.Title)
	}
	want := []string{"fifth", "unknown patch", "second", "third", "healed", "doubt", "ack"}
	if !slices.Equal(got, want) {
		t.Errorf("numbered %q, want %q", got, want)
	}
}
