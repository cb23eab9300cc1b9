package main

import (
	"errors"
	"testing"
)

func TestKeepsAListForEachChat(t *testing.T) {
	world := newWorld(t)
	bot := NewBot(sandbox.URL, world.Token)
	for _, text := range []string{"/add milk", "/add bread", "/list"} {
		world.Write(text)
		if err := bot.Poll(10); err != nil {
			t.Fatal(err)
		}
	}
	if got := world.LastShown().Text; got != "- milk\n- bread" {
		t.Errorf("the phone showed %q", got)
	}
}

func TestReportsThatItsOwnerPausedIt(t *testing.T) {
	world := newWorld(t)
	bot := NewBot(sandbox.URL, world.Token)
	control(t, "pause", fields{"botId": world.BotID}, nil)
	var refusal *Refusal
	if err := bot.Poll(0); !errors.As(err, &refusal) || refusal.Code != "bot_paused" {
		t.Errorf("got %v", err)
	}
}

func TestGoesOnAfterALostAnswer(t *testing.T) {
	world := newWorld(t)
	bot := NewBot(sandbox.URL, world.Token)
	world.Write("/add milk")
	control(t, "fault", fields{"name": "cut", "route": "getUpdates", "botId": world.BotID, "times": 1}, nil)
	_ = bot.Poll(0)
	if err := bot.Poll(0); err != nil {
		t.Fatal(err)
	}
	if got := world.LastShown().Text; got != "added: milk" {
		t.Errorf("the phone showed %q", got)
	}
}

func TestIsSealedAndSignedThroughTheSidecar(t *testing.T) {
	world := newWorld(t)
	bot := NewBot(startSidecar(t, world.Token), world.Token)
	world.Write("/add secret milk")
	if err := bot.Poll(10); err != nil {
		t.Fatal(err)
	}
	shown := world.LastShown()
	if shown.Text != "added: secret milk" || shown.Verdict != "verified" {
		t.Errorf("the phone showed %+v", shown)
	}
	var calls []any
	control(t, "search", fields{"words": "secret milk"}, &calls)
	if len(calls) != 0 {
		t.Errorf("the service saw the words in %d calls", len(calls))
	}
}
