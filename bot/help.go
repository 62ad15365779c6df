package main

import (
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
)

const overview = `uabot reviews Linux kernel patch series that touch user access: get_user and
put_user, user_access_begin and user_access_end, unsafe_put_user, stac and clac.
It applies a series to a kernel tree, builds it for every target before and
after, and says what it newly breaks: above all an unbalanced access window.

Usage: uabot COMMAND [flags] [arguments]

`

const examples = `
Examples:
  uabot review --tree ~/linux series.mbox       a series as it was mailed
  uabot review --tree ~/linux origin/master..   your own commits, before you post
  uabot check sound/core/pcm_native.o           objects by themselves

Exit codes: 0 nothing new, 1 something new was found, 2 could not answer.
Settings are read from ~/.config/uabot.toml when it is there.
`

// help prints the overview of all commands.
func (p *program) help(w io.Writer) {
	fmt.Fprint(w, overview)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.short)
	}
	fmt.Fprintf(w, "  %-9s %s\n", "help", "this text, or `uabot help COMMAND`")
	fmt.Fprint(w, examples)
}

// usage prints the help of one command.
func usage(w io.Writer, c command, f *flag.FlagSet) {
	fmt.Fprintf(w, "Usage: uabot %s [flags] %s\n\n%s\n\nFlags:\n", c.name, c.args, strings.TrimSpace(c.long))
	f.VisitAll(func(fl *flag.Flag) {
		arg, text := flag.UnquoteUsage(fl)
		if arg == "value" {
			arg = ""
		}
		name := "--" + fl.Name
		if arg != "" {
			name += " " + arg
		}
		fmt.Fprintf(w, "  %-18s %s\n", name, text)
	})
}

// version is the module version that the program was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && (v == "" || v == "(devel)") {
			v = s.Value[:12]
		}
	}
	return v + ", " + info.GoVersion
}
