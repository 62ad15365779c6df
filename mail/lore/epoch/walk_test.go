package epoch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const (
	a = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	b = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	c = "cccccccccccccccccccccccccccccccccccccccc"
	n = "0000000000000000000000000000000000000000"
)

func TestReadLog(t *testing.T) {
	log := strings.Join([]string{
		"commit " + a + " 1700000000", "",
		":000000 100644 " + n + " " + a + " A\tm",
		"commit " + b + " 1700000001", "",
		":100644 000000 " + a + " " + n + " D\tm",
		":000000 100644 " + n + " " + a + " A\td",
		"commit " + c + " 1700000002", "",
		":100644 000000 " + a + " " + n + " D\td",
		":000000 100644 " + n + " " + b + " A\tm",
		":000000 100644 " + n + " " + c + " A\tREADME",
	}, "\n")
	var got []string
	err := readLog(strings.NewReader(log), func(e entry) error {
		got = append(got, fmt.Sprint(e.commit[:1], " ", e.blob[:1], " ", e.deleted, " ", e.received.Unix()))
		return nil
	})
	want := "[a a false 1700000000 b a true 1700000001 c b false 1700000002]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte("commit " + a + " 1\n:000000 100644 " + n + " " + b + " A\tm\n"))
	f.Add([]byte("commit " + a + " x\n:\t\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		readLog(bytes.NewReader(log), func(e entry) error {
			if !isObject(e.commit) || (e.blob != "" && !isObject(e.blob)) {
				t.Errorf("visited %+v", e)
			}
			return nil
		})
	})
}
