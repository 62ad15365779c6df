package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// watchEvery is how often a running command is looked at. A fork bomb makes a few
// thousand processes in this time, which a machine survives.
const watchEvery = 200 * time.Millisecond

// watch looks at the command whose first process is pid until stop is closed. It
// returns the limit that was gone over, in words, or "".
func (r *Runner) watch(pid int, lim Limits, binds []Bind, start time.Time, stop <-chan struct{}) string {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	deadline := time.NewTimer(lim.Wall)
	defer deadline.Stop()
	for {
		select {
		case <-stop:
			return ""
		case <-deadline.C:
			return fmt.Sprintf("wall time of %v", lim.Wall)
		case <-tick.C:
		}
		n, resident := usage(pid)
		if n > lim.Processes {
			return fmt.Sprintf("%d processes", lim.Processes)
		}
		if resident > lim.Resident {
			return fmt.Sprintf("%d MiB of memory", lim.Resident>>20)
		}
		for _, b := range binds {
			if !b.Writable {
				continue
			}
			if free, err := freeBytes(b.Host); err == nil && free < lim.Free {
				return fmt.Sprintf("%d MiB to stay free on the file system of %s", lim.Free>>20, b.Host)
			}
		}
	}
}

// usage counts the processes below pid, itself not included, and adds up their
// resident memory in bytes. In a pid namespace orphans go to its first process,
// so that nothing gets out of this count there.
func usage(pid int) (n int, resident int64) {
	all := children()
	page := int64(os.Getpagesize())
	for queue := all[pid]; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, all[queue[0].pid]...)
		n++
		resident += queue[0].pages * page
	}
	return n, resident
}

type process struct {
	pid   int
	pages int64 // resident
}

// children reads all processes of the machine, by parent.
func children() map[int][]process {
	all := map[int][]process{}
	dir, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it is gone
		}
		// "pid (comm) state ppid …", the resident pages are field 24 (proc(5)). The
		// name may hold spaces and parentheses: count from the last one.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 22 {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		pages, _ := strconv.ParseInt(f[21], 10, 64)
		all[parent] = append(all[parent], process{pid, pages})
	}
	return all
}

// mark is the environment variable by which processes of an unsandboxed command
// are known that have left its process group.
const mark = "UABOT_RUN"

func marker(env []string) string {
	for _, e := range env {
		if strings.HasPrefix(e, mark+"=") {
			return e
		}
	}
	return ""
}

// killMarked kills every process whose environment holds the marker, until there
// is none. One that has cleared its environment and left the group and session is
// not found: only a sandbox is proof against that.
func killMarked(marker string) {
	if marker == "" {
		return
	}
	for range 50 {
		found := false
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			env, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+marker+"\x00")) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
			}
		}
		if !found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
