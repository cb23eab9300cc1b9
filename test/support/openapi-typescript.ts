import {
  alternatives,
  fieldsOf,
  nameOf,
  type ApiModel,
  type ApiOperation,
  type Field,
  type Schema,
} from './openapi-model.ts'

/**
 * Writes a client in TypeScript that needs nothing but `fetch`. Knows nothing but the model. (The
 * generators of npm need the compiler's JavaScript API, which TypeScript 7 does not have.)
 */
export function typescriptClient(model: ApiModel): string {
  const types = Object.entries(model.schemas).map(
    ([name, schema]) => `export type ${name} = ${objectType(fieldsOf(schema))}`,
  )
  const methods = model.operations.map(method)
  return [`/** Client of: ${model.title}. */`, ...types, CLIENT, ...methods, '}'].join('\n\n')
}

const CLIENT = `export class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface Call {
  method: string
  url: string
  query: object
  body: object | undefined
  isPublic: boolean
}

export class Client {
  readonly #baseUrl: string
  readonly #token: string | undefined

  constructor(baseUrl: string, token?: string) {
    this.#baseUrl = baseUrl
    this.#token = token
  }

  async #fetch({ method, url, query, body, isPublic }: Call): Promise<Response> {
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
    const headers: Record<string, string> = {}
    if (this.#token !== undefined && !isPublic) headers['authorization'] = \`Bearer \${this.#token}\`
    if (body !== undefined) headers['content-type'] = 'application/json'
    return await fetch(search === '' ? url : \`\${url}?\${search}\`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  async #json<T>(call: Call): Promise<T> {
    const answer = await this.#fetch(call)
    const envelope = (await answer.json()) as
      | { ok: true; result: T }
      | { ok: false; error: { status: number; code: string; message: string } }
    if (envelope.ok) return envelope.result
    const { status, code, message } = envelope.error
    throw new ApiError(status, code, message)
  }

  async #file(call: Call): Promise<Uint8Array> {
    return new Uint8Array(await (await this.#fetch(call)).arrayBuffer())
  }`

function method(operation: ApiOperation): string {
  const { id, path, summary, server, pathFields, queryFields, bodyFields, result } = operation
  const fields = [...pathFields, ...queryFields, ...(bodyFields ?? [])]
  const given = [...new Map(fields.map((field) => [field.name, field])).values()]
  const isOptional = given.every(({ isRequired }) => !isRequired)
  const route = path.replaceAll(/\{(\w+)\}/g, '${encodeURIComponent(given.$1)}')
  const base = server === undefined ? '${this.#baseUrl}' : server
  const type = result === null ? 'Uint8Array' : typeOf(result)
  return `  /** ${summary} */
  async ${id}(given: ${objectType(given)}${isOptional ? ' = {}' : ''}): Promise<${type}> {
    return await this.${result === null ? '#file' : `#json<${type}>`}({
      method: '${operation.method.toUpperCase()}',
      url: \`${base}${route}\`,
      query: ${values(queryFields)},
      body: ${bodyFields === null ? 'undefined' : values(bodyFields)},
      isPublic: ${server !== undefined},
    })
  }`
}

const values = (fields: Field[]): string =>
  fields.length === 0
    ? '{}'
    : `{ ${fields.map(({ name }) => `${name}: given.${name}`).join(', ')} }`

function objectType(fields: Field[]): string {
  const lines = fields.map(
    ({ name, schema, isRequired }) => `${name}${isRequired ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${lines.join('; ')} }`
}

const SIMPLE: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
}

function typeOf(schema: Schema): string {
  const { others, isNullable } = alternatives(schema)
  if (isNullable || others.length > 1) {
    return [...others.map((one) => `(${typeOf(one)})`), ...(isNullable ? ['null'] : [])].join(' | ')
  }
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (schema.type === 'array') return `(${typeOf(schema.items ?? {})})[]`
  if (schema.type === 'object') {
    const { properties, additionalProperties: inner } = schema
    if (properties !== undefined) return objectType(fieldsOf(schema))
    return `Record<string, ${typeof inner === 'object' ? typeOf(inner) : 'unknown'}>`
  }
  return SIMPLE[String(schema.type)] ?? 'unknown'
}
