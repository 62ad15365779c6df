package mail_test

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"uabot/mail"
)

var start = time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)

// post makes a mail of Ada's; one with a diff when file is given.
func post(id, subject, answers, file string) *mail.Message {
	text := "From: Ada Example <ada@example.org>\nSubject: " + subject + "\nMessage-ID: <" + id + ">\n"
	if answers != "" {
		text += "In-Reply-To: <" + answers + ">\n"
	}
	text += "\nSay why.\n"
	if file != "" {
		text += "---\n\ndiff --git a/" + file + " b/" + file + "\n--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-a\n+b " + id + "\n"
	}
	m, err := mail.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return m
}

// ready describes what Ready gives at a time.
func ready(t *testing.T, a *mail.Assembler, at time.Time) string {
	t.Helper()
	series, err := a.Ready(at)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, s := range series {
		parts = append(parts, fmt.Sprintf("%s %d/%d %s", s.ID, s.Received(), s.Total, s.Event))
	}
	return strings.Join(parts, ", ")
}

func TestWaiting(t *testing.T) {
	a := &mail.Assembler{Quiet: 10 * time.Minute}
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	step := func(minutes int, m *mail.Message, want string) {
		t.Helper()
		if m != nil {
			a.Add(m, at(minutes))
		}
		if got := ready(t, a, at(minutes)); got != want {
			t.Errorf("after %d minutes: %q, want %q", minutes, got, want)
		}
	}
	step(0, post("c@x", "[PATCH 0/3] x", "", ""), "")
	step(1, post("1@x", "[PATCH 1/3] one", "c@x", "a.c"), "")
	step(2, post("2@x", "[PATCH 2/3] two", "c@x", "b.c"), "")
	step(11, nil, "")
	step(12, nil, "c@x 2/3 waited")
	step(13, nil, "")
	step(300, post("3@x", "[PATCH 3/3] three", "c@x", "c.c"), "c@x 3/3 late")
	step(301, post("other@x", "[PATCH] single", "", "d.c"), "other@x 1/1 complete")
	// All patches are there, but they answer a cover letter that is not.
	step(400, post("p1@x", "[PATCH 1/2] p", "p0@x", "a.c"), "")
	step(401, post("p2@x", "[PATCH 2/2] q", "p0@x", "b.c"), "")
	step(402, post("p0@x", "[PATCH 0/2] cover", "", ""), "p0@x 2/2 complete")
	step(500, post("q1@x", "[PATCH 1/2] r", "q0@x", "a.c"), "")
	step(501, post("q2@x", "[PATCH 2/2] s", "q0@x", "b.c"), "")
	step(511, nil, "q1@x 2/2 complete")
	step(600, post("q0@x", "[PATCH 0/2] a late cover", "", ""), "q1@x 2/2 late") // its ID stays
	if got := a.Changes(); len(got) != 0 {
		t.Errorf("changes %+v", got)
	}
}

func TestChanges(t *testing.T) {
	a := &mail.Assembler{}
	a.Add(post("1@x", "[PATCH] one", "", "a.c"), start)
	if got := ready(t, a, start); got != "1@x 1/1 complete" {
		t.Fatal(got)
	}
	a.Add(post("2@x", "[PATCH v2] one", "", "a.c"), start.Add(time.Hour))
	if got := ready(t, a, start.Add(time.Hour)); got != "2@x 1/1 complete" {
		t.Fatal(got)
	}
	eve := post("3@x", "Re: [PATCH v2] one", "2@x", "")
	eve, _ = mail.Parse([]byte(strings.Replace(strings.Replace(string(eve.Raw), "Ada Example <ada@example.org>", "Eve <eve@x>", 1), "Say why.", "> Say why.\n\nApplied, thanks.", 1)))
	a.Add(eve, start.Add(2*time.Hour))
	var got []string
	for _, c := range a.Changes() {
		by := "-"
		if c.By != nil {
			by = c.By.ID
		}
		got = append(got, fmt.Sprintf("%s %s %s by %s", c.ID, c.Lineage, c.Status, by))
	}
	want := "1@x 1@x superseded by -, 2@x 1@x applied by 3@x"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if ready(t, a, start.Add(3*time.Hour)) != "" || len(a.Changes()) != 0 {
		t.Error("given twice")
	}
}

// TestLoad lets messages go and loads them again for what comes late.
func TestLoad(t *testing.T) {
	store := map[mail.Ref][]byte{}
	loads := 0
	broken := false
	a := &mail.Assembler{Budget: 1, Load: func(ref mail.Ref) ([]byte, error) {
		loads++
		if broken {
			return nil, errors.New("the disk is gone")
		}
		return store[ref], nil
	}}
	add := func(m *mail.Message, at time.Time) {
		store[mail.Ref{ID: m.ID, Sum: mail.SumOf(m.Raw)}] = m.Raw
		a.Add(m, at)
	}
	add(post("c@x", "[PATCH 0/2] x", "", ""), start)
	add(post("1@x", "[PATCH 1/2] one", "c@x", "a.c"), start)
	add(post("2@x", "[PATCH 2/2] two", "c@x", "b.c"), start)
	broken = true
	if series, err := a.Ready(start); len(series) != 0 || err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("got %d series, %v", len(series), err)
	}
	broken = false
	series, err := a.Ready(start)
	if err != nil || len(series) != 1 || len(series[0].Patches) != 2 || series[0].Cover == nil {
		t.Fatalf("got %+v, %v", series, err)
	}
	if p := series[0].Patches[1]; p.Title != "two" || len(p.Files) != 1 || len(p.Message.Raw) == 0 {
		t.Errorf("patch 2 came back as %+v", p)
	}
	if loads == 0 {
		t.Error("nothing was let go")
	}
}

// TestMemory assembles many series and forgets them: what is held is bounded.
func TestMemory(t *testing.T) {
	store := map[mail.Ref][]byte{}
	a := &mail.Assembler{Keep: 24 * time.Hour, Load: func(ref mail.Ref) ([]byte, error) { return store[ref], nil }}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	given := 0
	var first int64
	padding := "\n" + strings.Repeat("# text below the patch, for weight\n", 400)
	for i := range 2000 {
		at := start.Add(time.Duration(i) * time.Hour)
		m := post(fmt.Sprintf("%d@x", i), fmt.Sprintf("[PATCH] number %d of a kind", i), "", "a.c")
		m, _ = mail.Parse(append(m.Raw, padding...))
		a.Add(m, at)
		a.Add(post(fmt.Sprintf("r%d@x", i), "Re: [PATCH] number", m.ID, ""), at)
		series, err := a.Ready(at)
		if err != nil {
			t.Fatal(err)
		}
		given += len(series)
		if i == 500 {
			first = heap()
		}
	}
	if given != 2000 {
		t.Errorf("%d series, want 2000", given)
	}
	// Of each work that went by only titles and ids are remembered.
	if grown := heap() - first; grown > 4<<20 {
		t.Errorf("1500 more series made the heap grow by %d bytes", grown)
	}
	runtime.KeepAlive(a)
}

// TestClock has one mail of the far future: nothing is forgotten for it.
func TestClock(t *testing.T) {
	a := &mail.Assembler{Keep: time.Hour}
	a.Add(post("c@x", "[PATCH 0/2] x", "", ""), start)
	for i := range 600 {
		at := start.Add(time.Duration(i) * time.Second)
		if i%100 == 50 {
			at = start.AddDate(50, 0, 0)
		}
		a.Add(post(fmt.Sprintf("n%d@x", i), "talk", "unknown@x", ""), at)
		if _, err := a.Ready(start); err != nil {
			t.Fatal(err)
		}
	}
	a.Add(post("1@x", "[PATCH 1/2] one", "c@x", "a.c"), start.Add(20*time.Minute))
	a.Add(post("2@x", "[PATCH 2/2] two", "c@x", "a.c"), start.Add(20*time.Minute))
	if got := ready(t, a, start.Add(21*time.Minute)); got != "c@x 2/2 complete" {
		t.Errorf("got %q", got)
	}
}

func TestParseAhead(t *testing.T) {
	source := func(n int) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for i := range n {
				raw := []byte(fmt.Sprintf("Message-ID: <%d@x>\nSubject: [PATCH] x\n\n%s", i, strings.Repeat("text\n", i%50*20)))
				if i%10 == 9 {
					raw = []byte("no mail at all")
				}
				var err error
				if i%100 == 50 {
					raw, err = nil, errors.New("broken")
				}
				if !yield(raw, err) {
					return
				}
			}
		}
	}
	i := 0
	for m, err := range mail.ParseAhead(source(1000), 4) {
		switch {
		case i%100 == 50:
			if err == nil {
				t.Errorf("%d: the error got lost", i)
			}
		case err != nil:
			t.Errorf("%d: %v", i, err)
		case i%10 == 9:
			if string(m.Raw) != "no mail at all" {
				t.Errorf("%d: %q", i, m.Raw)
			}
		case m.ID != fmt.Sprintf("%d@x", i):
			t.Errorf("%d: %s", i, m.ID)
		}
		i++
	}
	if i != 1000 {
		t.Errorf("%d mails", i)
	}
	for range mail.ParseAhead(source(1000), 2) {
		break // leaving early leaves no goroutine that waits for ever
	}
}
