import { z } from 'zod'

/** What an input field with an id refers to. In a seed file the field has a name instead. */
export type ReferenceKind = 'person' | 'bot' | 'account' | 'chat' | 'message' | 'step' | 'scope'

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

export const text = z.string()
export const textOrNull = z.string().nullable()
/** The names of a person. */
export const personNames = { firstName: text.optional(), lastName: textOrNull.optional() }
export const flag = z.boolean()
export const count = z.int().min(0)

/** The form of a sealed file; absent fields are as most programs write it. */
export const FILE_FORM = {
  /** Of the signed document; `none` when absent (RFC 9580, 5.6). */
  compression: z.enum(['none', 'zip', 'zlib']).optional(),
  /** `anonymous`: recipient packets name no key (RFC 9580, 5.1.6). */
  recipients: z.enum(['named', 'anonymous']).optional(),
  /** `none`: nobody signs; `damaged`: one bit of the signature is wrong. */
  signature: z.enum(['signed', 'none', 'damaged']).optional(),
  /** `partial`: in chunks of 64 KiB, as programs write what they read from a pipe. */
  framing: z.enum(['whole', 'partial']).optional(),
  cipher: z.enum(['aes256', 'aes128']).optional(),
  /** `armored`: as ASCII text (RFC 9580, 6.2). */
  encoding: z.enum(['binary', 'armored']).optional(),
}
export type FileForm = z.output<z.ZodObject<typeof FILE_FORM>>

/** Described without a copy, which would not be registered. */
function idOf(kind: ReferenceKind, description: string): z.ZodInt {
  const id = z.int().register(REFERENCES, { kind })
  z.globalRegistry.add(id, { description })
  return id
}
