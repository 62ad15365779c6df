package mail

import "testing"

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ name, raw, want string }{
		{"as it should be", "A: b\n\nbody\n", "A: b\n\nbody\n"},
		{"IMAP and NNTP", "A: b\r\n\r\nbody\r\n\r\n", "A: b\n\nbody\n\n"},
		{"an mbox line, which old public-inbox archives kept", "From x Thu Jan  1\nA: b\n\nbody\n", "A: b\n\nbody\n"},
		{"two of them", "From x\nFrom y\n\nA: b\n\nbody\n", "A: b\n\nbody\n"},
		{"From in the body", "A: b\n\nFrom here\n", "A: b\n\nFrom here\n"},
		{"no newline at the end, which NNTP cannot say", "A: b\n\nbody", "A: b\n\nbody\n"},
		{"trailing empty lines may be context of a patch", "A: b\n\nbody\n\n\n", "A: b\n\nbody\n\n\n"},
		{"no body", "A: b\n\n", "A: b\n\n"},
		{"no body through NNTP", "A: b\r\n\r\n\r\n", "A: b\n\n"},
		{"header alone", "A: b\n", "A: b\n\n"},
		{"header cut off", "A: b", "A: b\n\n"},
		{"a lone CR is content", "A: b\n\nbo\rdy\n", "A: b\n\nbo\rdy\n"},
		{"two CRs, which some gateways make", "A: b\r\r\n\r\r\nbody\r\r\n", "A: b\n\nbody\n"},
		{"CR at the end", "A: b\n\nbody\r", "A: b\n\nbody\n"},
		{"nothing", "", ""},
		{"an mbox line alone", "From x", ""},
	} {
		got := string(Canonical([]byte(test.raw)))
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if again := string(Canonical([]byte(got))); again != got {
			t.Errorf("%s: a second time: %q", test.name, again)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte("From x\nA: b\r\n\r\nbody"))
	f.Add([]byte("\r\r\n\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		once := Canonical(raw)
		if again := Canonical(once); string(again) != string(once) {
			t.Fatalf("%q, then %q", once, again)
		}
	})
}
