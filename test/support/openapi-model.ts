/** What client generators read from an OpenAPI 3.1 document. */

export interface Schema {
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

export interface Field {
  name: string
  schema: Schema
  isRequired: boolean
}

export interface ApiOperation {
  id: string
  method: string
  path: string
  summary: string
  /** Base URL of its own, when it has one. */
  server: string | undefined
  pathFields: Field[]
  queryFields: Field[]
  /** Of its JSON body; null when it takes none. */
  bodyFields: Field[] | null
  /** Of `result` in the envelope; null when the answer is a file. */
  result: Schema | null
}

export interface ApiModel {
  title: string
  server: string
  schemas: Record<string, Schema>
  operations: ApiOperation[]
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Schema
}

interface Content {
  content?: Record<string, { schema: Schema }>
}

interface OperationObject {
  operationId: string
  summary: string
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Content>
}

export interface OpenApiDocument {
  openapi: string
  info: { title: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, unknown>>
  components: { schemas: Record<string, Schema> }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const JSON_TYPE = 'application/json'

/** Reads the operations of a document, but for streams of events. @throws Error when it has none */
export function readModel(document: OpenApiDocument): ApiModel {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const found = item[method] as OperationObject | undefined
      const [server] = (item['servers'] ?? []) as { url: string }[]
      const isStream = found?.responses['200']?.content?.['text/event-stream'] !== undefined
      return found === undefined || isStream
        ? []
        : [operationOf(found, { path, method, server: server?.url })]
    }),
  )
  if (operations.length === 0) throw new Error('the document has no operation')
  return {
    title: document.info.title,
    server: document.servers[0]?.url ?? '',
    schemas: document.components.schemas,
    operations,
  }
}

function operationOf(
  { operationId, summary, parameters = [], requestBody, responses }: OperationObject,
  at: Pick<ApiOperation, 'path' | 'method' | 'server'>,
): ApiOperation {
  const fieldsIn = (place: string): Field[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema, required = false }) => ({ name, schema, isRequired: required }))
  const body = requestBody?.content?.[JSON_TYPE]?.schema
  const answer = responses['200']?.content?.[JSON_TYPE]?.schema
  return {
    id: operationId,
    summary,
    ...at,
    pathFields: fieldsIn('path'),
    queryFields: fieldsIn('query'),
    bodyFields: body === undefined ? null : fieldsOf(body),
    result: answer?.properties?.['result'] ?? null,
  }
}

/** The fields of an object. */
export function fieldsOf({ properties = {}, required = [] }: Schema): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
  }))
}

/** The alternatives of a schema but null, and whether null is one. */
export function alternatives(schema: Schema): { others: Schema[]; isNullable: boolean } {
  const { type } = schema
  const types = Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : [schema]
  const all = schema.anyOf ?? types
  const others = all.filter((one) => one.type !== 'null')
  return { others, isNullable: others.length < all.length }
}

/** The name that a reference ends with. */
export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)
