/** Two worlds that are alike: one called directly, one through a sidecar. */
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts'
import { startSidecar } from '../../src/testing/index.ts'
import { callAt } from '../support/bot-call.ts'

export type Way = 'direct' | 'sidecar'

/** A world, and where its bot calls. */
export interface CallerWorld extends AsyncDisposable {
  base: string
  sandbox: Sandbox
  /** Writes the ids of this world in place of `{group}` and the like. */
  fill: (text: string) => string
  /** The part of an answer that is alike in both ways: without random ids, times and `postern`. */
  comparable: (answer: CallerAnswer) => unknown
}

export interface CallerAnswer {
  status: number
  type: string | null
  body: string
}

/** Opens a world in which the bot reads and writes plain text: without a key, or behind a sidecar. */
export async function openCallerWorld(way: Way): Promise<CallerWorld> {
  await using stack = new AsyncDisposableStack()
  const sandbox = stack.use(await createSandbox())
  const { url, token, control, home } = sandbox
  const { alice, privateChat, readableGroup: group } = home
  const markup = { inlineKeyboard: [[{ text: 'More', callbackData: 'more' }]] }
  const menu = { chatId: group, text: 'menu', markup }
  await callAt(url, token, { method: 'POST', path: '/messages', body: menu })
  const sidecar = { upstream: url, token, readyWithinMs: 50_000 }
  const base = way === 'direct' ? url : stack.use(await startSidecar(sidecar)).url
  const userId = alice.id
  await control.write({ userId, chatId: privateChat, text: 'hello' })
  await control.write({ userId, chatId: group, text: '/start' })
  const file = { userId, chatId: group, base64: 'aGVsbG8=', replyTo: 1 }
  const { mediaId } = await control.sendMedia(file)
  const { callbackId } = await control.press({ userId, chatId: group, messageId: 1 })
  const updates = await callAt(base, token, { method: 'GET', path: '/updates' })
  const [media = ''] = /\/media\/[^"]*/.exec(updates.text) ?? []
  const ids = { group, privateChat, alice: userId, callbackId, media }
  const running = stack.move()
  return {
    base,
    sandbox,
    fill: (text) =>
      Object.entries(ids).reduce(
        (now, [name, id]) => now.replaceAll(`{${name}}`, String(id)),
        text,
      ),
    comparable: ({ status, type, body }) => {
      const known = body.replaceAll(mediaId, 'MEDIA').replaceAll(callbackId, 'CALLBACK')
      return { status, type, body: known.startsWith('{') ? parseComparable(known) : known }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Keys are random, the outcome of deliveries is that of their time. */
const LEFT_OUT = new Set(
  'postern date publicKey fingerprint failures lastError nextAttemptAt'.split(' '),
)

function parseComparable(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) => {
    // the words of an error are for people (specification, What the service does, 2)
    if (LEFT_OUT.has(name) || (name === 'message' && typeof value === 'string')) return undefined
    return name === 'url' ? String(value).split('?')[0] : value
  })
}
