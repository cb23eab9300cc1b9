import { z } from 'zod'
import { isObject } from '../../api/common.ts'
import type { JsonSchema } from '../openapi/schemas.ts'
import { ControlError } from './operation.ts'

/** Longest value that a refusal quotes. */
const QUOTED = 40

/**
 * Parses the input of an operation.
 * @throws ControlError that names every wrong field, its expected form and its value
 */
export function readInput<I extends z.ZodObject>(name: string, input: I, body: unknown) {
  const parsed = input.safeParse(body, { reportInput: true })
  if (parsed.success) return parsed.data
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  if (!isObject(body)) {
    throw new ControlError(`${name}: expected ${describe(schema)}, got ${quote(body)}`)
  }
  const problems = parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map(String)
    if (issue.code === 'unrecognized_keys') {
      const fields = fieldsOf([name, ...path].join('.'), schemaAt(schema, path))
      return issue.keys.map((key) => `${[...path, key].join('.')}: no such field; ${fields}`)
    }
    const wanted = schemaAt(schema, path)
    const isExplained = wanted === null || issue.code === 'invalid_format'
    const expected = isExplained ? issue.message : `expected ${describe(wanted)}`
    const { input: value } = issue
    const problem =
      value === undefined ? `missing; ${expected}` : `${expected}, got ${quote(value)}`
    return `${path.join('.')}: ${problem}`
  })
  throw new ControlError(problems.join('; '))
}

function fieldsOf(name: string, schema: JsonSchema | null): string {
  const fields = Object.keys(schema?.['properties'] ?? {})
  return fields.length === 0 ? `${name} takes none` : `${name} takes ${fields.join(', ')}`
}

/** The schema of a field by its path, or null. */
function schemaAt(schema: JsonSchema, path: readonly string[]): JsonSchema | null {
  const [first, ...rest] = path
  if (first === undefined) return schema
  const properties = schema['properties']
  const inner = isObject(properties) ? properties[first] : (schema['items'] ?? null)
  return isObject(inner) ? schemaAt(inner, rest) : null
}

/** What a schema accepts, in a few words. */
function describe(schema: JsonSchema): string {
  const { enum: values, anyOf, type, items } = schema
  if (Array.isArray(values)) return `one of ${values.join(', ')}`
  if (Array.isArray(type)) return type.map((one) => describe({ type: one as string })).join(' or ')
  if (Array.isArray(anyOf)) return anyOf.map((one) => describe(one as JsonSchema)).join(' or ')
  if (type === 'integer') return integer(schema)
  if (type === 'array') return `a list of which each is ${describe((items ?? {}) as JsonSchema)}`
  return NAMES[String(type)] ?? 'another value'
}

const NAMES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  null: 'null',
}

function integer({ minimum, maximum, description }: JsonSchema): string {
  const isId = typeof description === 'string' && description.startsWith('id of ')
  if (isId) return `the ${description}, an integer`
  const hasLeast = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER
  const hasMost = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER
  return `an integer${hasLeast ? ` from ${minimum}` : ''}${hasMost ? ` to ${maximum}` : ''}`
}

function quote(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'an object'
  const text = JSON.stringify(value)
  return text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text
}
