import { z } from 'zod'

/** What a field of an operation's input names; in a seed file a name stands in its place. */
export type ReferenceKind = 'person' | 'bot' | 'account' | 'chat' | 'message' | 'scope'

/** Which inputs name something, by their schema. */
export const REFERENCES = z.registry<{ of: ReferenceKind }>()

export const personId = z.int().register(REFERENCES, { of: 'person' })
export const botId = z.int().register(REFERENCES, { of: 'bot' })
/** A person's or a bot's. */
export const accountId = z.int().register(REFERENCES, { of: 'account' })
export const chatId = z.int().register(REFERENCES, { of: 'chat' })
export const messageId = z.int().register(REFERENCES, { of: 'message' })

/** Of commands; `chat:<chat_id>` is one. */
export const scope = z.string().register(REFERENCES, { of: 'scope' })

export const text = z.string()
export const textOrNull = z.string().nullable()
export const flag = z.boolean()
export const count = z.int().min(0)
