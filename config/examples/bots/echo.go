// A small bot in Go that keeps running: says again what it reads. Needs nothing but Go.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var api string

// A poll waits for 50 seconds.
var client = http.Client{Timeout: 75 * time.Second}

type answer struct {
	OK     bool
	Result json.RawMessage
	Error  struct {
		Status int
		Code   string
	}
	retryAfter int
}

// call calls until there is an answer, which it puts into result. It fails where the service
// refuses what was sent (4xx).
func call(method, path string, body, result any) error {
	for seconds := 1; ; seconds *= 2 {
		got, err := callOnce(method, path, body)
		if err == nil && got.OK {
			return json.Unmarshal(got.Result, result)
		}
		if err == nil {
			err = errors.New(got.Error.Code)
			if body != nil && isFinal(got.Error.Status, got.Error.Code) {
				return err
			}
		}
		if seconds > 30 {
			seconds = 30
		}
		wait := seconds
		if got.retryAfter > wait {
			wait = got.retryAfter
		}
		log.Printf("%v: trying again in %d s", err, wait)
		time.Sleep(time.Duration(wait) * time.Second)
	}
}

func callOnce(method, path string, body any) (got answer, err error) {
	// The token is read each time, since it may have been replaced.
	token, err := os.ReadFile(os.Getenv("BOT_TOKEN_FILE"))
	if err != nil {
		return got, err
	}
	var data []byte
	if body != nil {
		if data, err = json.Marshal(body); err != nil {
			return got, err
		}
	}
	request, err := http.NewRequest(method, api+path, bytes.NewReader(data))
	if err != nil {
		return got, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return got, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&got)
	got.retryAfter, _ = strconv.Atoi(response.Header.Get("Retry-After"))
	return got, err
}

// isFinal says whether it would be refused again. A token can be replaced, and a pause can end.
func isFinal(status int, code string) bool {
	return status >= 400 && status < 500 && status != 401 && status != 429 && code != "bot_paused"
}

func handle(raw json.RawMessage) (err error) {
	// A mistake in here costs this update, and not the bot.
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v", failure)
		}
	}()
	var update struct {
		UpdateID int64
		Message  struct {
			ID   int64
			Text string
			Chat struct{ ID int64 }
		}
	}
	if err := json.Unmarshal(raw, &update); err != nil || update.Message.Text == "" {
		return err
	}
	return call("POST", "/messages", map[string]any{
		"chatId":  update.Message.Chat.ID,
		"text":    "you said: " + update.Message.Text,
		"replyTo": update.Message.ID,
		// The same for the same update, so that the answer is given once, however often it is sent.
		"sendId": fmt.Sprintf("00000000-0000-4000-8000-%012x", update.UpdateID),
	}, &struct{}{})
}

func main() {
	base := os.Getenv("BASE_URL")
	if base == "" {
		base = "http://127.0.0.1:8700"
	}
	api = base + "/bot/v1"
	var me struct{ Username string }
	if err := call("GET", "/me", nil, &me); err != nil {
		log.Fatal(err)
	}
	log.Printf("running as @%s", me.Username)
	for offset := int64(0); ; {
		var updates []json.RawMessage
		if err := call("GET", fmt.Sprintf("/updates?timeout=50&offset=%d", offset), nil, &updates); err != nil {
			log.Printf("the updates cannot be read: %v", err)
			time.Sleep(time.Second)
			continue
		}
		for _, raw := range updates {
			var numbered struct{ UpdateID int64 }
			json.Unmarshal(raw, &numbered)
			if err := handle(raw); err != nil {
				log.Printf("update %d is skipped: %v", numbered.UpdateID, err)
			}
			// Handled or skipped: the next poll confirms it, and it does not come again.
			offset = numbered.UpdateID + 1
		}
	}
}
