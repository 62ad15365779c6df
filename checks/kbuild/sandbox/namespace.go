package sandbox

import (
	"encoding/json"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// namespace is the first process of a sandbox's pid namespace. When it ends the
// kernel kills everything in the namespace, and shows it as ended only when all
// are dead. Bubblewrap itself does not wait for that: it goes as soon as the
// command has ended or it is killed.
type namespace struct {
	read, write *os.File
	known       sync.WaitGroup
	mu          sync.Mutex
	fd          int // pidfd, 0 when there is none
}

// open returns the file that bubblewrap is to write its --info-fd report to.
func (n *namespace) open() (*os.File, error) {
	var err error
	n.read, n.write, err = os.Pipe()
	return n.write, err
}

// started is called when bubblewrap has been started, or could not be.
func (n *namespace) started() {
	if n.write == nil {
		return
	}
	n.write.Close()
	n.known.Go(func() {
		defer n.read.Close()
		var info struct {
			Child int `json:"child-pid"`
		}
		if json.NewDecoder(io.LimitReader(n.read, 4096)).Decode(&info) != nil || info.Child <= 0 {
			return
		}
		if fd, err := unix.PidfdOpen(info.Child, 0); err == nil {
			n.mu.Lock()
			n.fd = fd
			n.mu.Unlock()
		}
	})
}

// kill kills all of the namespace; false when it is not known (yet).
func (n *namespace) kill() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fd != 0 && unix.PidfdSendSignal(n.fd, unix.SIGKILL, nil, 0) == nil
}

// wait returns when nothing of the namespace is alive.
func (n *namespace) wait() {
	n.known.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fd == 0 {
		return
	}
	// The command has ended, or bubblewrap was killed and this with it.
	_ = unix.PidfdSendSignal(n.fd, unix.SIGKILL, nil, 0)
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(n.fd), Events: unix.POLLIN}}, -1)
		if err != unix.EINTR {
			break
		}
	}
	unix.Close(n.fd)
	n.fd = 0
}
