import { z } from 'zod'
import { REFERENCES, type ReferenceKind } from '../control/fields.ts'
import { OPERATIONS, type OperationName } from '../control/table.ts'

/** Operations of the control that a seed can schedule. */
export const ACTIONS = [
  'write',
  'post',
  'sendMedia',
  'editMessage',
  'deleteMessage',
  'press',
  'join',
  'leave',
  'setMembership',
  'setSeat',
  'changeChat',
  'block',
  'unblock',
  'closeAccount',
  'renamePerson',
  'renameBot',
  'renameChat',
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
const MessageReference = z
  .union([
    z.int(),
    z.string().regex(/^last(?: by \S+)?$/, 'expected an id, `last` or `last by NAME`'),
  ])
  .meta({ description: 'an id, `last`: the newest message there, or `last by NAME`' })

/** The input of an operation as a seed spells it: with names in the place of ids. */
export function inputWithNames(input: z.ZodObject): z.ZodObject {
  const shape = Object.entries(input.shape).map(([field, schema]) => {
    const { inner, isOptional } = unwrapOptional(schema)
    const withNames = namesForIds(inner)
    return [field, isOptional ? withNames.optional() : withNames]
  })
  return z.strictObject(Object.fromEntries(shape) as z.ZodRawShape)
}

/** The fields of an input that refer to something, alone or in a list. */
export function referencesIn(input: z.ZodObject): Map<string, ReferenceKind> {
  const references = new Map<string, ReferenceKind>()
  for (const [field, schema] of Object.entries(input.shape)) {
    const kind = referenceKind(unwrapOptional(schema).inner)
    if (kind !== undefined) references.set(field, kind)
  }
  return references
}

export const actionInput = (action: ActionName): z.ZodObject => OPERATIONS[action].input

function namesForIds(schema: z.ZodType): z.ZodType {
  const kind = referenceKind(schema)
  if (kind === undefined) return schema
  if (kind === 'message') return MessageReference
  return schema instanceof z.ZodArray ? z.array(Name) : Name
}

function referenceKind(schema: z.ZodType): ReferenceKind | undefined {
  const element = schema instanceof z.ZodArray ? (schema.element as z.ZodType) : schema
  return REFERENCES.get(element)?.kind
}

function unwrapOptional(schema: unknown): { inner: z.ZodType; isOptional: boolean } {
  return schema instanceof z.ZodOptional
    ? { inner: schema.unwrap() as z.ZodType, isOptional: true }
    : { inner: schema as z.ZodType, isOptional: false }
}
