package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"uabot/internal/testenv"
)

// Dovecot is an IMAP server. Any user may log in with Password, or by OAuth with
// Token; each has one mailbox, INBOX.
type Dovecot struct {
	Addr    string         // plain text, or STARTTLS
	TLSAddr string         // TLS from the first byte
	CA      *x509.CertPool // that its certificate is checked against

	work, program string
	uid, gid      int
	process       *process
	mails         int
}

const (
	Password = "pass"
	Token    = "good-token"
)

const dovecotConf = `protocols = imap
listen = 127.0.0.1
base_dir = %[1]s/run
log_path = %[1]s/dovecot.log
first_valid_uid = 0
ssl = yes
ssl_cert = <%[1]s/cert.pem
ssl_key = <%[1]s/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login oauthbearer xoauth2
mail_location = maildir:%[1]s/mail/%%u
mail_max_userip_connections = 1000
auth_failure_delay = 0
passdb {
  driver = static
  mechanisms = plain login
  args = password=%[4]s
}
passdb {
  driver = oauth2
  mechanisms = oauthbearer xoauth2
  args = %[1]s/oauth2.conf
}
userdb {
  driver = static
  args = uid=%[2]d gid=%[3]d home=%[1]s/mail/%%u
}
# no penalty for the address that logins fail from: all tests have the same
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
  %[7]s
}
service imap-login {
  inet_listener imap {
    address = 127.0.0.1
    port = %[5]d
  }
  inet_listener imaps {
    address = 127.0.0.1
    port = %[6]d
    ssl = yes
  }
  %[7]s
}
namespace inbox {
  inbox = yes
  separator = /
}
%[8]s
`

// Dovecot as a normal user: it cannot become another one, nor enter a chroot.
const dovecotUnprivileged = `default_internal_user = %[1]s
default_internal_group = %[2]s
default_login_user = %[1]s
`

// NewDovecot starts an IMAP server.
func NewDovecot(t testing.TB) *Dovecot {
	t.Helper()
	d := &Dovecot{program: testenv.Tool(t, "dovecot", "imap")[0], work: dir(t, "dovecot"), uid: os.Getuid(), gid: os.Getgid()}
	chroot, unprivileged := "", ""
	if d.uid == 0 { // it refuses to touch mail as root
		mail, err := user.Lookup("mail")
		if err != nil {
			testenv.Missing(t, "the user mail")
		}
		d.uid, _ = strconv.Atoi(mail.Uid)
		d.gid, _ = strconv.Atoi(mail.Gid)
	} else {
		me, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		group, err := user.LookupGroupId(me.Gid)
		if err != nil {
			t.Fatal(err)
		}
		chroot, unprivileged = "chroot =", fmt.Sprintf(dovecotUnprivileged, me.Username, group.Name)
	}
	for _, sub := range []string{"run", "mail"} {
		if err := os.Mkdir(filepath.Join(d.work, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.own(t, filepath.Join(d.work, "mail"))
	d.CA = certify(t, d.work)

	// dovecot asks this one whether a token is good, and whose it is.
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("token") != Token {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"active":false}`)
			return
		}
		fmt.Fprint(w, `{"active":true,"username":"oauth"}`)
	}))
	t.Cleanup(provider.Close)
	writeFile(t, filepath.Join(d.work, "oauth2.conf"), 0o644, `introspection_mode = get
introspection_url = %s/?token=
username_attribute = username
active_attribute = active
active_value = true
force_introspection = yes
`, provider.URL)

	plain, tls := freePort(t), freePort(t)
	d.Addr, d.TLSAddr = fmt.Sprint("127.0.0.1:", plain), fmt.Sprint("127.0.0.1:", tls)
	writeFile(t, filepath.Join(d.work, "dovecot.conf"), 0o644, dovecotConf,
		d.work, d.uid, d.gid, Password, plain, tls, chroot, unprivileged)
	d.Start(t)
	return d
}

// Start starts the server again after Stop, on the same ports.
func (d *Dovecot) Start(t testing.TB) {
	t.Helper()
	d.process = start(t, filepath.Join(d.work, "output"), os.Environ(), d.program, "-F", "-c", filepath.Join(d.work, "dovecot.conf"))
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(d.work, "dovecot.log"))
			t.Logf("dovecot.log:\n%s", tail(text))
		}
	})
	until(t, "dovecot listens", func() bool { return listens(d.Addr) && listens(d.TLSAddr) })
}

// Stop ends the server; its connections break.
func (d *Dovecot) Stop(t testing.TB) {
	t.Helper()
	d.process.stop(t)
}

// Maildir is where the mails of a user are, for another server to deliver to.
func (d *Dovecot) Maildir(t testing.TB, user string) string {
	t.Helper()
	box := filepath.Join(d.work, "mail", user)
	for _, sub := range []string{box, filepath.Join(box, "new"), filepath.Join(box, "cur"), filepath.Join(box, "tmp")} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		d.own(t, sub)
	}
	return box
}

// Deliver puts mails into a user's INBOX as a delivery agent does.
func (d *Dovecot) Deliver(t testing.TB, user string, raw ...[]byte) {
	t.Helper()
	box := d.Maildir(t, user)
	for _, bytes := range raw {
		d.mails++
		// dovecot numbers by the name of the file.
		name := fmt.Sprintf("%d.M%06d.test", time.Now().Unix(), d.mails)
		file := filepath.Join(box, "tmp", name)
		writeFile(t, file, 0o600, "%s", bytes)
		d.own(t, file)
		if err := os.Rename(file, filepath.Join(box, "new", name)); err != nil {
			t.Fatal(err)
		}
	}
}

// Renumber makes the server forget the UIDs of a user's INBOX: it gets another
// UIDVALIDITY. No client may be connected.
func (d *Dovecot) Renumber(t testing.TB, user string) {
	t.Helper()
	time.Sleep(time.Second) // UIDVALIDITY is a time in seconds
	files, err := filepath.Glob(filepath.Join(d.work, "mail", user, "dovecot*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no index of %s: %v", user, err)
	}
	for _, file := range files {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
	}
}

func (d *Dovecot) own(t testing.TB, path string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	if err := os.Chown(path, d.uid, d.gid); err != nil {
		t.Fatal(err)
	}
}

// certify writes cert.pem and key.pem for 127.0.0.1.
func certify(t testing.TB, work string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(work, "cert.pem"), 0o644, "%s", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	writeFile(t, filepath.Join(work, "key.pem"), 0o600, "%s", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	pool := x509.NewCertPool()
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(certificate)
	return pool
}
