package main

// Starts the sandbox, and a sidecar before it, for the tests of a bot. Copy this file.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

type fields map[string]any

var sandbox struct{ URL, ControlURL string }

var names atomic.Int64

// postern is how Postern is started: POSTERN, or `postern`.
func postern(arguments ...string) *exec.Cmd {
	words := strings.Fields(os.Getenv("POSTERN"))
	if len(words) == 0 {
		words = []string{"postern"}
	}
	return exec.Command(words[0], append(words[1:], arguments...)...)
}

func TestMain(m *testing.M) {
	// This bot does not wait after a 429; the service takes one message a second in a private chat.
	command := postern("sandbox", "--json", "--rates", "off")
	out, err := command.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := command.Start(); err != nil {
		log.Fatalf("%v; set POSTERN to what starts Postern: POSTERN='node /path/to/postern/bin/postern.cjs' go test", err)
	}
	if err := json.NewDecoder(out).Decode(&sandbox); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	_ = command.Process.Signal(os.Interrupt)
	_ = command.Wait()
	os.Exit(code)
}

// control asks the sandbox; GET /openapi.json at ControlURL describes what it can do.
func control(t *testing.T, operation string, given fields, result any) {
	t.Helper()
	body, _ := json.Marshal(given)
	answer, err := http.Post(sandbox.ControlURL+"/"+operation, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	envelope := struct {
		Result any
		Error  *Refusal
	}{Result: result}
	if err := json.NewDecoder(answer.Body).Decode(&envelope); err != nil {
		t.Fatal(err)
	}
	if envelope.Error != nil {
		t.Fatalf("%s: %v", operation, envelope.Error)
	}
}

// World is a bot, and a person who has a phone and a private chat with it.
type World struct {
	t               *testing.T
	BotID, PersonID int64
	ChatID          int64
	Token           string
}

// Shown is a message that a phone showed.
type Shown struct{ Text, Verdict string }

func newWorld(t *testing.T) *World {
	t.Helper()
	var made struct {
		ID    int64
		Token string
	}
	name := names.Add(1)
	control(t, "addBot", fields{"username": fmt.Sprintf("list_bot_%d", name)}, &made)
	world := &World{t: t, BotID: made.ID, Token: made.Token}
	control(t, "addPerson", fields{"username": fmt.Sprintf("person_%d", name)}, &made)
	world.PersonID = made.ID
	control(t, "givePhone", fields{"userId": world.PersonID}, nil)
	control(t, "addPrivateChat", fields{"userId": world.PersonID, "botId": world.BotID}, &made)
	world.ChatID = made.ID
	return world
}

// Write writes with the person's phone.
func (w *World) Write(text string) {
	w.t.Helper()
	control(w.t, "write", fields{"userId": w.PersonID, "chatId": w.ChatID, "text": text}, nil)
}

// LastShown is what the person's phone showed last.
func (w *World) LastShown() Shown {
	w.t.Helper()
	var phone struct{ Inbox []Shown }
	control(w.t, "inbox", fields{"userId": w.PersonID}, &phone)
	if len(phone.Inbox) == 0 {
		w.t.Fatal("the phone showed nothing")
	}
	return phone.Inbox[len(phone.Inbox)-1]
}

// startSidecar gives the base URL of a sidecar before the bot, which is protected then.
func startSidecar(t *testing.T, token string) string {
	t.Helper()
	command := postern("run")
	command.Env = append(os.Environ(),
		"POSTERN_UPSTREAM_URL="+sandbox.URL,
		"POSTERN_BOT_TOKEN="+token,
		"POSTERN_DATA_DIR="+filepath.Join(t.TempDir(), "store"),
		"POSTERN_KEY_PASSPHRASE=only for tests",
		"POSTERN_LISTEN_PORT=0",
		"POSTERN_ADMIN_PORT=0",
	)
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	})
	var listening struct{ Msg, Bot, Admin string }
	lines := bufio.NewScanner(log)
	for listening.Msg != "listening" {
		if !lines.Scan() {
			t.Fatal("the sidecar ended before it listened")
		}
		_ = json.Unmarshal(lines.Bytes(), &listening)
	}
	go func() {
		for lines.Scan() { // its log must not stand still
		}
	}()
	for tries := 0; tries < 300; tries++ {
		if answer, err := http.Get(listening.Admin + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return listening.Bot
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the sidecar is not ready")
	return ""
}
