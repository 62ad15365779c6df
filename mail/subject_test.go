package mail

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseSubject(t *testing.T) {
	for _, test := range []struct{ subject, want string }{
		{"[PATCH] lib: x", "patch v1 [] lib: x"},
		{"[PATCH v2 03/11] lib: x", "patch 3/11 v2 [] lib: x"},
		{"[PATCHv6 00/14] lib: x", "patch 0/14 v6 [] lib: x"},
		{"[PATCH V3 net-next 2/3] x", "patch 2/3 v3 [net-next] x"},
		{"[PATCH 3/3 v2] x", "patch 3/3 v2 [] x"},
		{"[net,v2,1/2] x", "patch 1/2 v2 [net] x"},
		{"[PATCH 1 of 2] x", "patch 1/2 v1 [] x"},
		{"[PATCH1/8] x", "patch 1/8 v1 [] x"},
		{"[PATCHv3-1/8] x", "patch 1/8 v3 [] x"},
		{"[PATCH] 1/2: Part 1", "patch 1/2 v1 [] Part 1"},
		{"[Patch 2/2]: x", "patch 2/2 v1 [] x"},
		{"[PATCH 0.5/5] x", "patch 0/5 between v1 [] x"},
		{"[PATCH 6/5] x", "patch 6/5 v1 [] x"},
		{"[PATCH for-6.2/block V3 1/2] x", "patch 1/2 v3 [for-6.2/block] x"},
		{"[PATCH 1/0] x", "patch v1 [1/0] x"},
		{"[PATCH 4.19 033/114] x", "patch 33/114 v1 [4.19] x"},
		{"[PATCH AUTOSEL 5.4 5/6] x", "patch 5/6 v1 [AUTOSEL 5.4] x"},
		{"[RFC PATCH bpf-next v1.1 2/3] x", "patch 2/3 v1 [RFC bpf-next] x"},
		{"[RFC][PATCH][v2] [1/3] x", "patch 1/3 v2 [RFC] x"},
		{"[RFC/PATCH 1/2] x", "patch 1/2 v1 [RFC] x"},
		{"[RFC 1/2] x", "patch 1/2 v1 [RFC] x"},
		{"[RFC] what do you think", "patch v1 [RFC] what do you think"},
		{"[PATCH RESEND v3] x", "patch v3 resend [RESEND] x"},
		{"[RESEND-PATCH v2] x", "patch v2 resend [RESEND] x"},
		{"[PATCH? v2] x", "patch v2 [] x"},
		{"[PATCH 02/17] [RESEND] x", "patch 2/17 v1 resend [RESEND] x"},
		{"[PATCH 08/22] [v2] x", "patch 8/22 v2 [] x"},
		{"[PATCH GSoC v6 00/10] x", "patch 0/10 v6 [GSoC] x"},
		{"[PATCH -next] x", "patch v1 [-next] x"},
		{"[PATCH,v2] x", "patch v2 [] x"},
		{"[PATCH (v2) 1/2] x", "patch 1/2 v2 [] x"},
		{"[PATCH, take 3] x", "patch v3 [] x"},
		{"[PATCH take3 1/2] x", "patch 1/2 v3 [] x"},
		{"[libvirt]  [PATCH v2] x", "patch v2 [libvirt] x"},
		{"[libvirt] [python PATCH] x", "patch v1 [libvirt python] x"},
		{"[edk2] [staging/HTTPS-TLS][PATCH 1/2] x", "patch 1/2 v1 [edk2 staging/HTTPS-TLS] x"},
		{"[PATCH] [other] x", "patch v1 [] [other] x"},
		{"[PULL 03/15] x", "patch 3/15 v1 [PULL] x"},
		{"[GIT PULL] x", "patch v1 [GIT PULL] x"},
		{"powerpc: [PATCH 1/2] x", "patch 1/2 v1 [] powerpc: x"},
		{"[list] x", "v1 [list] x"},
		{"lib: x", "v1 [] lib: x"},
		{"PATCH: x", "v1 [] PATCH: x"},
		{"[PATCH 1/2", "v1 [] [PATCH 1/2"},
		{"", "v1 [] "},
		{"Re: [PATCH v2 1/2] x", "reply patch 1/2 v2 [] x"},
		{"RE: Re: x", "reply v1 [] x"},
		{"[list] Re: [PATCH] x", "reply patch v1 [list] x"},
		{"AW: [EXT] Re: [PATCH] x", "reply patch v1 [EXT] x"},
		{"回复：[PATCH] x", "reply patch v1 [] x"},
		{"Re[2]: [PATCH] x", "reply patch v1 [] x"},
		{"Re^2: [PATCH] x", "reply patch v1 [] x"},
		{"Réf. : [PATCH] x", "reply patch v1 [] x"},
		{"Fwd: [PATCH] x", "reply patch v1 [] x"},
		{"r: x", "v1 [] r: x"},
		{"rest: [PATCH] x", "patch v1 [] rest: x"},
	} {
		s := ParseSubject(test.subject)
		var got []string
		for _, part := range []struct {
			text string
			on   bool
		}{
			{"reply", s.Reply}, {"patch", s.Tagged}, {fmt.Sprintf("%d/%d", s.Number, s.Total), s.Numbered},
			{"between", s.Between}, {fmt.Sprintf("v%d", s.Version), true}, {"resend", s.Resend},
			{fmt.Sprint(s.Prefixes), true}, {s.Title, true},
		} {
			if part.on {
				got = append(got, part.text)
			}
		}
		if line := strings.Join(got, " "); line != test.want {
			t.Errorf("%q\n got %q\nwant %q", test.subject, line, test.want)
		}
	}
}

func FuzzSubject(f *testing.F) {
	for _, s := range []string{"[PATCH v2 03/11] lib: x", "Re[2]: [PATCH", "[PATCH1/8][v3] [", "回复：[PATCH] x", "[PATCH take 3, 1 of 2] x", "İ[PATCH]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, subject string) {
		s := ParseSubject(subject)
		if s.Version < 1 || s.Number < 0 || s.Total < 1 {
			t.Errorf("%q: v%d %d/%d", subject, s.Version, s.Number, s.Total)
		}
	})
}
