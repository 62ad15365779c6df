package testserver

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// Proxy passes TCP connections on to a server, until it is told to misbehave.
type Proxy struct {
	Addr string

	server string
	mu     sync.Mutex
	change *sync.Cond
	conns  map[net.Conn]bool
	limit  int // bytes that a connection still gets from the server; -1 without end
	cut    bool
	ended  bool
}

// NewProxy starts a proxy in front of the server at addr.
func NewProxy(t testing.TB, addr string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: listener.Addr().String(), server: addr, conns: map[net.Conn]bool{}, limit: -1}
	p.change = sync.NewCond(&p.mu)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		p.CutNow()
		serving.Wait()
	})
	return p
}

// Pass lets everything through again; connections that were stalled go on.
func (p *Proxy) Pass() { p.set(-1, false) }

// CutAfter closes every connection, new and old, once it got n more bytes from
// the server.
func (p *Proxy) CutAfter(n int) { p.set(n, true) }

// StallAfter keeps every connection open, but it gets only n more bytes.
func (p *Proxy) StallAfter(n int) { p.set(n, false) }

// CutNow closes all connections; new ones are served.
func (p *Proxy) CutNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
	p.change.Broadcast()
}

func (p *Proxy) set(limit int, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.cut = limit, cut
	p.change.Broadcast()
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	p.conns[client] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
	}()
	go func() {
		io.Copy(server, client)
		p.mu.Lock()
		delete(p.conns, client) // the client has gone: a stalled answer is for nobody
		p.change.Broadcast()
		p.mu.Unlock()
		server.Close()
	}()
	buffer := make([]byte, 4096)
	passed, rule := 0, [2]any{}
	for {
		n, err := server.Read(buffer)
		for data := buffer[:n]; len(data) > 0; {
			p.mu.Lock()
			if now := [2]any{p.limit, p.cut}; now != rule {
				passed, rule = 0, now
			}
			allowed := len(data)
			if p.limit >= 0 {
				allowed = min(allowed, p.limit-passed)
			}
			if allowed == 0 {
				if p.cut || !p.conns[client] || p.ended {
					p.mu.Unlock()
					return
				}
				p.change.Wait()
				p.mu.Unlock()
				continue
			}
			p.mu.Unlock()
			if _, err := client.Write(data[:allowed]); err != nil {
				return
			}
			passed += allowed
			data = data[allowed:]
		}
		if err != nil {
			return
		}
	}
}

// NewTLSProxy starts a server that speaks TLS and passes on what is in it to the
// server at addr. It returns its own address, and what its certificate is checked
// against.
func NewTLSProxy(t testing.TB, addr string) (string, *x509.CertPool) {
	t.Helper()
	work := t.TempDir()
	authority := certify(t, work)
	certificate, err := tls.LoadX509KeyPair(filepath.Join(work, "cert.pem"), filepath.Join(work, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", addr)
				if err != nil {
					return
				}
				defer server.Close()
				go func() {
					io.Copy(server, client)
					server.Close()
				}()
				io.Copy(client, server)
			}()
		}
	}()
	return listener.Addr().String(), authority
}
