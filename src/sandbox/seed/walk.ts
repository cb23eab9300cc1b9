/** Walks a schema together with a value, or along a path. */
import { z } from 'zod'
import { REFERENCES, type ReferenceKind } from '../control/fields.ts'
import type { SeedPath } from './problem.ts'

/** A name in the place of an id. */
export interface FoundReference {
  kind: ReferenceKind
  name: string
  path: SeedPath
}

/** Every reference in a value, which may be of the wrong shape. */
export function* referencesAt(
  schema: z.ZodType,
  value: unknown,
  path: SeedPath = [],
): Generator<FoundReference, void> {
  const kind = REFERENCES.get(schema)?.kind
  if (kind !== undefined) {
    if (typeof value === 'string') yield { kind, name: value, path }
    return
  }
  const alternatives = alternativesOf(schema)
  if (alternatives !== null) {
    for (const one of alternatives) yield* referencesAt(one, value, path)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      const part = Array.isArray(value) ? Number(name) : name
      const at = [...path, part]
      if (schema instanceof z.ZodRecord) yield* referencesAt(schema.keyType as z.ZodType, name, at)
      for (const child of childSchemas(schema, part)) yield* referencesAt(child, inner, at)
    }
  }
}

/** A copy of an object with other values in the place of its references. */
export function replaceReferences(
  schema: z.ZodType,
  value: Record<string, unknown>,
  replace: (reference: FoundReference) => unknown,
): Record<string, unknown> {
  const copy = structuredClone(value)
  for (const reference of referencesAt(schema, value)) {
    const path = reference.path.map(String)
    const holder = path.slice(0, -1).reduce((at, part) => at[part] as typeof copy, copy)
    holder[path.at(-1) ?? ''] = replace(reference)
  }
  return copy
}

/** The fields that the object at a path can have. */
export function keysAt(root: z.ZodType, path: SeedPath): string[] {
  let at = unwrapSchema(root)
  for (const part of path) {
    at = at.flatMap((schema) => childSchemas(schema, part)).flatMap(unwrapSchema)
  }
  return at.flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : []))
}

function childSchemas(schema: z.ZodType, part: string | number): z.ZodType[] {
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType]
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType]
  const field =
    schema instanceof z.ZodObject ? (schema.shape[part] as z.ZodType | undefined) : undefined
  return field === undefined ? [] : [field]
}

/** A schema without optional and default wrappers; of a union, all alternatives. */
const unwrapSchema = (schema: z.ZodType): z.ZodType[] =>
  alternativesOf(schema)?.flatMap(unwrapSchema) ?? [schema]

/** The schemas inside a wrapper or union; null for any other schema. */
function alternativesOf(schema: z.ZodType): z.ZodType[] | null {
  if (schema instanceof z.ZodUnion) return schema.options as z.ZodType[]
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  return isWrapped ? [schema.unwrap() as z.ZodType] : null
}
