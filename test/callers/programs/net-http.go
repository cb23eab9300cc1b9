package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
)

type call struct {
	Method, Path string
	Body         *string
}

type answer struct {
	Status int     `json:"status"`
	Type   *string `json:"type"`
	Body   string  `json:"body"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var given struct {
		Base, Token string
		Calls       []call
	}
	check(json.NewDecoder(os.Stdin).Decode(&given))
	answers := []answer{}
	for _, one := range given.Calls {
		var body io.Reader
		if one.Body != nil {
			var value any
			check(json.Unmarshal([]byte(*one.Body), &value))
			written, err := json.Marshal(value)
			check(err)
			body = bytes.NewReader(written)
		}
		request, err := http.NewRequest(one.Method, given.Base+one.Path, body)
		check(err)
		request.Header.Set("Authorization", "Bearer "+given.Token)
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		response, err := http.DefaultClient.Do(request)
		check(err)
		text, err := io.ReadAll(response.Body)
		check(err)
		response.Body.Close()
		found := answer{Status: response.StatusCode, Body: string(text)}
		if kind := response.Header.Get("Content-Type"); kind != "" {
			found.Type = &kind
		}
		answers = append(answers, found)
	}
	check(json.NewEncoder(os.Stdout).Encode(answers))
}
