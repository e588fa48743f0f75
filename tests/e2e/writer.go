// Write to a cluster's API without pause, as Kubernetes' own clients do, and see afterwards how that
// went.
//
//	writer write KUBECONFIG [SERVER PREFIX]
//	writer check KUBECONFIG LOG
//
// Go's HTTP/2 is what kubectl and controllers have: a server that is about to end tells the client to
// use another connection (GOAWAY).  Of client-go's retries this has the one for every request: an
// answer with Retry-After is waited for.  All else that goes wrong is a failed request.
//
// write makes objects called write-PREFIXNUMBER until SIGTERM and prints a line per request: "SECONDS
// PREFIXNUMBER" for one that was made, and "failed SECONDS PREFIXNUMBER REASON" otherwise.
//
// check prints how many of those in LOG were acknowledged, how many of these are not there, how many
// failed, and the longest time between two that were acknowledged.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	path        = "/api/v1/namespaces/default/configmaps"
	retriesMost = 10
)

var begin = time.Now()

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// What the kubeconfig has for KEY, in the file itself or in one that it names.
func pem(config []byte, key string) []byte {
	data := regexp.MustCompile(key + `-data: "?([A-Za-z0-9+/=]+)`).FindSubmatch(config)
	if data != nil {
		text, err := base64.StdEncoding.DecodeString(string(data[1]))
		check(err)
		return text
	}
	name := regexp.MustCompile(key + `: "?([^"\n]+)`).FindSubmatch(config)
	if name == nil {
		check(fmt.Errorf("no %s in the kubeconfig", key))
	}
	text, err := os.ReadFile(string(name[1]))
	check(err)
	return text
}

func open(path string) (string, *http.Client) {
	config, err := os.ReadFile(path)
	check(err)
	pair, err := tls.X509KeyPair(pem(config, "client-certificate"), pem(config, "client-key"))
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem(config, "certificate-authority"))
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
		ForceAttemptHTTP2: true,
	}
	server := regexp.MustCompile(`server: "?(https://[^"\s]+)`).FindSubmatch(config)
	return string(server[1]), &http.Client{Transport: transport, Timeout: 60 * time.Second}
}

// Make the object NUMBER; "" if the API says that it is made, else why not.
func write(client *http.Client, server string, number string) string {
	body := fmt.Sprintf(`{"metadata": {"name": "write-%s"}}`, number)
	for retry := 0; ; retry++ {
		answer, err := client.Post(server+path,
			"application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			return err.Error()
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == http.StatusCreated {
			return ""
		}
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		again := answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= 500
		if err != nil || !again || retry == retriesMost {
			return fmt.Sprintf("%s: %s", answer.Status, strings.TrimSpace(string(text)))
		}
		fmt.Fprintf(os.Stderr, "%.3f write-%s is tried again after %d s: %s\n",
			time.Since(begin).Seconds(), number, seconds, text)
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

func writeOn(config, server, prefix string) {
	known, client := open(config)
	if server == "" {
		server = known
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	for i := 1; ; i++ {
		number := fmt.Sprintf("%s%d", prefix, i)
		problem := write(client, server, number)
		seconds := time.Since(begin).Seconds()
		if problem == "" {
			fmt.Printf("%.3f %s\n", seconds, number)
		} else {
			fmt.Printf("failed %.3f %s %s\n", seconds, number, problem)
		}
		select {
		case <-end:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// The names of all objects that are there; the API may still be coming up.
func list(config string) map[string]bool {
	server, client := open(config)
	for try := 0; ; try++ {
		answer, err := client.Get(server + path)
		if err == nil && answer.StatusCode == http.StatusOK {
			var all struct {
				Items []struct{ Metadata struct{ Name string } }
			}
			check(json.NewDecoder(answer.Body).Decode(&all))
			names := map[string]bool{}
			for _, item := range all.Items {
				names[item.Metadata.Name] = true
			}
			return names
		}
		if try == 20 {
			check(fmt.Errorf("the API does not answer: %v", err))
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func checkLog(config, log string) {
	text, err := os.ReadFile(log)
	check(err)
	there := list(config)
	acknowledged, lost, failed := 0, 0, 0
	last, stall := 0.0, 0.0
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		words := strings.Fields(line)
		if len(words) != 2 {
			failed++
			continue
		}
		seconds, err := strconv.ParseFloat(words[0], 64)
		check(err)
		if acknowledged > 0 {
			stall = max(stall, seconds-last)
		}
		last = seconds
		acknowledged++
		if !there["write-"+words[1]] {
			lost++
		}
	}
	fmt.Printf("%d acknowledged, %d lost, %d failed, stalled %.2f s\n",
		acknowledged, lost, failed, stall)
}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "write":
		writeOn(os.Args[2], "", "")
	case len(os.Args) == 5 && os.Args[1] == "write":
		writeOn(os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) == 4 && os.Args[1] == "check":
		checkLog(os.Args[2], os.Args[3])
	default:
		check(fmt.Errorf("usage: writer write|check KUBECONFIG ..."))
	}
}
