package mail_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"uabot/mail"
	"uabot/mail/mbox"
)

var write = flag.Bool("write", false, "write the .expect files anew, to be read before they are committed")

// TestSeries reads testdata/series/NN-name.mbox and compares what is assembled with
// NN-name.expect, whose first line says which case it stands for.
func TestSeries(t *testing.T) {
	for _, file := range glob(t, "testdata/series/*.mbox") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".mbox"), func(t *testing.T) {
			expect := strings.TrimSuffix(file, ".mbox") + ".expect"
			text, err := os.ReadFile(expect)
			if err != nil {
				t.Fatal(err)
			}
			why, want, _ := strings.Cut(string(text), "\n")
			if !strings.HasPrefix(why, "why: ") {
				t.Fatalf("%s does not begin with a why", expect)
			}
			got := describe(mail.Assemble(readMails(t, file)))
			if *write {
				if err := os.WriteFile(expect, []byte(why+"\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", why, got, want)
			}
		})
	}
}

// TestAnyOrder delivers the mails of each case in other orders: the same series
// come out, as long as the thread or the ids tie them together.
func TestAnyOrder(t *testing.T) {
	unthreaded := []string{"13-", "27-", "29-", "17-", "16-", "30-", "21-", "22-", "14-", "19-", "05-", "12-"}
	for _, file := range glob(t, "testdata/series/*.mbox") {
		base := filepath.Base(file)
		if slices.ContainsFunc(unthreaded, func(p string) bool { return strings.HasPrefix(base, p) }) {
			continue // they say something by their order
		}
		messages := readMails(t, file)
		want := sortedSummary(mail.Assemble(messages))
		random := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			shuffled := slices.Clone(messages)
			random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if got := sortedSummary(mail.Assemble(shuffled)); got != want {
				var order []string
				for _, m := range shuffled {
					order = append(order, m.Subject)
				}
				t.Errorf("%s in the order\n%s\ngot:\n%s\nwant:\n%s", base, strings.Join(order, "\n"), got, want)
				break
			}
		}
	}
}

// describe writes series as the .expect files have them.
func describe(series []*mail.Series) string {
	var b strings.Builder
	lineages := map[string]int{}
	for _, s := range series {
		if lineages[s.Lineage] == 0 {
			lineages[s.Lineage] = len(lineages) + 1
		}
		fmt.Fprintf(&b, "series %q v%d received %d of %d, lineage %d", s.Subject, s.Version, s.Received(), s.Total, lineages[s.Lineage])
		for _, note := range []struct {
			text string
			on   bool
		}{
			{", cover", s.Cover != nil},
			{fmt.Sprintf(", missing %v", s.Missing), len(s.Missing) > 0},
			{fmt.Sprintf(", reused %v", s.Reused), len(s.Reused) > 0},
			{fmt.Sprintf(", prefixes %v", s.Prefixes), len(s.Prefixes) > 0},
			{", " + string(s.Status), s.Status != mail.Open},
			{fmt.Sprintf(", replies %d", len(s.Replies)), len(s.Replies) > 0},
			{", complete", s.Complete()},
		} {
			if note.on {
				b.WriteString(note.text)
			}
		}
		fmt.Fprintf(&b, "\n  from %s <%s>\n", s.Author.Name, s.Author.Addr)
		for _, p := range s.Patches {
			fmt.Fprintf(&b, "  %d %q by %s <%s>", p.Number, p.Title, p.Author.Name, p.Author.Addr)
			if err := p.Refuse(); err != nil {
				fmt.Fprintf(&b, ": %v", err)
			}
			b.WriteByte('\n')
		}
		for _, p := range s.Extras {
			fmt.Fprintf(&b, "  extra %q\n", p.Title)
		}
	}
	return b.String()
}

func sortedSummary(series []*mail.Series) string {
	var lines []string
	for _, s := range series {
		var titles []string
		for _, p := range s.Patches {
			titles = append(titles, p.Title)
		}
		lines = append(lines, fmt.Sprintf("%q v%d %d of %d cover %v missing %v: %q", s.Subject, s.Version, s.Received(), s.Total, s.Cover != nil, s.Missing, titles))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func readMails(t testing.TB, file string) []*mail.Message {
	t.Helper()
	var list []*mail.Message
	for raw, err := range mbox.Open(file) {
		if err != nil {
			t.Fatal(err)
		}
		m, err := mail.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		t.Fatalf("%s has no mails", file)
	}
	return list
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}
