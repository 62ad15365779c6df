// Package config is the one TOML file that uabot reads: its keys, their defaults,
// and the table of targets.
//
// Everything is optional. The file is strict: a key that is not known, a value of
// the wrong kind or one that cannot be meant is an error that names the file and
// the line, since a setting that is silently ignored is worse than none.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Config is the whole configuration, defaults filled in.
type Config struct {
	Cache   string   `toml:"cache"`   // directory of trees and builds
	Jobs    int      `toml:"jobs"`    // compilers that run at once
	Enabled []string `toml:"targets"` // the targets to build for; empty for all
	Trees   []Tree   `toml:"tree"`
	Limits  Limits   `toml:"limits"`

	Database     string    `toml:"database"` // a file, or postgres://…
	Sources      []Source  `toml:"source"`
	Archive      string    `toml:"archive"`       // where a Message-ID is looked up
	QuietMinutes int       `toml:"quiet_minutes"` // how long a series is waited for when nothing more comes
	Relevance    Relevance `toml:"relevance"`

	Bot     Bot      `toml:"bot"`
	Common  []string `toml:"common"` // replaces the configuration that all targets share
	Targets []Target `toml:"target"` // rows added to the built-in table, or replacing one by name

	File string `toml:"-"` // where it was read from; empty when there was no file
}

// Tree is a kernel git repository.
type Tree struct {
	Name string `toml:"name"`
	Path string `toml:"path"`
}

// Limits bound what one foreign command or mail may cost.
type Limits struct {
	CompileSeconds int `toml:"compile_seconds"` // one compiler call or make run per target
	MemoryMB       int `toml:"memory_mb"`       // of one process
	Processes      int `toml:"processes"`       // at once in one sandbox
	OutputMB       int `toml:"output_mb"`       // printed by one command
	MailKB         int `toml:"mail_kb"`         // size of one mail
	HeaderUnits    int `toml:"header_units"`    // objects built because they include a changed header
}

// Bot is how the bot names itself in what it sends.
type Bot struct {
	Name    string `toml:"name"`
	Address string `toml:"address"`
	URL     string `toml:"url"` // of the dashboard; empty when there is none
}

// Default is the configuration without a file.
func Default() *Config {
	b := builtin()
	for i := range b.Target {
		b.Target[i].Common = b.Common
	}
	return &Config{
		Cache: defaultCache(),
		Jobs:  runtime.NumCPU(),
		Limits: Limits{
			CompileSeconds: 900, MemoryMB: 4096, Processes: 512, OutputMB: 16, MailKB: 4096, HeaderUnits: 24,
		},
		Database: defaultDatabase(), Archive: "https://lore.kernel.org/all", QuietMinutes: 20,
		Bot:     Bot{Name: "uabot", Address: "uabot@localhost"},
		Common:  b.Common,
		Targets: b.Target,
	}
}

// defaultCache is UABOT_CACHE, else ~/.cache/uabot.
func defaultCache() string {
	if dir := os.Getenv("UABOT_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("uabot-cache-%d", os.Getuid()))
		return dir
	}
	return filepath.Join(dir, "uabot")
}

// Path is where the file is looked for when none is named: UABOT_CONFIG, else
// ~/.config/uabot.toml.
func Path() string {
	if file := os.Getenv("UABOT_CONFIG"); file != "" {
		return file
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "uabot.toml")
}

// Load reads the configuration from file. An empty name means Path(), where it is
// no error that nothing is there.
func Load(file string) (*Config, error) {
	named := file != "" || os.Getenv("UABOT_CONFIG") != ""
	if file == "" {
		file = Path()
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && !named {
		c := Default()
		return c, c.finish(nil)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return Parse(file, text)
}

// Parse reads the configuration from text; file is its name in errors, and what
// relative paths in it are relative to.
func Parse(file string, text []byte) (*Config, error) {
	c := Default()
	rows := c.Targets
	c.Targets = nil
	if err := decodeStrict(file, text, c); err != nil {
		return nil, err
	}
	c.File = file
	own := c.Targets
	for _, t := range own {
		if i := slices.IndexFunc(rows, func(r Target) bool { return r.Name == t.Name }); i >= 0 {
			rows[i] = t
		} else {
			rows = append(rows, t)
		}
	}
	c.Targets = rows
	if err := c.finish(&positions{file: file, text: text, rows: own}); err != nil {
		return nil, err
	}
	return c, nil
}

// finish checks the values and completes what follows from others. Errors are
// placed by at, which may be nil.
func (c *Config) finish(at *positions) error {
	if c.Jobs < 1 {
		return at.errorf("jobs", "jobs is at least 1, not %d", c.Jobs)
	}
	for _, l := range []struct {
		key   string
		value int
	}{
		{"compile_seconds", c.Limits.CompileSeconds}, {"memory_mb", c.Limits.MemoryMB},
		{"processes", c.Limits.Processes}, {"output_mb", c.Limits.OutputMB},
		{"mail_kb", c.Limits.MailKB}, {"header_units", c.Limits.HeaderUnits},
	} {
		if l.value < 1 {
			return at.errorf("limits."+l.key, "%s is at least 1, not %d", l.key, l.value)
		}
	}
	if _, err := mail.ParseAddress(c.Bot.Address); err != nil || strings.ContainsAny(c.Bot.Address, "<> ") {
		return at.errorf("bot.address", "%q is no mail address", c.Bot.Address)
	}
	if u, err := url.Parse(c.Bot.URL); c.Bot.URL != "" && (err != nil || u.Scheme == "" || u.Host == "") {
		return at.errorf("bot.url", "%q is no URL", c.Bot.URL)
	}
	if u, err := url.Parse(c.Archive); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return at.errorf("archive", "%q is no address of a public-inbox", c.Archive)
	}
	if c.QuietMinutes < 1 {
		return at.errorf("quiet_minutes", "quiet_minutes is at least 1, not %d", c.QuietMinutes)
	}
	var err error
	if c.Cache, err = c.absolute(c.Cache); err != nil {
		return at.errorf("cache", "%v", err)
	}
	seen := map[string]bool{}
	for i := range c.Trees {
		t := &c.Trees[i]
		key := fmt.Sprintf("tree[%d]", i)
		switch {
		case t.Name == "":
			return at.errorf(key, "a tree needs a name")
		case seen[t.Name]:
			return at.errorf(key+".name", "there are two trees named %q", t.Name)
		case t.Path == "":
			return at.errorf(key, "tree %s needs a path", t.Name)
		}
		seen[t.Name] = true
		if t.Path, err = c.absolute(t.Path); err != nil {
			return at.errorf(key+".path", "%v", err)
		}
	}
	if !strings.Contains(c.Database, "://") {
		if c.Database, err = c.absolute(c.Database); err != nil {
			return at.errorf("database", "%v", err)
		}
	}
	for i := range c.Sources {
		s := &c.Sources[i]
		key := fmt.Sprintf("source[%d]", i)
		if wrong, err := s.check(); err != nil {
			return at.errorf(key+"."+wrong, "%v", err)
		}
		for _, path := range []*string{&s.Dir, &s.SecretFile} {
			if *path != "" {
				if *path, err = c.absolute(*path); err != nil {
					return at.errorf(key, "%v", err)
				}
			}
		}
	}
	for i := range c.Targets {
		t := &c.Targets[i]
		t.Common = c.Common
		if key, err := t.check(); err != nil {
			return at.targetErrorf(t.Name, key, "%v", err)
		}
	}
	if _, err := c.Select(nil); err != nil {
		return at.errorf("targets", "%v", err)
	}
	return nil
}

// absolute resolves ~ and paths relative to the file.
func (c *Config) absolute(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, rest), nil
	}
	if !filepath.IsAbs(path) && c.File != "" {
		path = filepath.Join(filepath.Dir(c.File), path)
	}
	return filepath.Abs(path)
}

// decodeStrict decodes text into v; its errors name the file, the line and the key.
func decodeStrict(file string, text []byte, v any) error {
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(v)
	var strict *toml.StrictMissingError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		first := strict.Errors[0]
		line, _ := first.Position()
		return fmt.Errorf("%s:%d: unknown key %s", file, line, strings.Join(first.Key(), "."))
	case errors.As(err, &decode):
		line, _ := decode.Position()
		return fmt.Errorf("%s:%d: %s", file, line, strings.TrimPrefix(decode.Error(), "toml: "))
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
