package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"uabot/checks"
	"uabot/checks/kbuild"
	"uabot/checks/kbuild/sandbox"
	"uabot/config"
	"uabot/mail"
	"uabot/mail/mbox"
	"uabot/review"
	"uabot/review/report"
	"uabot/review/tree"
)

var reviewCommand = command{
	name:  "review",
	args:  "SOURCE",
	short: "apply a series, build it before and after, say what is new",
	long: `
SOURCE is an mbox file, a maildir, a mail in a file, "-" for one on standard
input; a Message-ID or the address of a mail in an archive, whose whole thread is
fetched then; or a range of commits of the tree: "base..tip", or "base.." for what
HEAD has on top of base.

The patches are applied to the base-commit that the series names, where the tree
has it, else to --base, else to the tree's HEAD. The tree itself, its index and
its working files are never changed. Several series in one mbox are reviewed one
after another.

Exit code: 0 nothing new, 1 something new was found, 2 could not review.`,
	run: runReview,
}

// reviewFlags are the flags of `uabot review`.
type reviewFlags struct {
	tree, base, cache         string
	targets                   stringList
	jobs                      int
	json, mail, quiet, unsafe bool
}

func runReview(f *flag.FlagSet) func(context.Context, *program, []string) int {
	var o reviewFlags
	f.StringVar(&o.tree, "tree", "", "the kernel tree: a `PATH`, or a name from the configuration (default: its first, else .)")
	f.StringVar(&o.base, "base", "", "apply to `COMMIT` unless the series names its base")
	f.StringVar(&o.cache, "cache", "", "keep builds in `DIR`")
	f.Var(&o.targets, "target", "only these `TARGETS`, separated by commas (see `uabot targets`)")
	f.IntVar(&o.jobs, "jobs", 0, "run `N` compilers at once (default: one for each processor)")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each series")
	f.BoolVar(&o.mail, "mail", false, "print the reply as a complete mail; it is not sent")
	f.BoolVar(&o.quiet, "quiet", false, "no progress")
	f.BoolVar(&o.unsafe, "unsandboxed", false, "build without a sandbox: the series' code runs as you")
	return func(ctx context.Context, p *program, args []string) int {
		switch {
		case len(args) != 1:
			return p.trouble(fmt.Errorf("review takes one SOURCE, not %d; see `uabot help review`", len(args)))
		case o.json && o.mail:
			return p.trouble(errors.New("--json and --mail exclude each other"))
		}
		code, err := p.review(ctx, o, args[0])
		if err != nil {
			return p.trouble(err)
		}
		return code
	}
}

// review reviews every series of source and returns the highest exit code.
func (p *program) review(ctx context.Context, o reviewFlags, source string) (int, error) {
	if o.jobs > 0 {
		p.config.Jobs = o.jobs
	}
	if o.cache != "" {
		dir, err := filepath.Abs(o.cache)
		if err != nil {
			return 0, fmt.Errorf("--cache: %w", err)
		}
		p.config.Cache = dir
	}
	path, err := p.treePath(o.tree)
	if err != nil {
		return 0, err
	}
	repo, err := tree.Open(ctx, path, p.config.Cache)
	if err != nil {
		return 0, err
	}
	series, requests, err := p.readSource(ctx, repo, &o, source)
	if err != nil {
		return 0, err
	}
	reviewer, err := p.reviewer(ctx, repo, o.targets, o.unsafe)
	if err != nil {
		return 0, err
	}
	shown := newProgress(p.stderr, o.quiet)
	worst := exitClean
	earlier := map[string]*review.Verdict{} // by lineage
	for i, q := range requests {
		if len(requests) > 1 && !o.json {
			if i > 0 {
				fmt.Fprintln(p.stdout)
			}
			fmt.Fprintf(p.stdout, "=== %s (%s)\n", series[i].Subject, countPatches(len(series[i].Patches)))
		}
		q.Progress = shown.event
		reviewer.Builder.Progress = shown.step
		verdict, err := reviewer.Run(ctx, q)
		shown.done()
		if err != nil {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			fmt.Fprintf(p.stderr, "uabot: %s: %v\n", series[i].Subject, err)
			worst = exitTrouble
			continue
		}
		lineage := series[i].Lineage
		if before := earlier[lineage]; before != nil && lineage != "" && before.Series.Version < series[i].Version {
			verdict.Compare(before)
		}
		earlier[lineage] = verdict
		if err := p.print(verdict, o); err != nil {
			return 0, err
		}
		worst = max(worst, verdict.ExitCode())
	}
	return worst, nil
}

// treePath is the path of the tree that a flag names.
func (p *program) treePath(flag string) (string, error) {
	for _, t := range p.config.Trees {
		if flag == t.Name || flag == "" {
			return t.Path, nil
		}
	}
	if flag == "" {
		flag = "."
	}
	if _, err := os.Stat(filepath.Join(flag, "Kbuild")); err != nil {
		if bare, _ := filepath.Glob(filepath.Join(flag, "HEAD")); bare == nil {
			return "", fmt.Errorf("%s is no kernel tree; name one with --tree, or in %s", flag, config.Path())
		}
	}
	return flag, nil
}

// readSource reads the series that source names.
func (p *program) readSource(ctx context.Context, repo *tree.Repo, o *reviewFlags, source string) ([]*mail.Series, []review.Request, error) {
	var raws iter.Seq2[[]byte, error]
	name := source
	_, statErr := os.Stat(source)
	base, tip, isRange := strings.Cut(source, "..")
	isRange = isRange && !strings.Contains(source, "@")
	wanted := "" // the mail whose series is meant; empty for all
	switch {
	case source == "-":
		raws = mbox.Read(p.stdin)
		name = ""
	case statErr == nil:
		raws = mbox.Open(source)
	case isRange:
		var err error
		if raws, err = p.formatRange(ctx, repo, base, tip, o); err != nil {
			return nil, nil, err
		}
		name = o.base + ".." + tip
	case strings.Contains(source, "@"):
		thread, id, err := p.client().FetchThread(ctx, p.config.Archive, source)
		if err != nil {
			return nil, nil, err
		}
		raws, name, wanted = mailsOf(thread), id, id
	default:
		return nil, nil, fmt.Errorf("%q is no file, no Message-ID and no range of commits", source)
	}
	var messages []*mail.Message
	for raw, err := range raws {
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", source, err)
		}
		if limit := p.config.Limits.MailKB << 10; len(raw) > limit {
			return nil, nil, fmt.Errorf("reading %s: mail %d has %d KB, more than limits.mail_kb = %d", source, len(messages)+1, len(raw)>>10, p.config.Limits.MailKB)
		}
		m, err := mail.Parse(raw)
		if err != nil {
			fmt.Fprintf(p.stderr, "uabot: %s: mail %d cannot be read and is left out: %v\n", source, len(messages)+1, err)
			continue
		}
		messages = append(messages, m)
	}
	var list []*mail.Series
	var requests []review.Request
	for _, s := range mail.Assemble(messages) {
		if len(s.Patches) == 0 || wanted != "" && !holds(s, wanted) {
			continue
		}
		if len(s.Missing) > 0 {
			return nil, nil, fmt.Errorf("%s: %q is not complete: %s missing", source, s.Subject, numbers(s.Missing, s.Total))
		}
		list = append(list, s)
		requests = append(requests, review.Request{Series: s, Source: name, Base: o.base})
	}
	if list == nil {
		return nil, nil, fmt.Errorf("%s: there is no patch in it (%d mails read)", source, len(messages))
	}
	return list, requests, nil
}

// mailsOf are the raw bytes of mails.
func mailsOf(list []mail.Raw) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, m := range list {
			if !yield(m.Bytes, nil) {
				return
			}
		}
	}
}

// holds reports whether a mail is a part of a series, or answers it.
func holds(s *mail.Series, id string) bool {
	if s.ID == id || s.Cover != nil && s.Cover.ID == id {
		return true
	}
	for _, p := range s.Patches {
		if p.Message.ID == id {
			return true
		}
	}
	for _, m := range s.Replies {
		if m.ID == id {
			return true
		}
	}
	return false
}

// formatRange turns a range of the tree's commits into mails, and makes its start
// the base.
func (p *program) formatRange(ctx context.Context, repo *tree.Repo, base, tip string, o *reviewFlags) (iter.Seq2[[]byte, error], error) {
	if o.base != "" {
		return nil, errors.New("--base does not go with a range of commits, which has its own")
	}
	if tip == "" {
		tip = "HEAD"
	}
	from, err := repo.Resolve(ctx, base)
	if err != nil {
		return nil, err
	}
	to, err := repo.Resolve(ctx, tip)
	if err != nil {
		return nil, err
	}
	text, err := repo.FormatPatch(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("reading the commits of %s..%s: %w", base, tip, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s..%s has no commit", base, tip)
	}
	o.base = from
	return mbox.Read(bytes.NewReader(text)), nil
}

// reviewer makes the reviewer for a tree.
func (p *program) reviewer(ctx context.Context, repo *tree.Repo, names []string, unsafe bool) (*review.Reviewer, error) {
	targets, err := p.config.Select(names)
	if err != nil {
		return nil, err
	}
	runner, err := p.runner(ctx, unsafe)
	if err != nil {
		return nil, err
	}
	builder, err := p.builder(runner)
	if err != nil {
		return nil, err
	}
	return &review.Reviewer{
		Repo: repo, Builder: builder, Targets: targets, Jobs: p.config.Jobs,
		Checks: func(base kbuild.Tree) []checks.Check { return p.checks(builder, base) },
	}, nil
}

// runner is what foreign commands run in. Without a sandbox it has to be asked for,
// and is said loudly.
func (p *program) runner(ctx context.Context, unsafe bool) (*sandbox.Runner, error) {
	if unsafe {
		fmt.Fprintln(p.stderr, "uabot: WARNING: no sandbox: whatever the series makes the build do is done as you, with your files and your network")
		return sandbox.Unsandboxed()
	}
	runner, err := sandbox.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w\nTo build all the same, with nothing between the series and your files: --unsandboxed", err)
	}
	return runner, nil
}

// print writes a verdict in the form that was asked for.
func (p *program) print(v *review.Verdict, o reviewFlags) error {
	var out []byte
	var err error
	switch {
	case o.json:
		out, err = report.JSON(v)
	case o.mail:
		// A mail's lines end in CRLF on the wire; files and pipes have plain ones.
		out, err = report.Mail(v, report.Identity{Name: p.config.Bot.Name, Address: p.config.Bot.Address, URL: p.config.Bot.URL})
	default:
		out = []byte(report.Text(v, report.Options{Lines: -1}))
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	out = bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n"))
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	_, err = io.Copy(p.stdout, bytes.NewReader(out))
	return err
}

func countPatches(n int) string {
	if n == 1 {
		return "1 patch"
	}
	return fmt.Sprintf("%d patches", n)
}

// numbers names missing patches: "2/5 and 4/5 are".
func numbers(list []int, total int) string {
	var words []string
	for _, n := range list {
		words = append(words, fmt.Sprintf("%d/%d", n, total))
	}
	if len(words) == 1 {
		return words[0] + " is"
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1] + " are"
}
