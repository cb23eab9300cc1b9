// A bot that keeps a list for each chat. Needs nothing but Go.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

// Update holds what this bot reads of an update.
type Update struct {
	UpdateID int64
	Message  *struct {
		ID   int64
		Text string
		Chat struct{ ID int64 }
	}
}

// Refusal is an error of the service.
type Refusal struct {
	Status  int
	Code    string
	Message string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// Bot keeps a list for each chat.
type Bot struct {
	API    string
	Token  string
	offset int64
	lists  map[int64][]string
}

// NewBot makes a bot that calls the service, or a sidecar, at baseURL.
func NewBot(baseURL, token string) *Bot {
	return &Bot{API: baseURL + "/bot/v1", Token: token, lists: map[int64][]string{}}
}

// Call asks the service, and reads the result into result.
func (b *Bot) Call(method, path string, body, result any) error {
	var data bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&data).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, b.API+path, &data)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+b.Token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	envelope := struct {
		Result any
		Error  *Refusal
	}{Result: result}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return err
	}
	if envelope.Error != nil {
		return envelope.Error
	}
	return nil
}

// Poll waits for updates and handles them.
func (b *Bot) Poll(timeoutSeconds int) error {
	var updates []Update
	path := fmt.Sprintf("/updates?timeout=%d&offset=%d", timeoutSeconds, b.offset)
	if err := b.Call("GET", path, nil, &updates); err != nil {
		return err
	}
	for _, update := range updates {
		if update.UpdateID < b.offset {
			continue // an update may come more than once
		}
		if err := b.handle(update); err != nil {
			return err
		}
		b.offset = update.UpdateID + 1
	}
	return nil
}

func (b *Bot) handle(update Update) error {
	if update.Message == nil || update.Message.Text == "" {
		return nil
	}
	chat := update.Message.Chat.ID
	command, what, _ := strings.Cut(update.Message.Text, " ")
	switch command {
	case "/add":
		b.lists[chat] = append(b.lists[chat], what)
		return b.say(chat, "added: "+what)
	case "/list":
		return b.say(chat, "- "+strings.Join(b.lists[chat], "\n- "))
	}
	return b.say(chat, "Write /add or /list.")
}

func (b *Bot) say(chat int64, text string) error {
	return b.Call("POST", "/messages", map[string]any{"chatId": chat, "text": text}, &struct{}{})
}

func main() {
	token, err := os.ReadFile(os.Getenv("BOT_TOKEN_FILE"))
	if err != nil {
		log.Fatal(err)
	}
	bot := NewBot(os.Getenv("BASE_URL"), strings.TrimSpace(string(token)))
	for { // ../bots/echo.go goes on in trouble, too
		if err := bot.Poll(50); err != nil {
			log.Fatal(err)
		}
	}
}
