// The registry of a cluster: distribution's handlers on listening sockets that it inherits.
//
//	registry FD...
//
// FD are the numbers of listening sockets.  Images are stored below the root directory.  The
// process needs no network, no other files and no privileges (src/registry/cell.c).
//
// This is a program of ours, because distribution's own opens its sockets itself, listens at one
// address only, and contains the clients of cloud storage.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
	"github.com/sirupsen/logrus"
)

const (
	connectionsMost    = 512 // at one socket
	connectionsOfPeer  = 128 // from one address at one socket
	drainLimit         = 800 * time.Millisecond
	headerLimit        = 30 * time.Second
	idleLimit          = 2 * time.Minute
	logMostBytes       = 1 << 20
	abandonedUploadAge = "168h"
)

// limitedLog writes at most `left` bytes, because clients cause messages.
type limitedLog struct {
	lock sync.Mutex
	left int
}

func (l *limitedLog) Write(text []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.left >= len(text) {
		l.left -= len(text)
		return os.Stderr.Write(text)
	}
	return len(text), nil
}

// limitedListener closes connections beyond the limits at once.
type limitedListener struct {
	net.Listener
	lock  sync.Mutex
	count int
	peers map[string]int
}

type countedConn struct {
	net.Conn
	once sync.Once
	end  func()
}

func (c *countedConn) Close() error {
	c.once.Do(c.end)
	return c.Conn.Close()
}

func (l *limitedListener) take(peer string) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.count >= connectionsMost || l.peers[peer] >= connectionsOfPeer {
		return false
	}
	l.count++
	l.peers[peer]++
	return true
}

func (l *limitedListener) giveBack(peer string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.count--
	l.peers[peer]--
	if l.peers[peer] == 0 {
		delete(l.peers, peer)
	}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		if l.take(peer) {
			return &countedConn{Conn: conn, end: func() { l.giveBack(peer) }}, nil
		}
		_ = conn.Close()
	}
}

func inheritedListener(word string) net.Listener {
	fd, err := strconv.Atoi(word)
	if err != nil {
		log.Fatalf("'%s' is not a descriptor", word)
	}
	syscall.CloseOnExec(fd)
	file := os.NewFile(uintptr(fd), "socket")
	listener, err := net.FileListener(file)
	if err != nil {
		log.Fatalf("cannot listen: %v", err)
	}
	_ = file.Close()
	return &limitedListener{Listener: listener, peers: map[string]int{}}
}

func newSecret() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}

func newConfiguration() *configuration.Configuration {
	config := &configuration.Configuration{
		Storage: configuration.Storage{
			"filesystem": {"rootdirectory": "/"},
			"delete":     {"enabled": true},
			"maintenance": {"uploadpurging": map[any]any{
				"enabled": true, "age": abandonedUploadAge, "interval": "24h", "dryrun": false,
			}},
		},
	}
	config.HTTP.Secret = newSecret()
	config.HTTP.RelativeURLs = true
	config.Catalog.MaxEntries = 1000
	return config
}

func main() {
	output := &limitedLog{left: logMostBytes}
	log.SetOutput(output)
	log.SetFlags(0)
	log.SetPrefix("the registry: ")
	logrus.SetOutput(output)
	logrus.SetLevel(logrus.ErrorLevel)
	http.DefaultTransport = nil // there is no network

	app := handlers.NewApp(context.Background(), newConfiguration())
	server := &http.Server{
		Handler:           app,
		ReadHeaderTimeout: headerLimit,
		IdleTimeout:       idleLimit,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	failed := make(chan error, 1)
	for _, word := range os.Args[1:] {
		listener := inheritedListener(word)
		go func() { failed <- server.Serve(listener) }()
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	select {
	case err := <-failed:
		if !errors.Is(err, http.ErrServerClosed) {
			log.Fatalf("cannot accept connections: %v", err)
		}
	case <-asked:
		patience, cancel := context.WithTimeout(context.Background(), drainLimit)
		defer cancel()
		_ = server.Shutdown(patience)
	}
}
