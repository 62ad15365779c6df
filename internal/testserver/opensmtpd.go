package testserver

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"uabot/internal/testenv"
)

// OpenSMTPD is a mail server that delivers everything it is given into one maildir.
type OpenSMTPD struct {
	Addr string
}

const smtpdConf = `table catchall { "@" = "mail" }
listen on 127.0.0.1 port %d hostname mx.test
action "box" maildir "%s" virtual <catchall>
match from any for any action "box"
`

// NewOpenSMTPD starts a mail server that delivers as the user mail. It has to
// be root, and there can be one on a machine: a second test waits for the first.
func NewOpenSMTPD(t testing.TB, maildir string) *OpenSMTPD {
	t.Helper()
	program := testenv.Tool(t, "smtpd")[0]
	if os.Getuid() != 0 {
		testenv.Missing(t, "root, which opensmtpd wants to be,")
	}
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "uabot-test-opensmtpd.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	// Its control socket is compiled in; whoever answers there is the machine's own.
	if conn, err := net.Dial("unix", "/var/run/smtpd.sock"); err == nil {
		conn.Close()
		testenv.Missing(t, "a machine whose opensmtpd is not running")
	}
	work, port := dir(t, "opensmtpd"), freePort(t)
	conf := filepath.Join(work, "smtpd.conf")
	writeFile(t, conf, 0o644, smtpdConf, port, maildir)
	s := &OpenSMTPD{Addr: fmt.Sprint("127.0.0.1:", port)}
	process := start(t, filepath.Join(work, "output"), os.Environ(), program, "-d", "-f", conf)
	until(t, "opensmtpd listens", func() bool {
		select {
		case <-process.exited:
			t.Fatalf("opensmtpd ended: %s", tail(process.said()))
		default:
		}
		conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
		if err != nil {
			return false
		}
		defer conn.Close()
		conn.SetReadDeadline(time.Now().Add(time.Second))
		greeting := make([]byte, 4)
		_, err = conn.Read(greeting)
		return err == nil && bytes.HasPrefix(greeting, []byte("220"))
	})
	return s
}
