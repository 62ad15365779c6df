package source

import (
	"fmt"
	"regexp"
	"strings"

	"uabot/checks"
	"uabot/checks/window"
)

// fix suggests a change for the shapes that are common, nil for others. Whether the
// diff mends the problem is for the caller to try before it shows it.
func (r *report) fix(p *problem, at spot) *checks.Fix {
	switch p.Rule {
	case window.CloseWithoutOpen:
		return r.fixClose(p, at)
	case window.KindMismatch:
		return r.fixKind(p, at)
	case window.OpenAtReturn:
		return r.fixLeak(p)
	case window.CallInWindow:
		return r.fixCall(p, at)
	case window.OpenTwice:
		if name := window.BaseName(p.Callee); name == "put_user" || name == "get_user" {
			return &checks.Fix{Text: fmt.Sprintf("%s() opens a window of its own: unsafe_%s() is what may be used inside of one.", name, name)}
		}
	case window.UncheckedBegin:
		if strings.HasPrefix(p.API, "masked_") {
			return &checks.Fix{Text: "Use the pointer that " + p.API + "() returns."}
		}
		return &checks.Fix{Text: "Leave with -EFAULT where " + p.API + "() returns false."}
	}
	return nil
}

// fixClose: a failed begin that jumps to the label above the end needs one below it;
// a second end is dropped.
func (r *report) fixClose(p *problem, at spot) *checks.Fix {
	var last *event
	for e := p.trail; e != nil && last == nil; e = e.prev {
		if e.kind == opened || e.kind == failed || e.kind == closed {
			last = e
		}
	}
	if last == nil || last.in != p.in {
		return nil
	}
	ed := r.edit(at.file)
	before := r.spotOf(last.stmt, last.pos)
	if last.kind == closed {
		fix := &checks.Fix{Text: "The window is closed already, at line " + fmt.Sprint(before.line) + "."}
		if before.line < at.line && bare(ed.line(at.line)) {
			ed.remove(at.line)
			fix.Diff = ed.diff()
		}
		return fix
	}
	fix := &checks.Fix{Text: "A second label after the end, for a failed begin, would fix it."}
	jump, old := ed.gotoAfter(before.line)
	label := ed.labelAbove(at.line, old)
	if before.file != at.file || jump == 0 || label == 0 || before.line > at.line || !bare(ed.line(at.line)) {
		return fix
	}
	fresh := ed.labelBelow(at.line)
	there := fresh != ""
	if there {
		fix.Text = "A failed begin has to go to " + fresh + ", below the end."
	} else if fresh = old + "_closed"; ed.mentions(fresh) {
		return fix
	}
	for _, l := range ed.failedBegins(label, old) {
		ed.replace(l, "goto "+old, "goto "+fresh)
	}
	if !there {
		for l := before.line; l > 0 && l > before.line-40; l-- { // a macro's labels are declared
			if strings.Contains(ed.line(l), "__label__ "+old) {
				ed.replace(l, "__label__ "+old, "__label__ "+old+", "+fresh)
				break
			}
		}
		ed.insertAfter(at.line, strings.Replace(ed.line(label), old, fresh, 1), old, fresh)
	}
	fix.Diff = ed.diff()
	return fix
}

var endCall = regexp.MustCompile(`user_(?:read_|write_)?access_end\b`)
var beginCall = regexp.MustCompile(`\buser_(?:read_|write_)?access_begin\b`)

// directed names the API function of a kind.
func directed(k window.Kind, what string) string {
	switch k {
	case window.Read:
		return "user_read_access_" + what
	case window.Write:
		return "user_write_access_" + what
	}
	return "user_access_" + what
}

// fixKind: the matching end, or the begin that an access needs.
func (r *report) fixKind(p *problem, at spot) *checks.Fix {
	if p.title != "" {
		if p.opened == nil || p.opened.inherited || p.ClosedAs == window.Unknown {
			return nil
		}
		begin := r.spotOf(p.opened.stmt, p.opened.pos)
		want := directed(p.ClosedAs|p.Kind, "begin")
		if !beginCall.MatchString(r.line(begin.file, begin.line)) {
			return nil
		}
		fix := &checks.Fix{Text: want + "() and its end would allow it."}
		if strings.HasPrefix(r.endAfter(p, p.ClosedAs), "user") {
			want = directed(p.ClosedAs, "begin")
			fix.Text = want + "() is what the accesses and the end need."
			ed := r.edit(begin.file)
			if have := beginCall.FindString(ed.line(begin.line)); have != "" {
				ed.replace(begin.line, have, want)
				fix.Diff = ed.diff()
			}
		}
		return fix
	}
	want := directed(p.Kind, "end")
	fix := &checks.Fix{Text: want + "() is the matching end."}
	ed := r.edit(at.file)
	if have := endCall.FindString(ed.line(at.line)); have != "" && have != want {
		ed.replace(at.line, have, want)
		fix.Diff = ed.diff()
	}
	return fix
}

// endAfter is the end of kind k in the function of p, "" if it has none or others too.
func (r *report) endAfter(p *problem, k window.Kind) string {
	name := ""
	for _, b := range p.in.fn.Blocks {
		for _, s := range b.Stmts {
			pr := primitives[s.Callee]
			if pr == nil || pr.effect != closes {
				continue
			}
			if pr.kind != k {
				return ""
			}
			name = pr.api()
		}
	}
	return name
}

var bareReturn = regexp.MustCompile(`^\s*return\b[^;]*;\s*(?:/\*.*\*/\s*)?$`)

var control = regexp.MustCompile(`^(?:\} )?(?:if|else if|else|for|while)\b`)

// fixLeak: the matching end before the return.
func (r *report) fixLeak(p *problem) *checks.Fix {
	if p.opened == nil || !strings.HasPrefix(p.opened.api, "user_") && !strings.HasPrefix(p.opened.api, "masked_") {
		return nil
	}
	end := directed(p.Kind, "end")
	if p.Kind == window.Unknown {
		end = "user_access_end"
	}
	fix := &checks.Fix{Text: end + "() is missing on this way out."}
	if p.left == nil || p.leftIn != p.in {
		return fix
	}
	at := r.spotOf(p.left, p.left.Pos)
	ed := r.edit(at.file)
	line := ed.line(at.line)
	if !bareReturn.MatchString(line) {
		return fix
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	above := strings.TrimSpace(ed.line(at.line - 1))
	conditional := control.MatchString(above) && !strings.HasSuffix(above, "{") && !strings.HasSuffix(above, ";")
	switch {
	case conditional && strings.HasPrefix(above, "if (") && strings.HasSuffix(above, ")") && !strings.HasPrefix(strings.TrimSpace(ed.line(at.line+1)), "else"):
		ed.set(at.line-1, ed.line(at.line-1)+" {")
		ed.insertBefore(at.line, indent+end+"();")
		ed.insertAfter(at.line, strings.TrimSuffix(indent, "\t")+"}", "", "")
	case conditional || strings.HasSuffix(above, ")"):
		return fix
	default:
		ed.insertBefore(at.line, indent+end+"();")
	}
	fix.Diff = ed.diff()
	return fix
}

var unsafePut = regexp.MustCompile(`^(\s*)unsafe_put_user\((.+), ([^,]+), (\w+)\);\s*(?:/\*.*\*/\s*)?\\?$`)

var (
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
	loop       = regexp.MustCompile(`\b(?:for|while|do)\b`)
)

// fixCall: a call in an argument of unsafe_put_user() is done before the window opens.
func (r *report) fixCall(p *problem, at spot) *checks.Fix {
	name := window.BaseName(p.Callee)
	ed := r.edit(at.file)
	m := unsafePut.FindStringSubmatch(ed.line(at.line))
	if p.Callee == "" || m == nil || !regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\(`).MatchString(m[2]) || p.opened == nil || p.opened.inherited {
		return nil
	}
	fix := &checks.Fix{Text: fmt.Sprintf("The argument of unsafe_put_user() is evaluated inside of the window: call %s() before it opens.", name)}
	begin := r.spotOf(p.opened.stmt, p.opened.pos)
	start := ed.line(begin.line)
	if begin.file != at.file || begin.line >= at.line || !strings.HasPrefix(strings.TrimSpace(start), "if (") || ed.mentions("hoisted") {
		return fix
	}
	// What the argument is made of must not change in between.
	for l := begin.line; l < at.line; l++ {
		for _, word := range identifier.FindAllString(m[2], -1) {
			if regexp.MustCompile(`\b` + word + `\b[^=!<>]*(?:=[^=]|\+\+|--)`).MatchString(ed.line(l)) {
				return fix
			}
		}
		if loop.MatchString(ed.line(l)) {
			return fix
		}
	}
	indent := start[:len(start)-len(strings.TrimLeft(start, " \t"))]
	ed.insertBefore(begin.line, indent+"typeof("+m[2]+") hoisted = "+m[2]+";")
	ed.replace(at.line, m[2], "hoisted")
	fix.Diff = ed.diff()
	return fix
}

// bare reports whether a line holds one call of an end and nothing else.
func bare(line string) bool { return bareEnd.MatchString(line) }

var bareEnd = regexp.MustCompile(`^\s*\w*access_end\(\);\s*(?:/\*.*\*/\s*)?\\?\s*$`)
