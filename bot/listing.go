package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"uabot/mail"
)

// listing collects what became of mails: a line for each series, however often it
// was handed out. It keeps no message.
type listing struct {
	relevance *mail.Relevance
	series    []listed
	index     map[string]int // by Series.ID
	mails     int
	unparsed  []string
}

// listed is the line of one series.
type listed struct {
	Subject   string `json:"subject"`
	Version   int    `json:"version"`
	Total     int    `json:"total"`
	Received  int    `json:"received"`
	Cover     bool   `json:"cover"`
	Complete  bool   `json:"complete"`
	MessageID string `json:"message_id"`
	Author    string `json:"author"`
	Date      string `json:"date"` // RFC 3339, UTC; empty when the mail has none that can be read
	Lineage   string `json:"lineage"`
	Relevant  bool   `json:"relevant"`
	Why       string `json:"why"`
	Missing   []int  `json:"missing"`
	Status    string `json:"status"` // applied, superseded, withdrawn, or empty
}

// counts is the last line of a listing.
type counts struct {
	Mails    int      `json:"mails"`
	Series   int      `json:"series"`
	Relevant int      `json:"relevant_series"`
	Unparsed []string `json:"unparsed"` // mails that could not be parsed
}

func (p *program) listing() (*listing, error) {
	relevance, err := mail.NewRelevance(p.topics())
	if err != nil {
		return nil, fmt.Errorf("[relevance] in %s: %w", p.config.File, err)
	}
	return &listing{relevance: relevance, index: map[string]int{}}, nil
}

// add takes series as an assembler hands them out.
func (l *listing) add(list []*mail.Series) {
	for _, s := range list {
		interest := l.relevance.Of(s)
		line := listed{
			Subject: s.Subject, Version: s.Version, Total: s.Total, Received: s.Received(), Cover: s.Cover != nil,
			Complete: s.Complete(), MessageID: s.ID, Author: authorOf(s.Author), Lineage: s.Lineage,
			Relevant: interest.Relevant, Why: interest.Why, Missing: append([]int{}, s.Missing...), Status: string(s.Status),
		}
		if !s.Date.IsZero() {
			line.Date = s.Date.UTC().Format(time.RFC3339)
		}
		if i, ok := l.index[s.ID]; ok {
			l.series[i] = line
			continue
		}
		l.index[s.ID] = len(l.series)
		l.series = append(l.series, line)
	}
}

// change takes what a thread says later of a series.
func (l *listing) change(list []mail.Change) {
	for _, c := range list {
		if i, ok := l.index[c.ID]; ok {
			l.series[i].Status = string(c.Status)
		}
	}
}

// print writes the lines and the counts.
func (l *listing) print(w io.Writer, asJSON bool) error {
	total := counts{Mails: l.mails, Series: len(l.series), Unparsed: append([]string{}, l.unparsed...)}
	encoder := jsonLines(w)
	for _, s := range l.series {
		if s.Relevant {
			total.Relevant++
		}
		var err error
		if asJSON {
			err = encoder.Encode(s)
		} else if s.Relevant {
			_, err = fmt.Fprintln(w, s.line())
		}
		if err != nil {
			return err
		}
	}
	if asJSON {
		return encoder.Encode(total)
	}
	_, err := fmt.Fprintf(w, "%d mails, %d series, %d about user access", total.Mails, total.Series, total.Relevant)
	if n := len(l.unparsed); err == nil && n > 0 {
		_, err = fmt.Fprintf(w, "; %d could not be parsed: %s", n, strings.Join(l.unparsed[:min(n, 10)], ", "))
	}
	fmt.Fprintln(w)
	return err
}

// line is one series for a reader.
func (s listed) line() string {
	day := "          "
	if len(s.Date) >= 10 {
		day = s.Date[:10]
	}
	parts := fmt.Sprintf("%d/%d", s.Received, s.Total)
	text := fmt.Sprintf("%s v%-2d %5s %s <%s>: %s", day, s.Version, parts, plain(s.Subject), s.MessageID, s.Why)
	if !s.Complete {
		text += ", waiting for " + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Missing), " ", ", "), "[]")
	}
	if s.Status != "" {
		text += ", " + s.Status
	}
	return text
}

// plain keeps foreign text from steering a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || slices.Contains([]rune{0x202a, 0x202b, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068}, r) {
			return '?'
		}
		return r
	}, s)
}

// jsonLines writes one object a line, addresses and code readable as they are.
func jsonLines(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// authorOf is a person as a mail names them.
func authorOf(a mail.Address) string {
	if a.Name == "" {
		return a.Addr
	}
	return a.Name + " <" + a.Addr + ">"
}
