package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"uabot/checks"
	"uabot/review"
)

// contract is the form that programs were promised, written down once more and apart
// from the code: every field, none more. null stands nowhere but for a fix.
type contract struct {
	Revision *struct {
		Subject   *string `json:"subject"`
		Version   *int    `json:"version"`
		Patches   *int    `json:"patches"`
		MessageID *string `json:"message_id"`
	} `json:"revision"`
	Source *string `json:"source"`
	Base   *struct {
		Commit *string `json:"commit"`
		Name   *string `json:"name"`
		Reason *string `json:"reason"`
	} `json:"base"`
	Applied *bool `json:"applied"`
	Targets *[]struct {
		Name     *string   `json:"name"`
		Status   *string   `json:"status"`
		Reason   *string   `json:"reason"`
		Compiler *string   `json:"compiler"`
		Objects  *[]string `json:"objects"`
		Seconds  *float64  `json:"seconds"`
		Notes    *[]string `json:"notes"`
	} `json:"targets"`
	Findings *[]struct {
		ID       *string   `json:"id"`
		Rule     *string   `json:"rule"`
		Title    *string   `json:"title"`
		File     *string   `json:"file"`
		Line     *int      `json:"line"`
		Function *string   `json:"function"`
		Detail   *string   `json:"detail"`
		Class    *string   `json:"class"`
		Status   *string   `json:"status"`
		Patch    *int      `json:"patch"`
		HealedBy *int      `json:"healed_by"`
		Targets  *[]string `json:"targets"`
		Witness  *[]struct {
			File *string `json:"file"`
			Line *int    `json:"line"`
			Text *string `json:"text"`
			Note *string `json:"note"`
		} `json:"witness"`
		Inlined  *[]string `json:"inlined"`
		Evidence *[]struct {
			Check  *string `json:"check"`
			Target *string `json:"target"`
			Text   *string `json:"text"`
		} `json:"evidence"`
		Note *string `json:"note"`
		Fix  *struct {
			Text *string `json:"text"`
			Diff *string `json:"diff"`
		} `json:"fix"`
	} `json:"findings"`
	Windows *[]struct {
		Function *string `json:"function"`
		File     *string `json:"file"`
		Target   *string `json:"target"`
		Before   *int    `json:"before"`
		After    *int    `json:"after"`
	} `json:"windows"`
	Uncompiled *[]struct {
		File   *string `json:"file"`
		Line   *int    `json:"line"`
		Reason *string `json:"reason"`
	} `json:"uncompiled"`
	Reproduce *[]string `json:"reproduce"`
	Notes     *[]string `json:"notes"`
	Seconds   *float64  `json:"seconds"`
}

func TestJSONContract(t *testing.T) {
	verdicts := map[string]*review.Verdict{"empty": {}}
	for _, name := range cases(t) {
		verdicts[name], _ = fixture(t, name)
	}
	for name, v := range verdicts {
		data, err := JSON(v)
		if err != nil {
			t.Fatal(name, err)
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		var c contract
		if err := dec.Decode(&c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if dec.More() || data[len(data)-1] != '\n' {
			t.Errorf("%s: more than one object, or no newline after it", name)
		}
		var any map[string]any
		if err := json.Unmarshal(data, &any); err != nil {
			t.Fatal(err)
		}
		noNull(t, name, any)
		var findings []string
		news := Numbered(v)
		for i, f := range *c.Findings {
			if i < len(news) && (*f.ID != news[i].Identity() || *f.Status != "new") {
				t.Errorf("%s: finding %d is not [%d] of the mail", name, i, i+1)
			}
			if !slices.Contains([]string{"object", "source", "build", "heuristic", "policy", ""}, *f.Class) ||
				!slices.Contains([]string{"new", "gone", "before"}, *f.Status) {
				t.Errorf("%s: class %q, status %q", name, *f.Class, *f.Status)
			}
			findings = append(findings, *f.ID)
		}
		if len(findings) != len(v.Findings) {
			t.Errorf("%s: %d findings of %d", name, len(findings), len(v.Findings))
		}
	}
}

// noNull wants a value for every field: a missing one would read like null.
func noNull(t *testing.T, path string, value any) {
	switch v := value.(type) {
	case nil:
		if !strings.HasSuffix(path, ".fix") {
			t.Errorf("%s is null", path)
		}
	case map[string]any:
		for key, field := range v {
			noNull(t, path+"."+key, field)
		}
	case []any:
		for i, item := range v {
			noNull(t, fmt.Sprintf("%s[%d]", path, i), item)
		}
	}
}

func TestJSONValues(t *testing.T) {
	v := one()
	v.Findings[0].Evidence[0].Text = strings.Repeat("x", maxToolText+5)
	v.Findings[0].Fix = &checks.Fix{Text: "do <that> & this"}
	v.Uncompiled = []review.Uncompiled{{File: "a.c", First: 3, Last: 5, Reason: "why"}, {File: "b.c", First: 7, Last: 7}}
	v.Seconds = 41.2499
	data, err := JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte("do <that> & this")) {
		t.Error("escaped for HTML")
	}
	var c contract
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if got := *(*(*c.Findings)[0].Evidence)[0].Text; len(got) > maxToolText+40 || !strings.HasSuffix(got, "\n[... 5 more bytes]") {
		t.Errorf("evidence of %d bytes", len(got))
	}
	var lines []string
	for _, u := range *c.Uncompiled {
		lines = append(lines, fmt.Sprint(*u.File, ":", *u.Line))
	}
	if want := []string{"a.c:3", "a.c:4", "a.c:5", "b.c:7"}; !slices.Equal(lines, want) {
		t.Errorf("uncompiled %v, want %v", lines, want)
	}
	if *c.Seconds != 41.2 || *c.Revision.MessageID != "p1@mail.example.com" || *c.Revision.Patches != 1 {
		t.Errorf("%s", data)
	}
}
