package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unpack writes the objects that checks/window/object keeps, which are windows.c and
// its bugs compiled for each arch, into dir.
func unpack(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		packed, err := os.Open(filepath.Join("../checks/window/object/testdata", name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer packed.Close()
		r, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run is the program with its arguments.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	var out, words bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &words}
	code = p.main(t.Context(), args)
	return code, out.String(), words.String()
}

// Each file is judged by itself: bugs on one arch, none to be seen on another, one
// that is no object; and the answer is in the order of the arguments.
func TestCheckObjects(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "ppc8xx.o", "s390x.o", "x86-64.o")
	broken := filepath.Join(dir, "broken.o")
	if err := os.WriteFile(broken, []byte("\x7fELF and no more"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, name) }

	code, out, words := run(t, "check", file("ppc8xx.o"))
	if code != exitFound || !strings.Contains(out, "[close-without-open]") || !strings.Contains(out, "[open-at-return]") || !strings.Contains(out, "32-bit book3s") {
		t.Errorf("ppc8xx: code %d\n%s%s", code, out, words)
	}
	code, out, words = run(t, "check", file("s390x.o"))
	if code != exitClean || out != "" || !strings.Contains(words, "no window") {
		t.Errorf("s390x: code %d\n%s%s", code, out, words)
	}
	code, out, words = run(t, "check", broken, file("x86-64.o"))
	if code != exitTrouble || !strings.Contains(words, broken) || !strings.Contains(out, "[close-without-open]") {
		t.Errorf("a broken file and a good one: code %d\n%s%s", code, out, words)
	}

	code, out, _ = run(t, "check", "--json", file("x86-64.o"), broken, file("s390x.o"))
	var objects []checkedJSON
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var o checkedJSON
		if err := d.Decode(&o); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	if code != exitTrouble || len(objects) != 3 {
		t.Fatalf("JSON: code %d, %d objects\n%s", code, len(objects), out)
	}
	if o := objects[0]; o.Arch != "x86-64" || len(o.Findings) == 0 || o.Findings[0].ID == "" || len(o.Windows) == 0 {
		t.Errorf("x86-64 as JSON: %+v", o)
	}
	if o := objects[1]; o.Error == "" || o.Object != broken {
		t.Errorf("a broken file as JSON: %+v", o)
	}
	if o := objects[2]; o.None == "" || len(o.Findings) != 0 {
		t.Errorf("s390x as JSON: %+v", o)
	}

	if code, _, words := run(t, "check", "--target", "vax", file("x86-64.o")); code != exitTrouble || !strings.Contains(words, `unknown target "vax"`) {
		t.Errorf("an unknown target: code %d, %s", code, words)
	}
}
