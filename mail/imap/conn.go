package imap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"

	"uabot/mail"
)

// conn is one connection, logged in. go-imap waits for ever for an answer that does
// not come: so each command runs under a timer that closes the connection.
type conn struct {
	client *imapclient.Client
	socket net.Conn
	news   chan struct{} // the server said that the mailbox has more mails
}

// do runs one command. It fails when the command takes longer than timeout, or
// when ctx ends; the connection is of no use any more then. progress, which do hands
// to command, gives it the whole time again.
func (c *conn) do(ctx context.Context, timeout time.Duration, what string, command func(progress func()) error) error {
	timer := time.AfterFunc(timeout, func() { c.socket.Close() })
	stop := context.AfterFunc(ctx, func() { c.socket.Close() })
	err := command(func() { timer.Reset(timeout) })
	inTime, going := timer.Stop(), stop()
	switch {
	case !going && ctx.Err() != nil:
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	case err == nil:
		return nil
	case !inTime:
		return fmt.Errorf("%s: no answer for %v: %w", what, timeout, mail.ErrTemporary)
	}
	return fmt.Errorf("%s: %w", what, sorted(err))
}

// sorted adds mail.ErrTemporary to what may be other the next time. A server's NO
// and BAD are answers, unless it says that it is in trouble (RFC 5530).
func sorted(err error) error {
	var answer *imap.Error
	if errors.As(err, &answer) {
		switch answer.Code {
		case imap.ResponseCodeUnavailable, imap.ResponseCodeServerBug, imap.ResponseCodeInUse, imap.ResponseCodeContactAdmin, imap.ResponseCodeLimit:
		default:
			if answer.Type != imap.StatusResponseTypeBye {
				return err
			}
		}
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return err
	}
	return fmt.Errorf("%w: %w", err, mail.ErrTemporary)
}

func (c *conn) close() { c.socket.Close() }

// closed reports whether the connection is known to be broken.
func (c *conn) closed() bool {
	select {
	case <-c.client.Closed():
		return true
	default:
		return false
	}
}

// dial connects and logs in.
func (m *Mailbox) dial(ctx context.Context) (*conn, error) {
	timeout := m.timeout()
	host, _, err := net.SplitHostPort(m.Addr)
	if err != nil {
		return nil, fmt.Errorf("the server's address %q is not HOST:PORT: %w", m.Addr, err)
	}
	config := &tls.Config{}
	if m.TLS != nil {
		config = m.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	dialer := &net.Dialer{Timeout: timeout}
	socket, err := dialer.DialContext(ctx, "tcp", m.Addr)
	if err != nil {
		return nil, fmt.Errorf("connect: %w: %w", err, mail.ErrTemporary)
	}
	c := &conn{socket: socket, news: make(chan struct{}, 1)}
	options := &imapclient.Options{TLSConfig: config, UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(data *imapclient.UnilateralDataMailbox) {
			if data.NumMessages != nil {
				select {
				case c.news <- struct{}{}:
				default:
				}
			}
		},
	}}
	err = c.do(ctx, timeout, "connect", func(func()) error {
		switch m.Encryption {
		case TLS:
			secure := tls.Client(socket, config)
			if err := secure.HandshakeContext(ctx); err != nil {
				return err
			}
			c.client = imapclient.New(secure, options)
		case StartTLS:
			var err error
			if c.client, err = imapclient.NewStartTLS(socket, options); err != nil {
				return err
			}
		case Plain:
			c.client = imapclient.New(socket, options)
		}
		return c.client.WaitGreeting()
	})
	if err == nil && c.client == nil {
		err = fmt.Errorf("there is no encryption number %d", m.Encryption)
	}
	if err == nil {
		err = m.login(ctx, c)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (m *Mailbox) login(ctx context.Context, c *conn) error {
	if m.Secret == nil {
		return fmt.Errorf("there is no password or token for %s", m.User)
	}
	secret, err := m.Secret(ctx)
	if err != nil {
		return fmt.Errorf("the password or token of %s: %w", m.User, err)
	}
	return c.do(ctx, m.timeout(), "log in as "+m.User, func(func()) error {
		caps := c.client.Caps()
		auth := m.Auth
		if auth == "" {
			auth = "LOGIN"
			if caps.Has(imap.AuthCap(sasl.Plain)) {
				auth = sasl.Plain
			}
		}
		switch auth {
		case "LOGIN":
			if caps.Has(imap.CapLoginDisabled) {
				return &imap.Error{Type: imap.StatusResponseTypeNo, Text: "LOGIN is disabled; perhaps it wants encryption"}
			}
			return c.client.Login(m.User, secret).Wait()
		case sasl.Plain:
			return c.client.Authenticate(sasl.NewPlainClient("", m.User, secret))
		case sasl.OAuthBearer, "XOAUTH2":
			return c.client.Authenticate(&oauth{mechanism: auth, user: m.User, token: secret})
		}
		return &imap.Error{Type: imap.StatusResponseTypeNo, Text: fmt.Sprintf("there is no way to log in that is called %q", auth)}
	})
}

// oauth is both ways of OAuth: OAUTHBEARER (RFC 7628) and Google's XOAUTH2. When a
// token is refused the server explains that in a challenge and wants an answer before
// it says NO; go-sasl gives none, and the connection waits for ever.
type oauth struct{ mechanism, user, token string }

func (o *oauth) Start() (string, []byte, error) {
	if o.mechanism == "XOAUTH2" {
		return o.mechanism, []byte("user=" + o.user + "\x01auth=Bearer " + o.token + "\x01\x01"), nil
	}
	return o.mechanism, []byte("n,a=" + saslName(o.user) + ",\x01auth=Bearer " + o.token + "\x01\x01"), nil
}

func (o *oauth) Next([]byte) ([]byte, error) {
	return []byte{1}, nil // RFC 7628, 3.2.3; XOAUTH2 takes any answer
}
