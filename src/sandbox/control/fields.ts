import { z } from 'zod'
import { ALL_RIGHTS } from '../state.ts'

/** What an input field with an id refers to. In a seed file the field has a name instead. */
export type ReferenceKind = 'person' | 'bot' | 'account' | 'chat' | 'message' | 'scope'

/** The schemas of fields that refer to something. */
export const REFERENCES = z.registry<{ kind: ReferenceKind }>()

export const personId = idOf('person', 'id of a person')
export const botId = idOf('bot', 'id of a bot')
export const accountId = idOf('account', 'id of a person or a bot')
export const chatId = idOf('chat', 'id of a chat')
export const messageId = idOf('message', 'id of a message of that chat')

/** A scope of commands, such as `chat:<chat_id>`. */
export const scope = z.string().register(REFERENCES, { kind: 'scope' })
z.globalRegistry.add(scope, { description: 'a scope, such as `default` or `chat:<chat_id>`' })

/** The status of a member; a person who left is not a member. */
export const memberStatus = z.enum(['owner', 'admin', 'member', 'restricted'])
/** Bits of `RIGHTS`. */
export const rightBits = z.int().min(0).max(ALL_RIGHTS)

export const text = z.string()
export const textOrNull = z.string().nullable()
/** The names of a person. */
export const personNames = { firstName: text.optional(), lastName: textOrNull.optional() }
export const flag = z.boolean()
export const count = z.int().min(0)

/** Described without a copy, which would not be registered. */
function idOf(kind: ReferenceKind, description: string): z.ZodInt {
  const id = z.int().register(REFERENCES, { kind })
  z.globalRegistry.add(id, { description })
  return id
}
