package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"uabot/mail"
	"uabot/review"
)

// maxToolText bounds what one check said on one target, in bytes; see JSON.
const maxToolText = 16 << 10

// The objects of the JSON form; JSON documents them.
type (
	jsonVerdict struct {
		Revision   jsonRevision     `json:"revision"`
		Source     string           `json:"source"`
		Base       jsonBase         `json:"base"`
		Applied    bool             `json:"applied"`
		Targets    []jsonTarget     `json:"targets"`
		Findings   []jsonFinding    `json:"findings"`
		Windows    []jsonWindow     `json:"windows"`
		Uncompiled []jsonUncompiled `json:"uncompiled"`
		Since      *jsonSince       `json:"since,omitempty"`
		Reproduce  []string         `json:"reproduce"`
		Notes      []string         `json:"notes"`
		Seconds    float64          `json:"seconds"`
	}
	jsonRevision struct {
		Subject   string `json:"subject"`
		Version   int    `json:"version"`
		Patches   int    `json:"patches"`
		MessageID string `json:"message_id"`
	}
	jsonSince struct {
		Version int      `json:"version"`
		Fixed   []string `json:"fixed"`
		Still   []string `json:"still"`
	}
	jsonBase struct {
		Commit string `json:"commit"`
		Name   string `json:"name"`
		Reason string `json:"reason"`
	}
	jsonTarget struct {
		Name     string   `json:"name"`
		Status   string   `json:"status"`
		Reason   string   `json:"reason"`
		Compiler string   `json:"compiler"`
		Objects  []string `json:"objects"`
		Seconds  float64  `json:"seconds"`
		Notes    []string `json:"notes"`
	}
	jsonFinding struct {
		ID       string         `json:"id"`
		Rule     string         `json:"rule"`
		Title    string         `json:"title"`
		File     string         `json:"file"`
		Line     int            `json:"line"`
		Function string         `json:"function"`
		Detail   string         `json:"detail"`
		Class    string         `json:"class"`
		Status   string         `json:"status"`
		Patch    int            `json:"patch"`
		HealedBy int            `json:"healed_by"`
		Targets  []string       `json:"targets"`
		Witness  []jsonStep     `json:"witness"`
		Inlined  []string       `json:"inlined"`
		Evidence []jsonEvidence `json:"evidence"`
		Note     string         `json:"note"`
		Fix      *jsonFix       `json:"fix"`
	}
	jsonStep struct {
		File string `json:"file"`
		Line int    `json:"line"`
		Text string `json:"text"`
		Note string `json:"note"`
	}
	jsonEvidence struct {
		Check  string `json:"check"`
		Target string `json:"target"`
		Text   string `json:"text"`
	}
	jsonFix struct {
		Text string `json:"text"`
		Diff string `json:"diff"`
	}
	jsonWindow struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Target   string `json:"target"`
		Before   int    `json:"before"`
		After    int    `json:"after"`
	}
	jsonUncompiled struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Reason string `json:"reason"`
	}
)

// JSON is v as one JSON object with a newline after it. Others script against it:
// a field never changes its name, type or meaning; fields are only added.
//
//	{"revision": {"subject",            title of the cover letter, else of the first patch
//	              "version",            1 when the subject does not say
//	              "patches",            how many there are
//	              "message_id"},        of the cover letter, else of the first patch; "" for commits
//	 "source",                          how a person gets the series
//	 "base": {"commit", "name", "reason"},
//	 "applied": bool,
//	 "targets": [{"name", "status": "ok" | "failed" | "skipped",
//	              "reason",             why it failed or was skipped, else ""
//	              "compiler", "objects": [path], "seconds", "notes": [text]}],
//	 "findings": [{"id",                the same for the same problem in another build or revision
//	               "rule", "title", "file", "line" (0: unknown), "function", "detail",
//	               "class": "object" | "source" | "build" | "heuristic" | "policy",
//	               "status": "new" | "gone" | "before",
//	               "patch",             which one brings it, from 1; 0: unknown or not new
//	               "healed_by",         which one takes it away again; 0: it is there at the end
//	               "targets": [name],
//	               "witness": [{"file", "line", "text", "note"}],
//	               "inlined": ["function (file:line)"],
//	               "evidence": [{"check", "target", "text"}],
//	               "note", "fix": {"text", "diff"} | null}],
//	 "windows": [{"function", "file", "target",
//	              "before", "after"}],  -1: there is no such function
//	 "uncompiled": [{"file", "line", "reason"}],   one for each line
//	 "since": {"version", "fixed": [id], "still": [id]} (where an earlier revision was reviewed, too),
//	 "reproduce": [command], "notes": [text], "seconds"}
//
// Findings stand in the order of reports, new ones first: the n-th of them is [n] in a
// mail. Lists are never null. What a tool said is given raw, but only its first 16 KiB.
func JSON(v *review.Verdict) ([]byte, error) {
	series := v.Series
	if series == nil {
		series = &mail.Series{}
	}
	out := jsonVerdict{
		Revision: jsonRevision{
			Subject:   series.Subject,
			Version:   max(series.Version, 1),
			Patches:   len(series.Patches),
			MessageID: revisionID(series),
		},
		Source:     v.Source,
		Base:       jsonBase(v.Base),
		Applied:    v.Applied,
		Targets:    []jsonTarget{},
		Findings:   []jsonFinding{},
		Windows:    []jsonWindow{},
		Uncompiled: []jsonUncompiled{},
		Reproduce:  list(v.Reproduce),
		Notes:      list(v.Notes),
		Seconds:    tenths(v.Seconds),
	}
	for _, t := range v.Targets {
		out.Targets = append(out.Targets, jsonTarget{
			Name: t.Name, Status: string(t.Status), Reason: t.Reason, Compiler: t.Compiler,
			Objects: list(t.Objects), Seconds: tenths(t.Seconds), Notes: list(t.Notes),
		})
	}
	findings := Numbered(v)
	for _, f := range v.Findings {
		if f.Status != review.New {
			findings = append(findings, f)
		}
	}
	for i := range findings {
		out.Findings = append(out.Findings, findingJSON(&findings[i]))
	}
	for _, w := range v.Windows {
		out.Windows = append(out.Windows, jsonWindow{w.Function, w.File, w.Target, w.Before, w.After})
	}
	if v.Since != nil {
		out.Since = &jsonSince{Version: v.Since.Version, Fixed: identities(v.Since.Fixed), Still: identities(v.Since.Still)}
	}
	for _, u := range v.Uncompiled {
		for line := u.First; line <= max(u.First, u.Last); line++ {
			out.Uncompiled = append(out.Uncompiled, jsonUncompiled{u.File, line, u.Reason})
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("encoding the verdict on %q: %w", series.Subject, err)
	}
	return b.Bytes(), nil
}

// identities are the ids of findings; never nil.
func identities(findings []review.Finding) []string {
	ids := []string{}
	for i := range findings {
		ids = append(ids, findings[i].Identity())
	}
	return ids
}

func findingJSON(f *review.Finding) jsonFinding {
	out := jsonFinding{
		ID: f.Identity(), Rule: f.Rule, Title: f.Title, File: f.File, Line: f.Line,
		Function: f.Function, Detail: f.Detail, Class: string(f.Class), Status: string(f.Status),
		Patch: f.Patch, HealedBy: f.HealedBy, Targets: list(f.Targets()),
		Witness: []jsonStep{}, Inlined: list(f.Inlined), Evidence: []jsonEvidence{}, Note: f.Note,
	}
	for _, s := range f.Witness {
		out.Witness = append(out.Witness, jsonStep(s))
	}
	for _, e := range f.Evidence {
		out.Evidence = append(out.Evidence, jsonEvidence{e.Check, e.Target, capped(e.Text)})
	}
	if f.Fix != nil {
		fix := jsonFix(*f.Fix)
		out.Fix = &fix
	}
	return out
}

// revisionID is the Message-ID that a revision is known by.
func revisionID(s *mail.Series) string {
	if s.Cover != nil {
		return s.Cover.ID
	}
	if len(s.Patches) > 0 && s.Patches[0].Message != nil {
		return s.Patches[0].Message.ID
	}
	return ""
}

func capped(text string) string {
	if len(text) <= maxToolText {
		return text
	}
	return fmt.Sprintf("%s\n[... %d more bytes]", text[:maxToolText], len(text)-maxToolText)
}

// list is s, or where there is none the empty list, which JSON does not take for null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// tenths keeps a duration readable.
func tenths(seconds float64) float64 { return math.Round(seconds*10) / 10 }
