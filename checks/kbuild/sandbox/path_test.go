package sandbox

import "testing"

func TestVisiblePath(t *testing.T) {
	const system = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
	for _, c := range []struct {
		path  string
		tools []string
		want  string
	}{
		{"", nil, system},
		{"/home/u/bin:/usr/bin:.::/usrx/bin", nil, "/usr/bin:/usr/local/bin:/bin:/usr/sbin:/sbin"},
		{"/opt/cross/bin", nil, "/opt/cross/bin:" + system},
		{"/home/u/x-tools/arm/bin:/home/u/bin", []string{"/home/u/x-tools"}, "/home/u/x-tools:/home/u/x-tools/arm/bin:" + system},
	} {
		if got := visiblePath(c.path, c.tools); got != c.want {
			t.Errorf("visiblePath(%q, %q) = %q, want %q", c.path, c.tools, got, c.want)
		}
	}
}

func TestCapped(t *testing.T) {
	w := &capped{max: 4}
	for _, s := range []string{"ab", "cde", "f"} {
		if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write(%q) = %d, %v", s, n, err)
		}
	}
	if string(w.data) != "abcd" || !w.over {
		t.Errorf("%q, over %v", w.data, w.over)
	}
}
