import { z } from 'zod'
import { flag, text, textOrNull } from '../control/fields.ts'
import { described } from '../openapi/schemas.ts'
import { ANSWER_FIELDS } from '../control/results.ts'

const id = z.int()
const numbered = {
  n: z.int().describe('grows by one'),
  at: z.int().describe('time of the sandbox’s clock, ms since 1970; 0 where it is not known'),
}

/** What a phone found out about a message. */
export const PhoneVerdict = z
  .enum(['verified', 'bad', 'unsigned', 'readable', 'unopened'])
  .describe(
    '`verified`: sealed to this phone and signed by the sender’s published key; `bad`: opened, but ' +
      'the signature is not the sender’s, or is meant for others; `unsigned`: opened, nobody ' +
      'signed it; `readable`: it came as plain text; `unopened`: sealed, and this phone cannot open it',
  )
export type PhoneVerdict = z.infer<typeof PhoneVerdict>

/** The text of a message, and what the phone found out about it. */
export const READ_FIELDS = {
  text: text.describe('empty when it could not be opened, and for a service notice'),
  verdict: PhoneVerdict,
  signer: textOrNull.describe('fingerprint of the certificate that verified it'),
}

export const InboxEntry = described(
  'InboxMessage',
  'A message or service notice that a phone showed.',
  {
    kind: z.enum(['message', 'edited', 'joined', 'left']),
    ...numbered,
    messageId: id,
    chatId: id,
    fromId: id,
    edited: flag.describe('an edit of a message shown before'),
    ...READ_FIELDS,
  },
)
export type InboxEntry = z.infer<typeof InboxEntry>

const shown = <Kind extends string, Fields extends z.ZodRawShape>(
  kind: Kind,
  meta: { id: string; description: string },
  fields: Fields,
) => z.object({ kind: z.literal(kind), ...numbered, ...fields }).meta(meta)

export const SeenKeyChange = shown(
  'key',
  { id: 'KeyChange', description: 'Somebody in a common chat has another key, or none.' },
  { userId: id, fingerprint: textOrNull.describe('null when the key was removed') },
)
export type SeenKeyChange = z.infer<typeof SeenKeyChange>

export const ReceivedAnswer = shown(
  'answer',
  { id: 'CallbackAnswerShown', description: 'The bot’s answer to a press.' },
  { callbackId: text, chatId: id, messageId: id, ...ANSWER_FIELDS },
)
export type ReceivedAnswer = z.infer<typeof ReceivedAnswer>

/** One thing that a phone showed to its person. */
export const SeenEvent = z
  .discriminatedUnion('kind', [
    InboxEntry,
    shown(
      'deleted',
      { id: 'SeenDeletion', description: 'A message is gone, for everybody.' },
      { chatId: id, messageId: id },
    ),
    shown(
      'typing',
      { id: 'SeenTyping', description: 'A bot’s indicator appears or disappears.' },
      { chatId: id, userId: id.describe('id of the bot'), typing: flag },
    ),
    SeenKeyChange,
    ReceivedAnswer,
  ])
  .meta({ id: 'SeenEvent' })
export type SeenEvent = z.infer<typeof SeenEvent>

export const SEEN_KINDS: readonly SeenEvent['kind'][] = SeenEvent.options.flatMap(
  ({ shape: { kind } }) => (kind instanceof z.ZodEnum ? kind.options : kind.value),
)

export const isInboxEntry = (event: SeenEvent): event is InboxEntry => 'edited' in event
