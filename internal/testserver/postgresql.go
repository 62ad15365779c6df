package testserver

import (
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"uabot/internal/testenv"
)

// PostgreSQL starts a database server for a test and returns the address of an
// empty database in it. It is reached through a socket in the test's directory.
func PostgreSQL(t testing.TB) string {
	t.Helper()
	testenv.NotShort(t)
	// Debian keeps each version's programs in a directory of its own.
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		t.Fatal(err)
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		programs = append(programs, filepath.Dir(path))
	}
	if len(programs) == 0 {
		testenv.Missing(t, "postgresql")
	}
	bin := slices.MaxFunc(programs, func(a, b string) int { return len(a) - len(b) })
	work := dir(t, "postgresql")
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	if os.Getuid() == 0 { // it refuses to run as root
		owner, err := user.Lookup("postgres")
		if err != nil {
			testenv.Missing(t, "the user postgres")
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(work, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(work, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "uabot", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = work, attributes
	if output, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, tail(output))
	}
	process := startAs(t, work, attributes, filepath.Join(work, "output"), os.Environ(), filepath.Join(bin, "postgres"),
		"-D", data, "-k", work, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=50")
	until(t, "postgres listens", func() bool {
		select {
		case <-process.exited:
			t.Fatalf("postgres ended: %s", tail(process.said()))
		default:
		}
		conn, err := net.Dial("unix", filepath.Join(work, ".s.PGSQL.5432"))
		if err != nil {
			return false
		}
		conn.Close()
		ready := exec.Command(filepath.Join(bin, "pg_isready"), "-q", "-h", work)
		return ready.Run() == nil
	})
	return "postgres:///postgres?host=" + work + "&user=uabot"
}
