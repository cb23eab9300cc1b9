// A bot's reading of an answer or of one update, with Go's own JSON parser: from stdin as JSON, to
// stdout what its fields hold.
package main

import (
	"encoding/json"
	"io"
	"os"
)

type person struct {
	ID int64 `json:"id"`
}

type message struct {
	ID      int64    `json:"id"`
	Chat    person   `json:"chat"`
	From    person   `json:"from"`
	Text    string   `json:"text"`
	Armored string   `json:"armored"`
	ReplyTo *message `json:"replyTo"`
	Postern struct {
		Verdict string `json:"verdict"`
	} `json:"postern"`
}

type press struct {
	From    person  `json:"from"`
	Data    string  `json:"data"`
	Message message `json:"message"`
}

type update struct {
	UpdateID      int64   `json:"updateId"`
	Kind          string  `json:"kind"`
	Message       message `json:"message"`
	CallbackQuery *press  `json:"callbackQuery"`
}

type failure struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type answer struct {
	Ok     bool            `json:"ok"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
}

type reading struct {
	Ok      bool     `json:"ok"`
	Updates []update `json:"updates"`
	Mode    string   `json:"mode"`
	Error   *failure `json:"error"`
	Wrong   string   `json:"wrong"`
}

func main() {
	text, _ := io.ReadAll(os.Stdin)
	var read answer
	var out reading
	if err := json.Unmarshal(text, &read); err != nil {
		out.Wrong = err.Error()
	}
	out.Ok, out.Error = read.Ok, read.Error
	if len(read.Result) > 0 && read.Result[0] == '[' {
		if err := json.Unmarshal(read.Result, &out.Updates); err != nil {
			out.Wrong = err.Error()
		}
	} else if len(read.Result) > 0 {
		var chat struct {
			Mode string `json:"mode"`
		}
		_ = json.Unmarshal(read.Result, &chat)
		out.Mode = chat.Mode
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
}
