import { z } from 'zod'
import { findContradictions } from './check.ts'
import { toSeedProblems, SeedError, type SeedProblem } from './problem.ts'
import { Seed } from './schema.ts'

/**
 * Checks a parsed seed file and fills in all defaults.
 * @throws SeedError with everything that is wrong
 */
export function readSeed(raw: unknown): Seed {
  const parsed = Seed.safeParse(raw)
  const shape = parsed.success ? [] : toSeedProblems(parsed.error, keysAt)
  const known = new Set(shape.map(({ path }) => path.join('.')))
  const problems = [
    ...shape,
    ...findContradictions(raw).filter(({ path }) => !known.has(path.join('.'))),
  ]
  if (parsed.success && problems.length === 0) return parsed.data
  throw new SeedError(problems)
}

/** The fields that the object at a path of a seed can have. */
function keysAt(path: SeedProblem['path']): string[] {
  let at: z.ZodType[] = [Seed]
  for (const part of path)
    at = at.flatMap(unwrapSchema).flatMap((schema) => childSchemas(schema, part))
  return at
    .flatMap(unwrapSchema)
    .flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : []))
}

function childSchemas(schema: z.ZodType, part: string | number): z.ZodType[] {
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType]
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType]
  const field =
    schema instanceof z.ZodObject ? (schema.shape[part] as z.ZodType | undefined) : undefined
  return field === undefined ? [] : [field]
}

/** A schema without optional and default wrappers; of a union, all alternatives. */
function unwrapSchema(schema: z.ZodType): z.ZodType[] {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  if (isWrapped) return unwrapSchema(schema.unwrap() as z.ZodType)
  return schema instanceof z.ZodUnion
    ? (schema.options as z.ZodType[]).flatMap(unwrapSchema)
    : [schema]
}
