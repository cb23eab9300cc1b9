// The smallest bot in Go: says again what it reads. Needs nothing but Go.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

type update struct {
	UpdateID int64
	Message  *struct {
		ID   int64
		Text string
		Chat struct{ ID int64 }
	}
}

var base, token string

func call(method, path string, body []byte, result any) {
	for {
		request, err := http.NewRequest(method, base+path, bytes.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		data, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == 429 || answer.StatusCode == 503 {
			seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
			time.Sleep(time.Second + time.Duration(seconds)*time.Second)
			continue
		}
		if err := json.Unmarshal(data, &struct{ Result any }{result}); err != nil || answer.StatusCode >= 300 {
			log.Fatal(answer.Status)
		}
		return
	}
}

func main() {
	secret, err := os.ReadFile(os.Getenv("BOT_TOKEN_FILE"))
	if err != nil {
		log.Fatal(err)
	}
	token = strings.TrimSpace(string(secret))
	base = os.Getenv("BASE_URL")
	if base == "" {
		base = "http://127.0.0.1:8700"
	}
	base += "/bot/v1"
	for offset := int64(0); ; {
		var updates []update
		call("GET", fmt.Sprintf("/updates?timeout=50&offset=%d", offset), nil, &updates)
		for _, u := range updates {
			offset = u.UpdateID + 1
			if u.Message == nil || u.Message.Text == "" {
				continue
			}
			answer := map[string]any{
				"chatId": u.Message.Chat.ID, "text": "you said: " + u.Message.Text, "replyTo": u.Message.ID,
			}
			body, _ := json.Marshal(answer)
			call("POST", "/messages", body, &map[string]any{})
		}
	}
}
