// The program uabot: reviews kernel patch series that touch user access.
//
// One file per subcommand, each only wiring: it reads its flags, calls the packages
// that do the work, and prints. `uabot help` is the user's guide.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"uabot/config"
)

// The exit codes, a contract that others script against.
const (
	exitClean   = 0 // nothing new was found
	exitFound   = 1 // something was
	exitTrouble = 2 // the question could not be answered
)

// command is one subcommand.
type command struct {
	name  string
	args  string // what follows the flags, for the usage line
	short string // one line
	long  string // what a user has to know
	// run registers its flags on f and returns what to do once they are parsed.
	run func(f *flag.FlagSet) func(ctx context.Context, p *program, args []string) int
}

// program is the world of a subcommand.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	config         *config.Config
}

// commands returns the subcommands in the order of the help.
func commands() []command {
	return []command{reviewCommand, checkCommand, replayCommand, pollCommand, targetsCommand, doctorCommand}
}

func main() { os.Exit(Main()) }

// Main runs the program on the process's arguments and returns its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	return p.main(ctx, os.Args[1:])
}

func (p *program) main(ctx context.Context, args []string) int {
	if len(args) == 0 {
		p.help(p.stderr)
		return exitTrouble
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		if len(rest) == 0 {
			p.help(p.stdout)
			return exitClean
		}
		name, rest = rest[0], []string{"-h"}
	case "version", "--version":
		fmt.Fprintln(p.stdout, "uabot", version())
		return exitClean
	}
	for _, c := range commands() {
		if c.name == name {
			return p.dispatch(ctx, c, rest)
		}
	}
	fmt.Fprintf(p.stderr, "uabot: there is no command %q; `uabot help` lists them\n", name)
	return exitTrouble
}

// dispatch parses the flags of c and runs it.
func (p *program) dispatch(ctx context.Context, c command, args []string) int {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	file := f.String("config", "", "read the configuration from `FILE` (default "+config.Path()+")")
	run := c.run(f)
	positional, err := parseInterspersed(f, args)
	if errors.Is(err, flag.ErrHelp) {
		usage(p.stdout, c, f)
		return exitClean
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "uabot %s: %v; see `uabot help %s`\n", c.name, err, c.name)
		return exitTrouble
	}
	if p.config, err = config.Load(*file); err != nil {
		return p.trouble(err)
	}
	return run(ctx, p, positional)
}

// parseInterspersed parses flags that may also stand after arguments, as git's and
// make's do. "--" ends the flags.
func parseInterspersed(f *flag.FlagSet, args []string) (positional []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		rest := f.Args()
		if len(rest) == 0 {
			return positional, nil
		}
		if ended := len(args) - len(rest); ended > 0 && args[ended-1] == "--" {
			return append(positional, rest...), nil
		}
		positional = append(positional, rest[0])
		args = rest[1:]
	}
}

// trouble tells why the question could not be answered.
func (p *program) trouble(err error) int {
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(p.stderr, "uabot: interrupted; nothing is left running or half-made")
		return exitTrouble
	}
	fmt.Fprintf(p.stderr, "uabot: %v\n", err)
	return exitTrouble
}

// stringList is a flag that may be given several times, or once with commas.
type stringList []string

func (l *stringList) String() string { return strings.Join(*l, ",") }

func (l *stringList) Set(value string) error {
	for _, part := range strings.Split(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}
