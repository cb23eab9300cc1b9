import { z } from 'zod'
import { FIXED_LIMITS } from './limits.ts'

const NAME = /^[a-z0-9_]{1,32}$/
// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/

/** `default`, `private`, `groups`, `groupAdmins` or `chat:<chat_id>`. */
export const Scope = z
  .string()
  .regex(/^(default|private|groups|groupAdmins|chat:-?\d{1,16})$/, {
    message: 'must be default, private, groups, groupAdmins or chat:<chat_id>',
  })

/**
 * A command as it is stored: name trimmed, lower-cased and without its slash, description with
 * runs of whitespace folded before its limit applies.
 */
export const Command = z.strictObject({
  command: z
    .string()
    .transform((name) => name.trim().replace(/^\//, '').toLowerCase())
    .pipe(z.string().regex(NAME, 'must be 1 to 32 of a-z, 0-9 and _')),
  description: z
    .string()
    .refine((text) => !CONTROL.test(text), 'must hold no control characters')
    .transform((text) => text.replace(/\s+/g, ' ').trim())
    .pipe(z.string().min(1).max(256)),
})
export type Command = z.infer<typeof Command>

/** A scope with its list. */
export interface CommandScope {
  scope: string
  commands: Command[]
}

/** Body of `PUT /commands`, with the spec's limit by default. */
export const putCommandsOf = ({ commandsPerScope }: { commandsPerScope: number } = FIXED_LIMITS) =>
  z.strictObject({
    scope: Scope.default('default'),
    commands: z.array(Command).max(commandsPerScope),
  })
export const PutCommands = putCommandsOf()
