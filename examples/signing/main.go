// One signed push, with Go; as `go run main.go batch` several in one request.
// As `go run main.go sign` it signs what is on stdin.
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

type object = map[string]any

// Made once: these bytes are signed, and these bytes are sent. Marshalled again they may differ.
func one() []byte {
	return must(json.Marshal(object{"matterType": "TODO", "externalId": "EXAMPLE-go", "title": "审批：采购申请"}))
}

// One push a line, at most 1,000 lines; those of one matter take effect in their order.
func several() []byte {
	id := "EXAMPLE-go-batch"
	var body bytes.Buffer
	for _, push := range []object{
		{"op": "upsert", "body": object{"matterType": "TODO", "externalId": id, "title": "审批：差旅报销"}},
		{"op": "status", "body": object{"externalId": id, "bizStatus": "APPROVED"}},
	} {
		body.Write(append(must(json.Marshal(push)), '\n'))
	}
	return body.Bytes()
}

func main() {
	log.SetFlags(0)
	argument := ""
	if len(os.Args) > 1 {
		argument = os.Args[1]
	}
	switch argument {
	case "sign": // three lines, and the rest is the body
		in := bytes.SplitN(must(io.ReadAll(os.Stdin)), []byte("\n"), 4)
		fmt.Println(sign(string(in[0]), string(in[1]), string(in[2]), in[3]))
	case "batch":
		send("batch", several(), "EXAMPLE-go/batch")
	default:
		send("upsert", one(), "EXAMPLE-go/created")
	}
}

func send(operation string, body []byte, key string) {
	url, clientID, secret := setting("MATTER_PUSH_URL"), setting("CLIENT_ID"), setting("CLIENT_SECRET")
	timestamp := strconv.FormatInt(time.Now().Unix(), 10) // seconds, not milliseconds

	request := must(http.NewRequest("POST", url+"/api/open/matters/"+operation, bytes.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Client-Id", clientID)
	request.Header.Set("X-Timestamp", timestamp)
	request.Header.Set("X-Signature", sign(clientID, timestamp, secret, body))
	// One per change, or per batch: a retry with it is answered, but not applied again.
	request.Header.Set("X-Idempotency-Key", key)
	client := http.Client{Timeout: 60 * time.Second}
	response := must(client.Do(request))
	answer := must(io.ReadAll(response.Body))
	fmt.Printf("%s\n", answer) // of a batch: what became of each line, in data.results

	envelope := struct{ Code *int }{} // a pointer: an answer without a code is not code 0
	if json.Unmarshal(answer, &envelope) != nil || envelope.Code == nil || *envelope.Code != 0 {
		os.Exit(1)
	}
}
