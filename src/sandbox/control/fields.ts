import { z } from 'zod'
import { ALL_RIGHTS } from '../state.ts'

/** What an input field with an id refers to. In a seed file the field has a name instead. */
export type ReferenceKind = 'person' | 'bot' | 'account' | 'chat' | 'message' | 'scope'

/** The schemas of fields that refer to something. */
export const REFERENCES = z.registry<{ kind: ReferenceKind }>()

export const personId = z.int().register(REFERENCES, { kind: 'person' })
export const botId = z.int().register(REFERENCES, { kind: 'bot' })
/** A person's or a bot's. */
export const accountId = z.int().register(REFERENCES, { kind: 'account' })
export const chatId = z.int().register(REFERENCES, { kind: 'chat' })
export const messageId = z.int().register(REFERENCES, { kind: 'message' })

/** A scope of commands, such as `chat:<chat_id>`. */
export const scope = z.string().register(REFERENCES, { kind: 'scope' })

/** The status of a member; whoever left is none. */
export const memberStatus = z.enum(['owner', 'admin', 'member', 'restricted'])
/** Bits of `RIGHTS`. */
export const rights = z.int().min(0).max(ALL_RIGHTS)

export const text = z.string()
export const textOrNull = z.string().nullable()
export const flag = z.boolean()
export const count = z.int().min(0)
