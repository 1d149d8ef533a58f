// One signed push, with Go. As `go run main.go sign` it signs what is on stdin.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func sign(clientID, timestamp, secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s\n%s\n", clientID, timestamp)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func setting(name string) string {
	value := os.Getenv(name)
	if value == "" {
		log.Fatalf("%s is not set", name)
	}
	return value
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	log.SetFlags(0)
	if len(os.Args) > 1 && os.Args[1] == "sign" { // three lines, and the rest is the body
		in := bytes.SplitN(must(io.ReadAll(os.Stdin)), []byte("\n"), 4)
		fmt.Println(sign(string(in[0]), string(in[1]), string(in[2]), in[3]))
		return
	}
	url, clientID, secret := setting("MATTER_PUSH_URL"), setting("CLIENT_ID"), setting("CLIENT_SECRET")
	matter := map[string]any{"matterType": "TODO", "externalId": "EXAMPLE-go", "title": "审批：采购申请"}
	// Made once: these bytes are signed, and these bytes are sent. Marshalled again they may differ.
	body := must(json.Marshal(matter))
	timestamp := strconv.FormatInt(time.Now().Unix(), 10) // seconds, not milliseconds

	request := must(http.NewRequest("POST", url+"/api/open/matters/upsert", bytes.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Client-Id", clientID)
	request.Header.Set("X-Timestamp", timestamp)
	request.Header.Set("X-Signature", sign(clientID, timestamp, secret, body))
	// One per change: a retry with it is answered, but not applied again.
	request.Header.Set("X-Idempotency-Key", "EXAMPLE-go/created")
	client := http.Client{Timeout: 30 * time.Second}
	response := must(client.Do(request))
	answer := must(io.ReadAll(response.Body))
	fmt.Printf("%s\n", answer)

	envelope := struct{ Code *int }{} // a pointer: an answer without a code is not code 0
	if json.Unmarshal(answer, &envelope) != nil || envelope.Code == nil || *envelope.Code != 0 {
		os.Exit(1)
	}
}
