package nntp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"uabot/mail"
)

// largest bounds one answer of the server.
const largest = 64 << 20

// conn is a connection to a news server (RFC 3977). Every read and write is under
// a deadline.
type conn struct {
	net.Conn
	timeout time.Duration
	in      *bufio.Reader
	left    int // bytes that the present answer may still have
	stop    func() bool
}

// refusal is an answer that is not the one that was hoped for.
type refusal struct {
	command string
	code    int
	text    string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s: the server answered %d %.200q", r.command, r.code, r.text)
}

// Unwrap tells the server's troubles of the moment (RFC 3977, 3.2.1) from what it
// will always answer.
func (r *refusal) Unwrap() error {
	if r.code == 400 || r.code == 403 || r.code == 503 {
		return mail.ErrTemporary
	}
	return nil
}

// dial connects, and reads the greeting.
func dial(ctx context.Context, addr string, config *tls.Config, timeout time.Duration) (*conn, error) {
	dialer := &net.Dialer{Timeout: timeout}
	raw, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connect: %w: %w", err, mail.ErrTemporary)
	}
	c := &conn{Conn: raw, timeout: timeout}
	c.stop = context.AfterFunc(ctx, func() { raw.Close() })
	if config != nil {
		secure := tls.Client(raw, config)
		hello, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		if err := secure.HandshakeContext(hello); err != nil {
			c.Close()
			if wrong := (*tls.CertificateVerificationError)(nil); errors.As(err, &wrong) {
				return nil, fmt.Errorf("connect: %w", err)
			}
			return nil, fmt.Errorf("connect: %w: %w", err, mail.ErrTemporary)
		}
		c.Conn = secure
	}
	c.in = bufio.NewReaderSize(deadlined{c}, 1<<16)
	if _, err := c.answer("greeting", 200, 201); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *conn) Close() error {
	c.stop()
	return c.Conn.Close()
}

type deadlined struct{ *conn }

func (d deadlined) Read(b []byte) (int, error) {
	d.SetReadDeadline(time.Now().Add(d.timeout))
	return d.Conn.Read(b)
}

// send sends commands without waiting for their answers.
func (c *conn) send(commands ...string) error {
	for _, command := range commands {
		if strings.ContainsAny(command, "\r\n\x00") {
			return fmt.Errorf("%q is no command", command)
		}
	}
	c.SetWriteDeadline(time.Now().Add(c.timeout))
	if _, err := io.WriteString(c.Conn, strings.Join(commands, "\r\n")+"\r\n"); err != nil {
		return fmt.Errorf("send: %w: %w", err, mail.ErrTemporary)
	}
	return nil
}

// ask sends one command and returns the text behind the code of its answer.
func (c *conn) ask(command string, want ...int) (string, error) {
	if err := c.send(command); err != nil {
		return "", err
	}
	return c.answer(command, want...)
}

// answer reads a status line; a code that is not wanted is a *refusal.
func (c *conn) answer(command string, want ...int) (string, error) {
	c.left = largest
	line, err := c.line()
	if err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	code, text, err := readStatus(line)
	if err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	for _, w := range want {
		if code == w {
			return text, nil
		}
	}
	return "", &refusal{command, code, text}
}

// readStatus splits "211 205 1 206 name" into its code and the rest.
func readStatus(line []byte) (int, string, error) {
	digits, text, _ := bytes.Cut(line, []byte(" "))
	code, err := strconv.ParseUint(string(digits), 10, 16)
	if err != nil || len(digits) != 3 || code < 100 {
		return 0, "", fmt.Errorf("not a news server: it said %.80q", line)
	}
	return int(code), string(text), nil
}

// line reads one line, without its end.
func (c *conn) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := c.in.ReadSlice('\n')
		if c.left -= len(part); c.left < 0 {
			return nil, fmt.Errorf("an answer of more than %d bytes", largest)
		}
		if err == nil && whole == nil {
			return bytes.TrimSuffix(part[:len(part)-1], []byte("\r")), nil
		}
		whole = append(whole, part...)
		if err == nil {
			return bytes.TrimSuffix(whole[:len(whole)-1], []byte("\r")), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("read: %w: %w", err, mail.ErrTemporary)
		}
	}
}

// block reads the lines of a multi-line answer (RFC 3977, 3.1.1), each ended by \n.
func (c *conn) block() ([]byte, error) {
	var text []byte
	for {
		line, err := c.line()
		if err != nil {
			return nil, err
		}
		if len(line) > 0 && line[0] == '.' {
			if line = line[1:]; len(line) == 0 {
				return text, nil
			}
		}
		text = append(append(text, line...), '\n')
	}
}
