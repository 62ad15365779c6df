package mbox_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"uabot/mail/mbox"
)

const from = "From a@x Sat Nov  1 00:00:00 2025\n"

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"blank lines", "\n\n", nil},
		{"two mails", from + "A: 1\n\nbody\n\n" + from + "B: 2\n\nbody\n", []string{"A: 1\n\nbody\n", "B: 2\n\nbody\n"}},
		{"blank lines before", "\n\n" + from + "A: 1\n\nbody\n", []string{"A: 1\n\nbody\n"}},
		{"no empty line between", from + "A: 1\n\nbody\n" + from + "B: 2\n\n", []string{"A: 1\n\nbody\n", "B: 2\n"}},
		{"no newline at the end", from + "A: 1\n\nbody", []string{"A: 1\n\nbody"}},
		{"empty lines of the mail's own", from + "A: 1\n\nbody\n\n\n\n" + from + "B: 2\n\nx\n", []string{"A: 1\n\nbody\n\n\n", "B: 2\n\nx\n"}},
		{"one mail without From line", "A: 1\n\nbody\n\nFrom here on\nC: x\n", []string{"A: 1\n\nbody\n\nFrom here on\nC: x\n"}},
		{"mboxrd", "From mboxrd@z Thu Jan  1 00:00:00 1970\nA: 1\n\n>From x\n>>From y\n> From z\n", []string{"A: 1\n\nFrom x\n>From y\n> From z\n"}},
		{"mboxo", from + "A: 1\n\n>From me to you\n", []string{"A: 1\n\nFrom me to you\n"}},
		{"format-patch's line in mboxo", from + "A: 1\n\n>From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n", []string{"A: 1\n\n>From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"}},
		{"text that nobody quoted", from + "A: 1\n\n\nFrom the start it was wrong.\nWhy: nobody knows\n", []string{"A: 1\n\n\nFrom the start it was wrong.\nWhy: nobody knows\n"}},
		{"text with a date that nobody quoted", from + "A: 1\n\nFrom a@x Sat Nov  1 00:00:00 2025\nit was wrong\n", []string{"A: 1\n\nFrom a@x Sat Nov  1 00:00:00 2025\nit was wrong\n"}},
		{"From line without a date", "From A\nA: 1\n\nbody\n\nFrom B\nB: 2\nC: 3\n\nbody\n", []string{"A: 1\n\nbody\n", "B: 2\nC: 3\n\nbody\n"}},
		{"CRLF", strings.ReplaceAll(from+"A: 1\n\nbody\n\n"+from+"B: 2\n\nbody\n", "\n", "\r\n"), []string{"A: 1\r\n\r\nbody\r\n", "B: 2\r\n\r\nbody\r\n"}},
		{"git's own separator", "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nA: 1\n\nx\n\nFrom 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nB: 1\n\ny\n", []string{"A: 1\n\nx\n", "B: 1\n\ny\n"}},
		{"a long line", from + "A: 1\n\n" + strings.Repeat("x", 200_000) + "\n\n" + from + "B: 1\n\n", []string{"A: 1\n\n" + strings.Repeat("x", 200_000) + "\n", "B: 1\n"}},
		{"a long line with From where the buffer ends", from + "A: 1\n\n" + strings.Repeat("x", 64<<10) + from + "B: 1\n", []string{"A: 1\n\n" + strings.Repeat("x", 64<<10) + from + "B: 1\n"}},
	} {
		for how, r := range map[string]io.Reader{
			"": strings.NewReader(test.in), " by bytes": iotest.OneByteReader(strings.NewReader(test.in)), " zipped": zipped(test.in),
		} {
			got, err := collect(mbox.Read(r))
			if err != nil && test.in != "" {
				t.Errorf("%s%s: %v", test.name, how, err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s%s\n got %.200q\nwant %.200q", test.name, how, got, test.want)
			}
		}
	}
}

func TestReadErrors(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(from+"A: 1\n\nbody\n\n"+from+"B: 2\n"), iotest.ErrReader(errors.New("unplugged")))
	got, err := collect(mbox.Read(broken))
	if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "reading mail 2: unplugged") {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := collect(mbox.Read(bytes.NewReader([]byte{0x1f, 0x8b, 1}))); err == nil {
		t.Error("broken gzip is no error")
	}
}

// TestTooLarge skips a mail that would fill the memory, and reads the next.
func TestTooLarge(t *testing.T) {
	const chunk = 1 << 20
	line := strings.Repeat("y", chunk-1) + "\n"
	parts := []io.Reader{strings.NewReader(from + "A: 1\n\n")}
	for range mbox.MaxMail/chunk + 8 {
		parts = append(parts, strings.NewReader(line))
	}
	parts = append(parts, strings.NewReader("\n"+from+"B: 2\n\nsmall\n"))
	var mails []string
	large := 0
	for mail, err := range mbox.Read(io.MultiReader(parts...)) {
		switch {
		case errors.Is(err, mbox.ErrTooLarge):
			large++
		case err != nil:
			t.Fatal(err)
		default:
			mails = append(mails, string(mail))
		}
	}
	if large != 1 || len(mails) != 1 || mails[0] != "B: 2\n\nsmall\n" {
		t.Errorf("%d too large, then %.50q", large, mails)
	}
}

// endless is an mbox of n mails that is never in memory as a whole.
type endless struct{ n, at int }

func (e *endless) Read(b []byte) (int, error) {
	if e.at == e.n {
		return 0, io.EOF
	}
	e.at++
	return copy(b, fmt.Sprintf("%sA: %d\n\n%s\n\n", from, e.at, strings.Repeat("text ", 500))), nil
}

func TestMemoryIsBounded(t *testing.T) {
	const mails = 40_000 // 100 MB
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	count, peak := 0, uint64(0)
	for _, err := range mbox.Read(&endless{n: mails}) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count%5000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}
	}
	if count != mails {
		t.Errorf("%d mails, want %d", count, mails)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"box":            from + "A: 1\n\n\n" + from + "B: 2\n\n",
		"mails/1.eml":    "C: 3\n\nx\n",
		"mails/2.eml":    "D: 4\n\nx\n",
		"mails/.hidden":  "E: 5\n\nx\n",
		"maildir/cur/1":  "F: 6\n\nx\n",
		"maildir/new/2":  "G: 7\n\nx\n",
		"maildir/tmp/3":  "H: 8\n\nx\n",
		"maildir/notes":  "I: 9\n\nx\n",
		"mails/sub/more": "J: 10\n\nx\n",
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"box": "AB", "mails": "CD", "mails/1.eml": "C", "maildir": "FG"} {
		mails, err := collect(mbox.Open(filepath.Join(dir, path)))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		got := ""
		for _, m := range mails {
			got += m[:1]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if _, err := collect(mbox.Open(filepath.Join(dir, "nowhere"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nowhere: %v", err)
	}
	for range mbox.Open(filepath.Join(dir, "box")) {
		break // leaving early is allowed
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(from + "A: 1\n\nbody\n\n" + from + "B: 2\n\n>From x\n"))
	f.Add([]byte("From A\nA: 1\n\nFrom B\nB: 2\nC: 3\n"))
	f.Add([]byte("A: 1\r\n\r\nbody"))
	f.Fuzz(func(t *testing.T, in []byte) {
		total := 0
		for mail, err := range mbox.Read(bytes.NewReader(in)) {
			if err != nil {
				break
			}
			total += len(mail)
		}
		if !bytes.HasPrefix(in, []byte{0x1f, 0x8b}) && total > len(in) {
			t.Errorf("%d bytes of mails out of %d", total, len(in))
		}
	})
}

func collect(mails func(func([]byte, error) bool)) (list []string, err error) {
	for mail, e := range mails {
		if e != nil {
			return list, e
		}
		list = append(list, string(mail))
	}
	return list, nil
}

func zipped(text string) io.Reader {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return &b
}
