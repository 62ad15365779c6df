package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"uabot/checks"
	"uabot/config"
)

// Tree is a configured kernel tree.
type Tree struct {
	Source string   // its root
	Output string   // kbuild's O=; the root itself, or empty, for a build in place
	Make   []string // further arguments for make where it has to be asked: "ARCH=arm", "CROSS_COMPILE=…"
}

// ErrNotCompiled says that the tree's configuration does not compile a file.
var ErrNotCompiled = errors.New("not compiled in this configuration")

// CheckFiles looks at C files of a configured tree, without compiling objects: names
// relative to the tree's root. How a file is compiled is read from what kbuild left
// beside its object; where there is no object, make is asked, which compiles one.
// It fails with ErrNotCompiled for a file that the configuration leaves out.
func CheckFiles(ctx context.Context, t Tree, files []string) (*checks.Result, error) {
	src, err := filepath.Abs(t.Source)
	if err != nil {
		return nil, fmt.Errorf("the tree's path: %w", err)
	}
	out := src
	if t.Output != "" {
		if out, err = filepath.Abs(t.Output); err != nil {
			return nil, fmt.Errorf("the output directory's path: %w", err)
		}
	}
	tmp, err := os.MkdirTemp("", "uabot-source-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for dumps: %w", err)
	}
	defer os.RemoveAll(tmp)
	kit := filepath.Join(tmp, "overlay")
	if err := WriteOverlay(kit); err != nil {
		return nil, err
	}

	b := &checks.Built{Source: src, Output: tmp, OutputAs: out, Units: make([]checks.Unit, len(files))}
	commands := make([]*command, len(files))
	for i, file := range files {
		file = filepath.ToSlash(filepath.Clean(file))
		if commands[i], err = t.command(ctx, src, out, file, tmp); err != nil {
			return nil, fmt.Errorf("how %s is compiled: %w", file, err)
		}
		b.Units[i].Source = file
		b.SourceAs, b.Target = commands[i].root, config.Target{Arch: commands[i].arch}
	}
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range b.Units {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			errs[i] = commands[i].dump(ctx, out, kit, tmp, fmt.Sprint(i), &b.Units[i])
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return Checker{}.Run(ctx, b)
}

// command is how kbuild compiles one file.
type command struct {
	cc    string // the compiler, as a shell has it
	flags string // the rest up to the source, as a shell has it
	file  string // the source as kbuild names it
	root  string // what it calls the tree's root, "" for none
	arch  string
}

var (
	savedCmd   = regexp.MustCompile(`^(?:saved)?cmd_\S+ := (.*)$`)
	objectArgs = regexp.MustCompile(` -c -o \S+ `)
	archOf     = regexp.MustCompile(`arch/(\w+)/include`)
)

// command finds how file is compiled.
func (t Tree) command(ctx context.Context, src, out, file, tmp string) (*command, error) {
	dir, base := filepath.Split(strings.TrimSuffix(file, ".c"))
	if !strings.HasSuffix(file, ".c") {
		return nil, errors.New("only C files can be looked at")
	}
	if _, err := os.Stat(filepath.Join(src, file)); err != nil {
		return nil, err
	}
	record := filepath.Join(out, dir, "."+base+".o.cmd")
	line, err := firstLine(record)
	if errors.Is(err, os.ErrNotExist) {
		args := append([]string{"-s", "-C", src}, t.Make...)
		if out != src {
			args = append(args, "O="+out)
		}
		cmd := exec.CommandContext(ctx, "make", append(args, dir+base+".o")...)
		if output, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: make: %v: %s", ErrNotCompiled, err, tail(output))
		}
		line, err = firstLine(record)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotCompiled, err)
	}
	m := savedCmd.FindStringSubmatch(line)
	if m == nil {
		return nil, fmt.Errorf("%s holds no command", record)
	}
	// make's escapes; further commands on the object follow a semicolon
	text := strings.NewReplacer("$$", "$", "$(pound)", "#").Replace(m[1])
	text, _, _ = strings.Cut(text, " ; ")
	text = strings.TrimSpace(objectArgs.ReplaceAllString(text, " "))
	at := strings.LastIndexByte(text, ' ')
	first := strings.Index(text, " -")
	if first < 0 || at <= first || !strings.HasSuffix(text[at+1:], file) {
		return nil, fmt.Errorf("%s holds no command that compiles it", record)
	}
	c := &command{cc: text[:first], flags: text[first+1 : at], file: text[at+1:]}
	c.root = strings.TrimSuffix(strings.TrimSuffix(c.file, file), "/")
	if m := archOf.FindStringSubmatch(c.flags); m != nil {
		c.arch = m[1]
	}
	return c, nil
}

func firstLine(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	return strings.TrimRight(line, "\n"), err
}

func tail(output []byte) string {
	const most = 400
	s := strings.TrimSpace(string(output))
	return s[max(0, len(s)-most):]
}

// dump makes the dumps of c's file under tmp, named name, and enters them in u.
func (c *command) dump(ctx context.Context, out, kit, tmp, name string, u *checks.Unit) error {
	script := ". \"$UABOT_OVERLAY/dump.sh\"; uabot_dump \"$OUT\" " + c.flags + " " + c.file
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = out
	cmd.Env = append(os.Environ(), "CC="+c.cc, "UABOT_OVERLAY="+kit, "OUT="+filepath.Join(tmp, name))
	if output, err := cmd.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(tmp, name+".cfg.log"))
		return fmt.Errorf("%s does not compile: %w: %s", u.Source, err, firstError(string(output)+string(log)))
	}
	u.Dump = name + ".cfg"
	if _, err := os.Stat(filepath.Join(tmp, name+".overlay.cfg")); err == nil {
		u.Overlay = name + ".overlay.cfg"
	}
	return nil
}

// firstError is the first error in a compiler's messages that is not our own.
func firstError(log string) string {
	for _, line := range strings.Split(log, "\n") {
		if strings.Contains(line, "error:") && !strings.Contains(line, "uabot:") {
			return line
		}
	}
	return tail([]byte(log))
}
