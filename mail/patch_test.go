package mail_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"uabot/internal/testenv"
	"uabot/mail"
)

// TestPatch reads testdata/patch/NN-name.txtar: a mail, in which \xNN stands for a
// byte, and what has to be read out of it.
func TestPatch(t *testing.T) {
	for _, file := range glob(t, "testdata/patch/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c := readCase(t, file)
			m, err := mail.Parse(c.mail)
			if err != nil {
				t.Fatal(err)
			}
			got := "no patch\n"
			if p, ok := mail.PatchOf(m); ok {
				got = describePatch(p)
			}
			for _, w := range m.Warnings {
				got += "warning: " + w + "\n"
			}
			if *write {
				c.archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(c.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(c.archive.Files[1].Data); got != want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.archive.Comment, got, want)
			}
		})
	}
}

// TestMailinfo holds against git what is read out of those mails, and then what git
// reads out of the mail that is made for git am.
func TestMailinfo(t *testing.T) {
	git := testenv.Tool(t, "git")[0]
	mails := map[string][]byte{}
	differs := map[string]bool{}
	for _, file := range glob(t, "testdata/patch/*.txtar") {
		c := readCase(t, file)
		mails[file] = c.mail
		differs[file] = bytes.Contains(c.archive.Comment, []byte("\ndiffers: "))
	}
	for _, file := range glob(t, "testdata/series/*.mbox") {
		for i, m := range readMails(t, file) {
			mails[fmt.Sprintf("%s %d", file, i)] = m.Raw
			differs[fmt.Sprintf("%s %d", file, i)] = strings.Contains(file, "24-") || strings.Contains(file, "27-")
		}
	}
	compared := 0
	for file, raw := range mails {
		m, err := mail.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := mail.PatchOf(m)
		if !ok {
			continue
		}
		compared++
		own := ownInfo(p)
		if got := gitInfo(t, git, bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))); got != own && !differs[file] {
			t.Errorf("%s\nread:\n%s\nby git:\n%s", file, own, got)
		} else if got == own && differs[file] && !strings.Contains(file, ".mbox") {
			t.Errorf("%s says that git differs, but it does not", file)
		}
		// git strips what brackets are left in a title.
		want := strings.Replace(own, "subject: [next] ", "subject: ", 1)
		if got := gitInfo(t, git, p.Mail()); strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
			t.Errorf("%s, as given to git am\nread:\n%s\nby git:\n%s", file, want, got)
		}
	}
	if compared < 60 {
		t.Errorf("only %d patches were compared", compared)
	}
}

// TestAm applies a whole series with git am: its mbox is in order.
func TestAm(t *testing.T) {
	git := testenv.Tool(t, "git")[0]
	dir := t.TempDir()
	run := func(stdin []byte, args ...string) string {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run(nil, "init", "-q")
	for n := 1; n <= 2; n++ {
		file := filepath.Join(dir, "lib", fmt.Sprintf("part%d.c", n))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("\n", 9) + "{\n\treturn 1;\n}\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(nil, "add", ".")
	run(nil, "commit", "-q", "-m", "base")
	series := mail.Assemble(readMails(t, "testdata/series/02-out-of-order.mbox"))
	run(series[0].Mbox(), "am", "-q", "--patch-format=mboxrd")
	want := "lib: two|Ada Example|ada@example.org\nlib: one|Ada Example|ada@example.org\n"
	if got := run(nil, "log", "-2", "--format=%s|%an|%ae"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

type patchCase struct {
	archive *txtar.Archive
	mail    []byte
}

func readCase(t testing.TB, file string) patchCase {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Files) != 2 || a.Files[0].Name != "mail" || a.Files[1].Name != "want" || !bytes.HasPrefix(a.Comment, []byte("why: ")) {
		t.Fatalf("%s is not made of why, mail and want", file)
	}
	return patchCase{a, unescape(t, a.Files[0].Data)}
}

// unescape undoes \xNN and \\.
func unescape(t testing.TB, b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] != '\\':
			out = append(out, b[i])
		case i+1 < len(b) && b[i+1] == '\\':
			out = append(out, '\\')
			i++
		default:
			var c byte
			if _, err := fmt.Sscanf(string(b[i:min(i+4, len(b))]), `\x%02x`, &c); err != nil {
				t.Fatalf("escape %q: %v", b[i:min(i+4, len(b))], err)
			}
			out = append(out, c)
			i += 3
		}
	}
	return out
}

func describePatch(p *mail.Patch) string {
	var b strings.Builder
	fmt.Fprintf(&b, "v%d %d/%d %q %q\nauthor: %q <%s>\nlog: %q\n", p.Version, p.Number, p.Total, p.Prefixes, p.Title, p.Author.Name, p.Author.Addr, p.Log)
	for _, f := range p.Files {
		added, removed := 0, 0
		for _, h := range f.TextFragments {
			added += int(h.LinesAdded)
			removed += int(h.LinesDeleted)
		}
		fmt.Fprintf(&b, "file: %s -> %s +%d -%d\n", f.OldName, f.NewName, added, removed)
	}
	fmt.Fprintf(&b, "diff ends: %q\n", p.Diff[max(0, len(p.Diff)-40):])
	if err := p.Refuse(); err != nil {
		fmt.Fprintf(&b, "refused: %v\n", err)
	}
	return b.String()
}

func ownInfo(p *mail.Patch) string {
	return fmt.Sprintf("author: %s\nemail: %s\nsubject: %s\n%s\n%s", p.Author.Name, p.Author.Addr, p.Title, p.Log, p.Diff)
}

// gitInfo is what git mailinfo says, in the form of ownInfo.
func gitInfo(t testing.TB, git string, raw []byte) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(git, "mailinfo", filepath.Join(dir, "msg"), filepath.Join(dir, "patch"))
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(raw)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		return "git mailinfo: " + err.Error()
	}
	msg, err := os.ReadFile(filepath.Join(dir, "msg"))
	if err != nil {
		t.Fatal(err)
	}
	patch, err := os.ReadFile(filepath.Join(dir, "patch"))
	if err != nil {
		t.Fatal(err)
	}
	info := map[string]string{}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		info[key] = value
	}
	return fmt.Sprintf("author: %s\nemail: %s\nsubject: %s\n%s\n%s", info["Author"], info["Email"], info["Subject"], msg, patch)
}
