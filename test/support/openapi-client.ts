/** Writes a client in TypeScript from an OpenAPI 3.1 document. */

interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
}

interface Content {
  content?: Record<string, { schema: Schema }>
}

interface Operation {
  operationId: string
  summary: string
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: Content
  responses: Record<string, Content>
}

export interface OpenApiDocument {
  info: { title: string }
  servers: { url: string }[]
  paths: Record<string, { servers?: { url: string }[] } & Record<string, unknown>>
  components: { schemas: Record<string, Schema> }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/**
 * Writes a client that needs nothing but `fetch`, without streams of events. (The generators of
 * npm need the compiler's JavaScript API, which TypeScript 7 does not have.)
 */
export function typescriptClient({ info, paths, components }: OpenApiDocument): string {
  const types = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${objectType(schema)}`,
  )
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method] as Operation | undefined
      const isStream = operation?.responses['200']?.content?.['text/event-stream'] !== undefined
      if (operation === undefined || isStream) return []
      return methodOf(operation, { path, method, server: item.servers?.[0]?.url })
    }),
  )
  return [`/** Client of: ${info.title}. */`, ...types, CLIENT, ...operations, '}'].join('\n\n')
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

/** Its `result`; undefined where it answers with a file. */
const resultOf = ({ responses }: Operation): Schema | undefined =>
  responses['200']?.content?.['application/json']?.schema.properties?.['result']

function methodOf(
  operation: Operation,
  { path, method, server }: { path: string; method: string; server: string | undefined },
): string {
  const { operationId, summary, parameters = [], requestBody } = operation
  const query = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  const body = requestBody?.content?.['application/json']?.schema
  const schemas = parameters.map(({ name, schema }) => [name, schema] as const)
  const required = parameters.flatMap((one) => (one.required === true ? one.name : []))
  const input: Schema = {
    properties: { ...Object.fromEntries(schemas), ...body?.properties },
    required: [...required, ...(body?.required ?? [])],
  }
  const route = path.replaceAll(/\{(\w+)\}/g, '${encodeURIComponent(given.$1)}')
  const result = resultOf(operation)
  const type = result === undefined ? 'Uint8Array' : typeOf(result)
  const isOptional = input.required?.length === 0
  return `  /** ${summary} */
  async ${operationId}(given: ${objectType(input)}${isOptional ? ' = {}' : ''}): Promise<${type}> {
    return await this.${result === undefined ? '#file' : `#json<${type}>`}({
      method: '${method.toUpperCase()}',
      url: \`${server ?? '${this.#baseUrl}'}${route}\`,
      query: ${values(query)},
      body: ${body === undefined ? 'undefined' : values(Object.keys(body.properties ?? {}))},
      isPublic: ${server !== undefined},
    })
  }`
}

const values = (names: string[]): string =>
  `{ ${names.map((name) => `${name}: given.${name}`).join(', ')} }`

function objectType({ properties = {}, required = [] }: Schema): string {
  const lines = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${lines.join('; ')} }`
}

const SIMPLE: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function typeOf(schema: Schema): string {
  const { type } = schema
  const alternatives =
    schema.anyOf ?? (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : [])
  if (alternatives.length > 0) return alternatives.map((one) => `(${typeOf(one)})`).join(' | ')
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (type === 'array') return `(${typeOf(schema.items ?? {})})[]`
  if (type === 'object') {
    const { properties, additionalProperties: inner } = schema
    if (properties !== undefined) return objectType(schema)
    return `Record<string, ${typeof inner === 'object' ? typeOf(inner) : 'unknown'}>`
  }
  return SIMPLE[String(type)] ?? 'unknown'
}
