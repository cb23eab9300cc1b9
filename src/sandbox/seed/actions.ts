import { z } from 'zod'
import { REFERENCES } from '../control/fields.ts'
import { OPERATIONS, type OperationName } from '../control/table.ts'

/** Operations of the control that a seed can schedule, by their subjects. */
const ACTIONS_BY_SUBJECT = [
  ['write', 'post', 'sendMedia', 'editMessage', 'deleteMessage', 'press'],
  ['join', 'leave', 'setMembership', 'changeChat'],
  ['block', 'unblock', 'closeAccount'],
  ['renamePerson', 'renameBot', 'renameChat'],
  ['givePhone', 'newKey', 'publishKey'],
  ['pause', 'resume', 'changeBot', 'setCommands', 'setBotKey', 'removeKey'],
  ['issueToken', 'revokeToken'],
  ['injectUpdate', 'fault', 'clearFaults'],
] as const satisfies readonly (readonly OperationName[])[]
export const ACTIONS = ACTIONS_BY_SUBJECT.flat()

export type ActionName = (typeof ACTIONS)[number]

const MessageReference = z
  .union([
    z.int(),
    z.string().regex(/^last(?: by \S+)?$/, 'expected an id, `last` or `last by NAME`'),
  ])
  .describe('an id, `last`: the newest message there, or `last by NAME`')
  .register(REFERENCES, { kind: 'message' })

/**
 * The input of an operation as a seed spells it: with names in the place of ids.
 * @param message how it names a message
 */
export function inputWithNames(input: z.ZodObject, message: z.ZodType = MessageReference) {
  const shape = Object.entries(input.shape).map(([field, schema]) => {
    const isOptional = schema instanceof z.ZodOptional
    const withNames = namesForIds((isOptional ? schema.unwrap() : schema) as z.ZodType, message)
    return [field, isOptional ? withNames.optional() : withNames]
  })
  return z.strictObject(Object.fromEntries(shape) as z.ZodRawShape)
}

export const actionInput = (action: ActionName): z.ZodObject => OPERATIONS[action].input

type ActionShapes = Record<ActionName, z.ZodOptional<z.ZodType<Record<string, unknown>>>>

/** The fields of a step that is one action. @param message how it names a message */
export function actionShapes(message?: z.ZodType): ActionShapes {
  const shapes = ACTIONS.map((action) => [
    action,
    inputWithNames(actionInput(action), message)
      .optional()
      .describe(OPERATIONS[action].description),
  ])
  return Object.fromEntries(shapes) as ActionShapes
}

function namesForIds(schema: z.ZodType, message: z.ZodType): z.ZodType {
  const kind = REFERENCES.get(
    schema instanceof z.ZodArray ? (schema.element as z.ZodType) : schema,
  )?.kind
  if (kind === undefined) return schema
  if (kind === 'message') return message
  const name = z.string().min(1).register(REFERENCES, { kind })
  return schema instanceof z.ZodArray ? z.array(name) : name
}
