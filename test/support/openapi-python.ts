import {
  alternatives,
  fieldsOf,
  nameOf,
  type ApiModel,
  type ApiOperation,
  type Field,
  type Schema,
} from './openapi-model.ts'

const KEYWORDS = new Set(['from', 'class', 'def', 'in', 'is', 'not', 'pass', 'import', 'global'])

/** Writes a client in Python 3.11 with the standard library alone. Knows nothing but the model. */
export function pythonClient(model: ApiModel): string {
  const types = Object.entries(model.schemas).map(([name, schema]) => typedDict(name, schema))
  const methods = model.operations.map((one) => method(one))
  return [`"""Client of: ${model.title}."""`, PRELUDE, ...types, client(model), ...methods].join(
    '\n\n',
  )
}

const PRELUDE = `from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Literal, NotRequired, TypedDict, Union

_ABSENT: Any = object()


class ApiError(Exception):
    """The API refused; \`code\` is stable."""

    def __init__(self, status: int, code: str, message: str, retry_after: str | None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.retry_after = None if retry_after is None else int(retry_after)
`

function client({ server }: ApiModel): string {
  return `class Client:
    def __init__(self, base_url: str = ${JSON.stringify(server)}, token: str | None = None) -> None:
        self.base_url = base_url
        self.token = token

    def _call(self, method: str, path: str, query: dict, body: dict | None, base: str | None) -> bytes:
        pairs = {name: value for name, value in query.items() if value is not _ABSENT}
        url = (base or self.base_url) + path + ("?" + urllib.parse.urlencode(pairs) if pairs else "")
        request = urllib.request.Request(url, method=method)
        if self.token is not None and base is None:
            request.add_header("Authorization", f"Bearer {self.token}")
        if body is not None:
            sent = {name: value for name, value in body.items() if value is not _ABSENT}
            request.data = json.dumps(sent).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=90) as response:
                return response.read()
        except urllib.error.HTTPError as refused:
            error = json.loads(refused.read())["error"]
            waits = refused.headers.get("Retry-After")
            raise ApiError(refused.code, error["code"], error["message"], waits) from None`
}

function typedDict(name: string, schema: Schema): string {
  const fields = fieldsOf(schema).map(({ name: field, schema: inner, isRequired }) => {
    const type = typeOf(inner)
    return `    ${JSON.stringify(field)}: ${isRequired ? type : `NotRequired[${type}]`},`
  })
  return `${name} = TypedDict("${name}", {\n${fields.join('\n')}\n})`
}

function method({
  id,
  method: verb,
  path,
  summary,
  server,
  pathFields,
  queryFields,
  bodyFields,
  result,
}: ApiOperation): string {
  const fields = [...pathFields, ...queryFields, ...(bodyFields ?? [])]
  const given = [...new Map(fields.map((field) => [field.name, field])).values()]
  const ordered = given.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))
  const parameters = ['self', ...(ordered.length > 0 ? ['*'] : []), ...ordered.map(parameter)]
  const route = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    return `{urllib.parse.quote(str(${variable(name)}), safe='')}`
  })
  const body = bodyFields === null ? 'None' : values(bodyFields)
  const call = `self._call("${verb.toUpperCase()}", f"${route}", ${values(queryFields)}, ${body}, ${
    server === undefined ? 'None' : JSON.stringify(server)
  })`
  const returned = result === null ? call : `json.loads(${call})["result"]`
  const type = result === null ? 'bytes' : typeOf(result)
  return `    def ${snake(id)}(${parameters.join(', ')}) -> ${type}:
        """${summary.replaceAll('"', "'")}"""
        return ${returned}`
}

const parameter = ({ name, schema, isRequired }: Field): string =>
  `${variable(name)}: ${typeOf(schema)}${isRequired ? '' : ' = _ABSENT'}`

const values = (fields: Field[]): string =>
  `{${fields.map(({ name }) => `${JSON.stringify(name)}: ${variable(name)}`).join(', ')}}`

const variable = (name: string): string => (KEYWORDS.has(name) ? `${name}_` : snake(name))

const snake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const SIMPLE: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

function typeOf(schema: Schema): string {
  const { others, isNullable } = alternatives(schema)
  if (isNullable || others.length > 1) {
    const types = [...new Set(others.map(typeOf)), ...(isNullable ? ['None'] : [])]
    return types.length === 1 ? String(types[0]) : `Union[${types.join(', ')}]`
  }
  if (schema.$ref !== undefined) return `"${nameOf(schema.$ref)}"`
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`
  if (schema.type === 'array') return `list[${typeOf(schema.items ?? {})}]`
  if (schema.type === 'object') {
    const { additionalProperties: inner, properties } = schema
    const value = typeof inner === 'object' && properties === undefined ? typeOf(inner) : 'Any'
    return `dict[str, ${value}]`
  }
  return SIMPLE[String(schema.type)] ?? 'Any'
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return JSON.stringify(value)
}
