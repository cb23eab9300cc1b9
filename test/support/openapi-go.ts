import {
  alternatives,
  fieldsOf,
  nameOf,
  type ApiModel,
  type ApiOperation,
  type Field,
  type Schema,
} from './openapi-model.ts'

/** Writes a client in Go with the standard library alone. Knows nothing but the model. */
export function goClient(model: ApiModel, packageName: string): string {
  return new GoWriter().write(model, packageName)
}

/** Collects the types that objects within others need. */
class GoWriter {
  readonly #types: string[] = []

  write(model: ApiModel, packageName: string): string {
    for (const [name, schema] of Object.entries(model.schemas)) this.#struct(name, fieldsOf(schema))
    const methods = model.operations.map((one) => this.#method(one))
    return [prelude(model, packageName), ...this.#types, ...methods].join('\n\n')
  }

  #struct(name: string, fields: Field[]): string {
    const lines = fields.map((field) => {
      const type = this.#type(field.schema, name + upper(field.name))
      const isPlain = /^(\*|\[\]|map\[|any$)/.test(type)
      const shown = field.isRequired || isPlain ? type : `*${type}`
      const tag = field.isRequired ? field.name : `${field.name},omitempty`
      return `\t${upper(field.name)} ${shown} \`json:"${tag}"\``
    })
    this.#types.push(`type ${name} struct {\n${lines.join('\n')}\n}`)
    return name
  }

  /** @param name for the type of an object without one */
  #type(schema: Schema, name: string): string {
    const { others, isNullable } = alternatives(schema)
    const [only = {}] = others
    if (others.length !== 1) return 'any'
    if (isNullable) {
      const type = this.#type(only, name)
      return /^(\[\]|map\[|any$)/.test(type) ? type : `*${type}`
    }
    if (only.$ref !== undefined) return nameOf(only.$ref)
    if (only.type === 'array') return `[]${this.#type(only.items ?? {}, `${name}Item`)}`
    if (only.type === 'object') {
      const { properties, additionalProperties: inner } = only
      if (properties !== undefined) return this.#struct(name, fieldsOf(only))
      return `map[string]${typeof inner === 'object' ? this.#type(inner, `${name}Value`) : 'any'}`
    }
    return SIMPLE[String(only.type)] ?? 'any'
  }

  #method(operation: ApiOperation): string {
    const { id, method, path, summary, server, pathFields, queryFields, bodyFields } = operation
    const name = upper(id)
    const parameters = pathFields.map(
      ({ name: field, schema }) => `${field} ${this.#type(schema, name + upper(field))}`,
    )
    const lines: string[] = []
    const route = path.replaceAll(/\{(\w+)\}/g, '" + escaped($1) + "')
    if (queryFields.length > 0) {
      parameters.push(`query ${this.#struct(`${name}Query`, queryFields)}`)
    }
    if (bodyFields !== null) parameters.push(`body ${this.#struct(`${name}Body`, bodyFields)}`)
    const isFile = operation.result === null
    const result = isFile ? '[]byte' : this.#type(operation.result ?? {}, `${name}Result`)
    lines.push(
      `// ${name}: ${summary}`,
      `func (c *Client) ${name}(${['ctx context.Context', ...parameters].join(', ')}) (${result}, error) {`,
      `\tvar result ${result}`,
      `\tbase := ${server === undefined ? 'c.BaseURL' : JSON.stringify(server)}`,
      `\terr := c.call(ctx, call{`,
      `\t\tmethod: "${method.toUpperCase()}", url: base + "${route}",`,
      ...(queryFields.length > 0 ? ['\t\tquery: query,'] : []),
      ...(bodyFields === null ? [] : ['\t\tbody: body,']),
      `\t\tisFile: ${isFile}, result: &result,`,
      '\t})',
      '\treturn result, err',
      '}',
    )
    return lines.join('\n')
  }
}

const SIMPLE: Record<string, string> = {
  string: 'string',
  integer: 'int64',
  number: 'float64',
  boolean: 'bool',
}

const upper = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

function prelude({ title, server }: ApiModel, packageName: string): string {
  return `// Package ${packageName}: a client of ${title}.
package ${packageName}

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// BaseURL is where the document says that the API is.
const BaseURL = ${JSON.stringify(server)}

// Client calls the API. The token may be empty.
type Client struct {
	BaseURL string
	Token   string
}

// APIError is a refusal; Code is stable.
type APIError struct {
	Status     int    \`json:"status"\`
	Code       string \`json:"code"\`
	Message    string \`json:"message"\`
	RetryAfter string \`json:"-"\`
}

func (e *APIError) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message) }

type call struct {
	method, url string
	query, body any
	isFile      bool
	result      any
}

func escaped(value any) string { return url.PathEscape(fmt.Sprint(value)) }

func (c *Client) call(ctx context.Context, o call) error {
	if o.query != nil {
		pairs := map[string]any{}
		text, err := json.Marshal(o.query)
		if err != nil {
			return err
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&pairs); err != nil {
			return err
		}
		values := url.Values{}
		for name, value := range pairs {
			values.Set(name, fmt.Sprint(value))
		}
		o.url += "?" + values.Encode()
	}
	var body io.Reader
	if o.body != nil {
		text, err := json.Marshal(o.body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, o.method, o.url, body)
	if err != nil {
		return err
	}
	if o.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" && !o.isFile {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode == http.StatusOK && o.isFile {
		*(o.result.(*[]byte)) = answer
		return nil
	}
	var envelope struct {
		OK     bool            \`json:"ok"\`
		Result json.RawMessage \`json:"result"\`
		Error  *APIError       \`json:"error"\`
	}
	if err := json.Unmarshal(answer, &envelope); err != nil {
		return err
	}
	if envelope.Error != nil {
		envelope.Error.RetryAfter = response.Header.Get("Retry-After")
		return envelope.Error
	}
	return json.Unmarshal(envelope.Result, o.result)
}`
}
