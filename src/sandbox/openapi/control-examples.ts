import type { z } from 'zod'
import type { OPERATIONS, OperationName } from '../control/table.ts'

type Examples = {
  [Name in OperationName]?: {
    input: z.input<(typeof OPERATIONS)[Name]['input']>
    result: z.output<(typeof OPERATIONS)[Name]['output']>
  }
}

const alice = { userId: 1001 }
const echoBot = { botId: 2001 }
const inChat = { ...alice, chatId: 3001 }

const SHOWN = {
  kind: 'message',
  n: 1,
  at: 1_790_000_000_000,
  messageId: 2,
  chatId: 3001,
  fromId: 2001,
  edited: false,
  text: 'you said: hello',
  verdict: 'readable',
  signer: null,
} as const

/** What the commonest operations are asked and give. */
export const EXAMPLES: Examples = {
  addPerson: {
    input: { username: 'carol', firstName: 'Carol' },
    result: { id: 1001, username: 'carol' },
  },
  addBot: {
    input: { username: 'news_bot' },
    result: { id: 2001, username: 'news_bot', token: `sandbox_2001.${'A'.repeat(43)}` },
  },
  addPrivateChat: {
    input: { ...alice, ...echoBot },
    result: { id: 3001, kind: 'private', mode: 'open' },
  },
  addRoom: {
    input: { kind: 'group', members: [1001, 2001], title: 'Office', historyVisible: true },
    result: { id: 3002, kind: 'group', mode: 'open' },
  },
  write: { input: { ...inChat, text: 'hello' }, result: { messageId: 1 } },
  press: { input: { ...inChat, messageId: 2, data: 'yes' }, result: { callbackId: 'press-1' } },
  inbox: {
    input: { ...alice, after: 0, wait: 5000 },
    result: { seen: [SHOWN], inbox: [SHOWN], keyChanges: [], answers: [], last: 1 },
  },
  queued: { input: echoBot, result: [] },
  advance: { input: { ms: 60_000 }, result: { now: 1_790_000_060_000, mode: 'still' } },
  fault: { input: { name: 'lost-answer', route: 'sendMessage', times: 1 }, result: { id: 1 } },
  pause: { input: echoBot, result: { status: 'paused' } },
}
