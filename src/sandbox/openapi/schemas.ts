import { z } from 'zod'

/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 has it. */
export type JsonSchema = Record<string, unknown>

/** The schema of a result, which a document lists by its id. */
export const named = <Fields extends z.ZodRawShape>(id: string, fields: Fields) =>
  z.object(fields).meta({ id })

export const described = <F extends z.ZodRawShape>(id: string, description: string, fields: F) =>
  z.object(fields).meta({ id, description })

/**
 * Turns zod schemas into the schemas of an OpenAPI document. Those that have an `id` are listed
 * once, in `components`, and referred to.
 */
export class SchemaCollector {
  /** By id, for `components.schemas`. */
  readonly components: Record<string, JsonSchema> = {}

  /** The schema of what somebody sends, or of a result: unknown fields of results are allowed. */
  of(schema: z.ZodType): JsonSchema {
    // Wrapped, so that a schema with an id is not the root, which is never referred to.
    const wrapped = z.toJSONSchema(z.object({ schema }), {
      io: 'input',
      target: 'draft-2020-12',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => tidy(jsonSchema),
    }) as JsonSchema
    for (const [id, definition] of Object.entries((wrapped['$defs'] ?? {}) as Schemas)) {
      this.components[id] ??= relocate({ ...definition, id: undefined })
    }
    return relocate((wrapped['properties'] as Schemas)['schema'])
  }
}

/** The part of a document that describes the form of a body. */
export const jsonContent = (schema: JsonSchema): object => ({
  content: { 'application/json': { schema } },
})

/** The response that gives a result. */
export function successOf(result: JsonSchema): object {
  const schema = {
    type: 'object',
    properties: { ok: { const: true, type: 'boolean' }, result },
    required: ['ok', 'result'],
  }
  return { description: 'done', ...jsonContent(schema) }
}

/** The head of a document. */
export function headOf(title: string, description: string): object {
  const license = { name: 'MIT', identifier: 'MIT' }
  return { openapi: '3.1.0', info: { title, version: '1.0.0', description, license } }
}

type Schemas = Record<string, JsonSchema>

/** Drops parts of JSON Schema that concern JavaScript alone, such as its patterns. */
function tidy(schema: JsonSchema): void {
  if (schema['type'] === 'integer') {
    if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum']
    if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum']
    schema['format'] = 'int64'
  }
  if (typeof schema['pattern'] === 'string' && !isPortable(schema['pattern'])) {
    delete schema['pattern']
  }
  delete schema['readOnly']
}

/** Whether other languages read the pattern as JavaScript does. */
const isPortable = (pattern: string): boolean => !/\[\^\]|\(\?|\\[dswuDSW]/.test(pattern)

/** The same with references into `components`, and without fields that are undefined. */
const relocate = (schema: JsonSchema | undefined): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (name, inner: unknown) =>
    name === '$ref' ? String(inner).replace('#/$defs/', '#/components/schemas/') : inner,
  ) as JsonSchema
