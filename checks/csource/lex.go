// Package csource reads C as a reviewer does: tokens, functions, macros,
// structures and the conditional blocks they stand in, each with its lines.
//
// It neither preprocesses nor parses: what it says holds for the text, whatever
// the configuration. Comments, line splices and literals are understood, so a
// rule never matches inside one; both branches of an #if are kept, each token
// knowing its branch. Text that is not C gives fewer regions, never an error:
// kernel headers, assembly and half-edited files all come through here.
package csource

import "strings"

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Ident  Kind = iota // identifiers and keywords
	Number             // 0x10UL, 1.5e-3
	String             // "…", with its prefix and quotes
	Char               // '…', with its prefix and quotes
	Punct              // operators; the longest match: "->", "<<="
)

// Token is one token outside of comments.
type Token struct {
	Kind  Kind
	Text  string
	Line  int  // 1-based, where it starts
	Space bool // white space or a comment stands before it
	Cond  int  // index into File.Conds of the innermost branch; -1 outside of any
}

// Is reports whether t is the operator or identifier s.
func (t Token) Is(s string) bool { return t.Text == s && (t.Kind == Punct || t.Kind == Ident) }

// directive is one logical preprocessor line.
type directive struct {
	tokens  []Token // after the '#'
	line    int
	endLine int
	at      int // how many tokens of the text precede it
}

// lexer splits text into tokens and directives.
type lexer struct {
	src  string
	pos  int
	line int
}

// punctuators, longest first for each length.
var punct3 = []string{"<<=", ">>=", "..."}
var punct2 = []string{"->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"}

// lex splits src. It accepts any bytes: an unfinished literal ends with its line,
// an unfinished comment with the text.
func lex(src string) (tokens []Token, directives []directive) {
	l := &lexer{src: src, line: 1}
	fresh := true // nothing but white space on this line so far
	space := false
	var dir *directive // the directive being read
	finish := func() {
		dir.endLine = l.line
		directives = append(directives, *dir)
		dir = nil
	}
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			if dir != nil {
				finish()
			}
			l.pos++
			l.line++
			fresh, space = true, true
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.pos++
			space = true
			continue
		case l.splice():
			space = true
			continue
		case l.comment():
			space = true
			continue
		}
		if c == '#' && fresh && dir == nil {
			dir = &directive{line: l.line, at: len(tokens)}
			l.pos++
			fresh, space = false, false
			continue
		}
		fresh = false
		t := l.token()
		t.Space, t.Cond = space, -1
		space = false
		if dir != nil {
			dir.tokens = append(dir.tokens, t)
		} else {
			tokens = append(tokens, t)
		}
	}
	if dir != nil {
		finish()
	}
	return tokens, directives
}

// splice skips a backslash that ends a line.
func (l *lexer) splice() bool {
	rest := l.src[l.pos:]
	for _, s := range []string{"\\\n", "\\\r\n"} {
		if strings.HasPrefix(rest, s) {
			l.pos += len(s)
			l.line++
			return true
		}
	}
	return false
}

// comment skips a comment of either form.
func (l *lexer) comment() bool {
	rest := l.src[l.pos:]
	switch {
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		text := rest
		if end >= 0 {
			text = rest[:end+4]
		}
		l.line += strings.Count(text, "\n")
		l.pos += len(text)
		return true
	case strings.HasPrefix(rest, "//"):
		for l.pos < len(l.src) && l.src[l.pos] != '\n' {
			if !l.splice() {
				l.pos++
			}
		}
		return true
	}
	return false
}

// token reads one token at a byte that is neither white space nor a comment.
func (l *lexer) token() Token {
	start, line, c := l.pos, l.line, l.src[l.pos]
	kind := Punct
	switch {
	case c == '"' || c == '\'':
		kind = l.literal(c)
	case isWord(c) && !isDigit(c):
		kind = Ident
		for l.pos < len(l.src) && isWord(l.src[l.pos]) {
			l.pos++
		}
		// L"…", u8"…": the prefix belongs to the literal.
		if l.pos-start <= 2 && l.pos < len(l.src) && (l.src[l.pos] == '"' || l.src[l.pos] == '\'') && isPrefix(l.src[start:l.pos]) {
			kind = l.literal(l.src[l.pos])
		}
	case isDigit(c) || c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		kind = Number
		for l.pos < len(l.src) {
			c := l.src[l.pos]
			exponent := (c == '+' || c == '-') && strings.ContainsRune("eEpP", rune(l.src[l.pos-1])) && !strings.HasPrefix(l.src[start:], "0x") || c == '.'
			if !isWord(c) && !exponent {
				break
			}
			l.pos++
		}
	default:
		l.pos += punctLength(l.src[l.pos:])
	}
	return Token{Kind: kind, Text: l.src[start:l.pos], Line: line}
}

func isPrefix(s string) bool { return s == "L" || s == "u" || s == "U" || s == "u8" }

// literal reads a string or character constant whose opening quote is next.
func (l *lexer) literal(quote byte) Kind {
	l.pos++
	for l.pos < len(l.src) && l.src[l.pos] != '\n' {
		if l.splice() {
			continue
		}
		c := l.src[l.pos]
		if c == '\\' && l.pos+1 < len(l.src) && l.src[l.pos+1] != '\n' {
			l.pos += 2
			continue
		}
		l.pos++
		if c == quote {
			break
		}
	}
	if quote == '"' {
		return String
	}
	return Char
}

func punctLength(s string) int {
	for _, p := range punct3 {
		if strings.HasPrefix(s, p) {
			return 3
		}
	}
	for _, p := range punct2 {
		if strings.HasPrefix(s, p) {
			return 2
		}
	}
	return 1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWord takes every byte of a non-ASCII rune as part of a word.
func isWord(c byte) bool {
	return c == '_' || c == '$' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
