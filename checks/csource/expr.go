package csource

import "strings"

// Call is one use of a function or a function-like macro.
type Call struct {
	Name string
	Args [][]Token
	Line int
	At   int // index of the name in the tokens that were searched
	End  int // index of the closing parenthesis
}

// keywords may stand before a parenthesis without being called.
var keywords = map[string]bool{
	"if": true, "while": true, "for": true, "switch": true, "return": true, "sizeof": true,
	"typeof": true, "__typeof__": true, "__typeof": true, "typeof_unqual": true, "__typeof_unqual__": true,
	"_Alignof": true, "__alignof__": true, "__attribute__": true, "__attribute": true, "asm": true,
	"__asm__": true, "__asm": true, "volatile": true, "__volatile__": true, "do": true, "else": true,
	"case": true, "goto": true, "defined": true, "_Generic": true, "_Static_assert": true,
	"void": true, "int": true, "char": true, "long": true, "short": true, "unsigned": true, "signed": true,
	"const": true, "struct": true, "union": true, "enum": true, "bool": true,
}

// maxArguments bounds the tokens of one argument list: what is longer is no call that
// a rule could say anything of, and nested ones would take quadratic time.
const maxArguments = 4096

// Calls lists the calls in tokens in the order of their names, nested ones too.
func Calls(tokens []Token) []Call {
	var calls []Call
	var closing []int
	for i := 0; i+1 < len(tokens); i++ {
		t := tokens[i]
		if t.Kind != Ident || !tokens[i+1].Is("(") || keywords[t.Text] {
			continue
		}
		if closing == nil {
			closing = partners(tokens)
		}
		end := closing[i+1]
		if end < 0 || end-i > maxArguments {
			continue
		}
		calls = append(calls, Call{Name: t.Text, Args: split(tokens[i+2 : end]), Line: t.Line, At: i, End: end})
	}
	return calls
}

// partners gives, for each opening bracket, the index of the one that closes it; -1
// where there is none.
func partners(tokens []Token) []int {
	closing := make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		closing[i] = -1
		if t.Kind != Punct {
			continue
		}
		switch t.Text {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			if len(open) > 0 {
				closing[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
		}
	}
	return closing
}

// Match returns the index of the bracket that closes the one at i, or -1.
func Match(tokens []Token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		t := tokens[i]
		if t.Kind != Punct {
			continue
		}
		switch t.Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// split cuts an argument list at its commas. No tokens are no argument.
func split(tokens []Token) [][]Token {
	if len(tokens) == 0 {
		return nil
	}
	var args [][]Token
	depth, start := 0, 0
	for i, t := range tokens {
		if t.Kind != Punct {
			continue
		}
		switch t.Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case ",":
			if depth == 0 {
				args = append(args, tokens[start:i])
				start = i + 1
			}
		}
	}
	return append(args, tokens[start:])
}

// Text writes tokens as the source does, any white space as one blank.
func Text(tokens []Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.Space {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

// Key writes tokens so that spelling alone does not tell two expressions apart:
// without white space, outer parentheses and casts.
func Key(tokens []Token) string {
	tokens = Bare(tokens)
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.Kind != Punct && tokens[i-1].Kind != Punct {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

// Bare strips the parentheses and casts around an expression.
func Bare(tokens []Token) []Token {
	for len(tokens) > 0 && tokens[0].Is("(") {
		end := Match(tokens, 0)
		switch {
		case end == len(tokens)-1 && end > 1 && !tokens[1].Is("{"):
			tokens = tokens[1:end]
		case end > 0 && end < len(tokens)-1 && isCast(tokens[1:end], tokens[end+1]):
			tokens = tokens[end+1:]
		default:
			return tokens
		}
	}
	return tokens
}

// isCast reports whether what stands between parentheses reads as a type, given
// the token after them. `(a) & b` and `(a)(b)` are casts only where a could be
// nothing but a type.
func isCast(tokens []Token, next Token) bool {
	if len(tokens) == 0 || tokens[0].Kind != Ident {
		return false
	}
	if tokens[0].Is("typeof") || tokens[0].Is("__typeof__") {
		return Match(tokens, 1) >= 0
	}
	stars, certain := false, false
	for _, t := range tokens {
		switch {
		case t.Is("*"):
			stars, certain = true, true
		case t.Kind != Ident:
			return false
		case typeWords[t.Text] || strings.HasSuffix(t.Text, "_t"):
			certain = true
		case stars: // a * b
			return false
		}
	}
	switch {
	case next.Kind != Punct || next.Is("~") || next.Is("!"):
		return true
	case next.Is("&") || next.Is("*") || next.Is("(") || next.Is("-") || next.Is("{"):
		return certain
	}
	return false
}

// typeWords are found in types alone.
var typeWords = map[string]bool{
	"struct": true, "union": true, "enum": true, "const": true, "volatile": true, "__user": true,
	"__force": true, "__iomem": true, "__kernel": true, "void": true, "char": true, "short": true,
	"int": true, "long": true, "unsigned": true, "signed": true, "bool": true, "float": true,
	"u8": true, "u16": true, "u32": true, "u64": true, "s8": true, "s16": true, "s32": true, "s64": true,
	"__u8": true, "__u16": true, "__u32": true, "__u64": true, "__s8": true, "__s16": true,
	"__s32": true, "__s64": true, "__le16": true, "__le32": true, "__le64": true, "__be16": true,
	"__be32": true, "__be64": true, "uint": true, "ulong": true,
}

// Root returns the variable that an lvalue or pointer starts from: `p` of
// `&p->a.b[i]`, `*p`, `(char __user *)p + n`; empty when there is none.
func Root(tokens []Token) string {
	tokens = Bare(tokens)
	for len(tokens) > 0 && (tokens[0].Is("&") || tokens[0].Is("*") || tokens[0].Is("(")) {
		if tokens[0].Is("(") {
			bare := Bare(tokens)
			if len(bare) == len(tokens) {
				end := Match(tokens, 0)
				if end < 0 {
					return ""
				}
				return Root(tokens[1:end])
			}
			tokens = bare
			continue
		}
		tokens = Bare(tokens[1:])
	}
	if len(tokens) == 0 || tokens[0].Kind != Ident {
		return ""
	}
	if len(tokens) > 1 && tokens[1].Is("(") { // f(p): what p is, is not known
		return ""
	}
	return tokens[0].Text
}

// Idents lists the distinct identifiers in tokens that are no member names.
func Idents(tokens []Token) []string {
	var names []string
	seen := map[string]bool{}
	for i, t := range tokens {
		if t.Kind != Ident || i > 0 && (tokens[i-1].Is("->") || tokens[i-1].Is(".")) || seen[t.Text] {
			continue
		}
		seen[t.Text] = true
		names = append(names, t.Text)
	}
	return names
}
