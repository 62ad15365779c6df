package epoch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// largest is the largest mail that is read; lists refuse far smaller ones.
const largest = 64 << 20

var errMissing = errors.New("not in the repository")

// blobs reads objects through one git process.
type blobs struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	dir    string
	ctx    context.Context
	cancel context.CancelFunc
}

func (r repository) blobs(ctx context.Context) (*blobs, error) {
	ctx, cancel := context.WithCancel(ctx)
	b := &blobs{cmd: r.command(ctx, "cat-file", "--batch"), dir: r.dir, ctx: ctx, cancel: cancel}
	b.cmd.Stderr = &b.stderr
	in, err := b.cmd.StdinPipe()
	if err == nil {
		b.in = in
		var out io.ReadCloser
		if out, err = b.cmd.StdoutPipe(); err == nil {
			b.out = bufio.NewReaderSize(out, 1<<16)
			err = b.cmd.Start()
		}
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return b, nil
}

func (b *blobs) close() {
	b.in.Close()
	b.cancel()
	b.cmd.Wait() // what it thought of being stopped is of no interest
}

// read returns the bytes of a blob; errMissing. One that is too large is read past
// and gives nil.
func (b *blobs) read(name string) ([]byte, error) {
	content, err := b.request(name)
	if err != nil && !errors.Is(err, errMissing) {
		return nil, failed(b.ctx, []string{"cat-file"}, b.dir, b.stderr.Bytes(), err)
	}
	return content, err
}

func (b *blobs) request(name string) ([]byte, error) {
	if _, err := io.WriteString(b.in, name+"\n"); err != nil {
		return nil, err
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head)
	if len(fields) == 2 && fields[1] == "missing" {
		return nil, fmt.Errorf("object %s: %w", name, errMissing)
	}
	if len(fields) != 3 {
		return nil, fmt.Errorf("it printed %.80q", head)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return nil, fmt.Errorf("it printed %.80q", head)
	}
	if fields[1] != "blob" || size > largest {
		_, err := io.CopyN(io.Discard, b.out, size+1)
		return nil, err
	}
	content := make([]byte, size+1) // a newline follows
	if _, err := io.ReadFull(b.out, content); err != nil {
		return nil, err
	}
	return content[:size], nil
}
