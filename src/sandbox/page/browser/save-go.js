/** A scene as a test for Go, with nothing but its own library. */
import { variableOf, withVariables } from './variables.js'

/** @typedef {import('./scene.js').Scene} Scene */

const PRELUDE = String.raw`package saved

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

type object = map[string]any

type chat struct {
	id   int
	seen map[int]bool
}

type message struct {
	Id        int
	MessageId int
	FromId    int
	Text      string
	Markup    *struct {
		InlineKeyboard [][]struct{ CallbackData string }
	}
}

// call asks the control of the sandbox, and reads its result into "into".
func call(t *testing.T, operation string, input object, into any) {
	t.Helper()
	control := os.Getenv("POSTERN_SANDBOX_CONTROL")
	if control == "" {
		control = CONTROL
	}
	address, err := url.Parse(strings.TrimSuffix(control, "/") + "/" + operation)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := json.Marshal(input)
	request, _ := http.NewRequest("POST", address.String(), bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var envelope struct {
		Ok     bool
		Result json.RawMessage
		Error  struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&envelope); err != nil {
		t.Fatal(err)
	}
	if !envelope.Ok {
		t.Fatalf("%s: %s", operation, envelope.Error.Message)
	}
	if into != nil {
		if err := json.Unmarshal(envelope.Result, into); err != nil {
			t.Fatal(err)
		}
	}
}

func byHandle(t *testing.T, list, handle string) int {
	var all []struct {
		Id       int
		Username string
	}
	call(t, list, object{}, &all)
	for _, one := range all {
		if one.Username == handle {
			return one.Id
		}
	}
	return 0
}

func person(t *testing.T, username, firstName string) int {
	id := byHandle(t, "people", username)
	if id == 0 {
		var made struct{ Id int }
		call(t, "addPerson", object{"username": username, "firstName": firstName}, &made)
		id = made.Id
	}
	call(t, "givePhone", object{"userId": id}, nil)
	return id
}

func bot(t *testing.T, username string) int {
	id := byHandle(t, "bots", username)
	if id == 0 {
		t.Fatalf("there is no bot @%s in this sandbox", username)
	}
	return id
}

func room(t *testing.T, title, kind string, members []int, isOpen bool) chat {
	var all []struct {
		Id    int
		Title string
	}
	call(t, "chats", object{}, &all)
	for _, one := range all {
		if one.Title == title {
			return begin(t, one.Id)
		}
	}
	var made struct{ Id int }
	call(t, "addRoom", object{"kind": kind, "title": title, "members": members, "historyVisible": isOpen}, &made)
	return begin(t, made.Id)
}

func private(t *testing.T, user, bot int) chat {
	var made struct{ Id int }
	call(t, "addPrivateChat", object{"userId": user, "botId": bot}, &made)
	return begin(t, made.Id)
}

// begin notes what is known of a chat: what follows is new.
func begin(t *testing.T, id int) chat {
	var known []message
	call(t, "messages", object{"chatId": id}, &known)
	found := chat{id, map[int]bool{}}
	for _, one := range known {
		found.seen[one.Id] = true
	}
	return found
}

func send(t *testing.T, operation string, input object) int {
	var sent struct{ MessageId int }
	call(t, operation, input, &sent)
	return sent.MessageId
}

func screen(t *testing.T, user int, in chat) []message {
	var shown struct{ Messages []message }
	call(t, "screen", object{"userId": user, "chatId": in.id}, &shown)
	return shown.Messages
}

// expects waits until the phone shows what the bot said.
func expects(t *testing.T, user int, in chat, from int, text string) int {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		for _, one := range screen(t, user, in) {
			if one.FromId == from && !in.seen[one.MessageId] && one.Text == text {
				in.seen[one.MessageId] = true
				return one.MessageId
			}
		}
	}
	t.Fatalf("%q did not come", text)
	return 0
}

func press(t *testing.T, user int, in chat, data string, answer *string) {
	t.Helper()
	id := 0
	for _, one := range screen(t, user, in) {
		if one.Markup == nil {
			continue
		}
		for _, row := range one.Markup.InlineKeyboard {
			for _, button := range row {
				if button.CallbackData == data {
					id = one.MessageId
				}
			}
		}
	}
	var before struct{ Last int }
	call(t, "inbox", object{"userId": user, "after": 1000000000}, &before)
	call(t, "press", object{"userId": user, "chatId": in.id, "messageId": id, "data": data}, nil)
	if answer == nil {
		return
	}
	var came struct{ Answers []struct{ Text string } }
	call(t, "inbox", object{"userId": user, "kinds": []string{"answer"}, "after": before.Last, "wait": 15000}, &came)
	for _, one := range came.Answers {
		if one.Text == *answer {
			return
		}
	}
	t.Fatalf("the answer %q did not come", *answer)
}

func fault(t *testing.T, how object, certificateOf int) {
	if certificateOf != 0 {
		var certificate object
		call(t, "certificate", object{"userId": certificateOf}, &certificate)
		for name, value := range certificate {
			how[name] = value
		}
	}
	call(t, "fault", how, nil)
}

func text(words string) *string { return &words }

var _ = []any{room, private, send, expects, press, fault, text}
`

/** @param {Scene} scene */
export function goOf(scene) {
  const { people, bots, chats, steps, control } = withVariables(scene)
  const names = [...people, ...bots].map(({ handle }) => variableOf(handle))
  const lines = [
    ...people.map(
      (one) => `${variableOf(one.handle)} := person(t, ${go(one.handle)}, ${go(one.name)})`,
    ),
    ...bots.map((one) => `${variableOf(one.handle)} := bot(t, ${go(one.handle)})`),
    ...chats.map(({ key, person, bot, title, kind, members, isOpen }) =>
      person === null
        ? `${key} := room(t, ${go(title)}, ${go(kind)}, []int{${members.join(', ')}}, ${isOpen})`
        : `${key} := private(t, ${person}, ${bot})`,
    ),
    `_ = []any{${[...names, ...chats.map(({ key }) => key)].join(', ')}}`,
    'call(t, "clearFaults", object{}, nil)',
    ...steps.flatMap((step, index) => linesOf(step, index)),
    'call(t, "clearFaults", object{}, nil)',
  ]
  return `// Saved from the page of a Postern sandbox. Start the sandbox with the bot, such as with
// \`postern dev -- …\`, and run: go test ./saved_test.go
${PRELUDE.replace('control = CONTROL', `control = ${go(control)}`)}
func TestSaved(t *testing.T) {
${lines.map((line) => `\t${line}`).join('\n')}
}
`
}

/** @param {import('./scene.js').Step} step @param {number} index */
function linesOf(step, index) {
  const named = (/** @type {string} */ value) => [`step${index} := ${value}`, `_ = step${index}`]
  switch (step.do) {
    case 'say': {
      const reply = step.reply === null ? '' : `, "replyTo": step${step.reply}`
      return named(
        `send(t, "write", object{"userId": ${step.who}, "chatId": ${step.chat}.id, "text": ${go(step.text)}${reply}})`,
      )
    }
    case 'attach': {
      const caption = step.text === '' ? '' : `, "text": ${go(step.text)}`
      return named(
        `send(t, "sendMedia", object{"userId": ${step.who}, "chatId": ${step.chat}.id, "base64": ${go(step.base64)}${caption}})`,
      )
    }
    case 'expect':
      return named(`expects(t, ${step.who}, ${step.chat}, ${step.from}, ${go(step.text)})`)
    case 'press': {
      const answer = step.answer === null ? 'nil' : `text(${go(step.answer)})`
      return [`press(t, ${step.who}, ${step.chat}, ${go(step.data)}, ${answer})`]
    }
    case 'clock':
      return [`call(t, "advance", object{"ms": ${step.ms}}, nil)`]
    case 'clear':
      return ['call(t, "clearFaults", object{}, nil)']
    case 'fault':
    default: {
      const { certificateOf = '0', ...fault } = step.fault
      const fields = Object.entries(fault).map(([field, value]) => {
        if (field === 'chat') return `"chatId": ${value}.id`
        return field === 'user' ? `"userId": ${value}` : `"${field}": ${go(value)}`
      })
      return [`fault(t, object{${fields.join(', ')}}, ${certificateOf})`]
    }
  }
}

/** A value as Go writes it. @param {unknown} value @returns {string} */
function go(value) {
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, one]) => `${go(name)}: ${go(one)}`)
    return `object{${entries.join(', ')}}`
  }
  // JSON escapes are Go's, but for a slash and halves of a character, which it does not write.
  return JSON.stringify(value).replaceAll(/\\ud[89a-f]../gi, String.raw`\ufffd`)
}
