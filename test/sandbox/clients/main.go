// Uses the generated clients against a running sandbox; prints what it saw.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	"clients/botapi"
	"clients/controlapi"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func text(value string) *string { return &value }

func main() {
	ctx := context.Background()
	control := &controlapi.Client{BaseURL: os.Args[1]}
	made := must(control.AddBot(ctx, controlapi.AddBotBody{Username: "go_bot"}))
	name := text("Gil")
	person := must(control.AddPerson(ctx, controlapi.AddPersonBody{Username: "go_person", FirstName: name}))
	chat := must(control.AddPrivateChat(ctx, controlapi.AddPrivateChatBody{UserId: person.Id, BotId: made.Id}))
	must(control.GivePhone(ctx, controlapi.GivePhoneBody{UserId: person.Id}))
	must(control.Write(ctx, controlapi.WriteBody{UserId: person.Id, ChatId: chat.Id, Text: "hello"}))

	bot := &botapi.Client{BaseURL: os.Args[2], Token: made.Token}
	limit := int64(10)
	message := must(bot.GetUpdates(ctx, botapi.GetUpdatesQuery{Limit: &limit}))[0].Message
	keyboard := map[string]any{}
	_ = json.Unmarshal([]byte(`{"inlineKeyboard":[[{"text":"Go","callbackData":"go"}]]}`), &keyboard)
	var body botapi.SendMessageBody
	fields := map[string]any{"chatId": chat.Id, "text": "hi", "replyTo": message.Id, "markup": keyboard}
	encoded := must(json.Marshal(fields))
	if err := json.Unmarshal(encoded, &body); err != nil {
		log.Fatal(err)
	}
	sent := must(bot.SendMessage(ctx, body))
	pressed := must(control.Press(ctx, controlapi.PressBody{UserId: person.Id, ChatId: chat.Id, MessageId: sent.Id}))
	must(bot.AnswerCallback(ctx, pressed.CallbackId, botapi.AnswerCallbackBody{Text: text("went")}))
	stored := must(control.AddMedia(ctx, controlapi.AddMediaBody{Base64: "aGVsbG8="}))
	refusals := [][]any{}
	refused := func(err error) {
		var inBot *botapi.APIError
		var inControl *controlapi.APIError
		if errors.As(err, &inBot) {
			refusals = append(refusals, []any{inBot.Status, inBot.Code})
		} else if errors.As(err, &inControl) {
			refusals = append(refusals, []any{inControl.Status, inControl.Code})
		}
	}
	_, err := bot.GetChat(ctx, 999_999)
	refused(err)
	_, err = control.Advance(ctx, controlapi.AdvanceBody{Ms: -1})
	refused(err)
	_, err = (&botapi.Client{BaseURL: os.Args[2], Token: "wrong"}).GetMe(ctx)
	refused(err)
	phone := must(control.Inbox(ctx, controlapi.InboxBody{UserId: person.Id}))
	shown := []string{}
	for _, one := range phone.Inbox {
		shown = append(shown, one.Text)
	}
	seen := map[string]any{
		"name":     must(bot.GetMe(ctx)).Username,
		"read":     message.Text,
		"shown":    shown,
		"answer":   phone.Answers[0].Text,
		"file":     string(must(bot.GetMedia(ctx, stored.MediaId))),
		"refusals": refusals,
	}
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		log.Fatal(err)
	}
}
