import { z } from 'zod'
import { REFERENCES, type ReferenceKind } from '../control/fields.ts'
import { OPERATIONS, type OperationName } from '../control/table.ts'

/** Operations of the control that a script may hold: what people, owners and testers do. */
export const ACTIONS = [
  'write',
  'post',
  'sendMedia',
  'press',
  'join',
  'leave',
  'setSeat',
  'changeChat',
  'block',
  'unblock',
  'closeAccount',
  'renamePerson',
  'givePhone',
  'newKey',
  'publishKey',
  'pause',
  'resume',
  'changeBot',
  'setCommands',
  'setBotKey',
  'removeKey',
  'issueToken',
  'revokeToken',
  'injectUpdate',
  'fault',
  'clearFaults',
] as const satisfies readonly OperationName[]

export type ActionName = (typeof ACTIONS)[number]

const Name = z.string().min(1)
const MessageName = z
  .union([
    z.int(),
    z.string().regex(/^last(?: by \S+)?$/, 'expected an id, `last` or `last by NAME`'),
  ])
  .meta({ description: 'an id, `last`: the newest message there, or `last by NAME`' })

/** The input of an operation as a script writes it: names stand where ids stood. */
export function inputWithNames(input: z.ZodObject): z.ZodObject {
  const shape = Object.entries(input.shape).map(([field, schema]) => {
    const { inner, isOptional } = unwrapped(schema)
    const named = nameFields(inner)
    return [field, isOptional ? named.optional() : named]
  })
  return z.strictObject(Object.fromEntries(shape) as z.ZodRawShape)
}

/** What the fields of an input name, each alone or in a list. */
export function referencesIn(input: z.ZodObject): Map<string, ReferenceKind> {
  const found = new Map<string, ReferenceKind>()
  for (const [field, schema] of Object.entries(input.shape)) {
    const of = namedBy(unwrapped(schema).inner)
    if (of !== undefined) found.set(field, of)
  }
  return found
}

export const actionInput = (deed: ActionName): z.ZodObject => OPERATIONS[deed].input

function nameFields(schema: z.ZodType): z.ZodType {
  const of = namedBy(schema)
  if (of === undefined) return schema
  if (of === 'message') return MessageName
  return schema instanceof z.ZodArray ? z.array(Name) : Name
}

function namedBy(schema: z.ZodType): ReferenceKind | undefined {
  const one = schema instanceof z.ZodArray ? (schema.element as z.ZodType) : schema
  return REFERENCES.get(one)?.of
}

function unwrapped(schema: unknown): { inner: z.ZodType; isOptional: boolean } {
  return schema instanceof z.ZodOptional
    ? { inner: schema.unwrap() as z.ZodType, isOptional: true }
    : { inner: schema as z.ZodType, isOptional: false }
}
