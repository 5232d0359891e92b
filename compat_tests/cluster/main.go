// Command cluster runs several servers over the same data in one process, for
// tests of clients: the data are in memory, or in the PostgreSQL that -storageURI
// names, and two load balancers stand before the servers, one before the first server
// alone, one before all.
//
// It prints the connection string of the servers, then those of the balancers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/server"
	_ "github.com/duskdb/duskdb/server/postgres" // for -storageURI
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

func main() {
	n := flag.Int("servers", 3, "number of servers")
	uri := flag.String("storageURI", "", "the database of the engine postgres")
	parameters := map[string]string{}
	flag.Func("setParameter", "NAME=VALUE for all servers", func(s string) error {
		name, text, _ := strings.Cut(s, "=")
		parameters[name] = text
		return nil
	})
	flag.Parse()
	if err := run(*n, *uri, parameters); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(n int, uri string, parameters map[string]string) (err error) {
	engine := engines.Default
	if uri == "" {
		share()
	} else {
		engine = "postgres"
	}
	var hosts, behind []string
	for range n {
		behindPort, err := freeport.Claim()
		if err != nil {
			return err
		}
		port := strconv.Itoa(behindPort)
		with := map[string]string{"loadBalancerPort": port}
		for name, text := range parameters {
			with[name] = text
		}
		srv, err := server.New(server.Config{StorageEngine: engine, StorageURI: uri, Parameters: with, Log: zerolog.New(os.Stderr).Level(zerolog.WarnLevel)})
		if err != nil {
			return err
		}
		if err := srv.Start(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, srv.Close(context.Background())) }()
		hosts, behind = append(hosts, srv.Addr()), append(behind, "127.0.0.1:"+port)
	}
	single, err := balance(behind[:1])
	if err != nil {
		return err
	}
	multi, err := balance(behind)
	if err != nil {
		return err
	}
	fmt.Printf("duskdb listening on mongodb://%s/\nbalancers mongodb://%s/?loadBalanced=true mongodb://%s/?loadBalanced=true\n", strings.Join(hosts, ","), single, multi)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	return nil
}

// share makes all servers use the engine that the first one opens.
func share() {
	var cluster *storagetest.Cluster
	engines.Wrap = func(e storage.Engine) storage.Engine {
		if cluster == nil {
			cluster = storagetest.NewCluster(e, clock.System())
		} else {
			_ = e.Close()
		}
		return cluster.Join()
	}
}

// balance starts a load balancer, which gives connections to the servers in turns,
// and returns its address.
func balance(servers []string) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	var turn atomic.Int64
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go forward(client, servers[int(turn.Add(1))%len(servers)])
		}
	}()
	return l.Addr().String(), nil
}

// forward connects a client with a server.
func forward(client net.Conn, address string) {
	defer client.Close()
	srv, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer srv.Close()
	from, to := client.RemoteAddr().(*net.TCPAddr), client.LocalAddr().(*net.TCPAddr)
	if _, err := fmt.Fprintf(srv, "PROXY TCP4 %s %s %d %d\r\n", from.IP, to.IP, from.Port, to.Port); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{srv, client}, {client, srv}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
}
