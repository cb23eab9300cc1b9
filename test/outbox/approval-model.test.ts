/**
 * All orders of two requests, an imitation, quotations, and lies about `replyTo`, against the real
 * hearing. The bot conveys a code that it knows in a way that no reader of texts finds.
 */
import { expect, test } from 'vitest'
import type { JudgedMessage } from '../../src/kernel/index.ts'
import type { OutboxEntry } from '../../src/outbox/entries.ts'
import { createHearing } from '../../src/outbox/hear.ts'
import { requestText } from '../../src/outbox/request.ts'
import { replyOf } from '../support/approvals.ts'

const [BOSS, OFFICE, LOOK_ALIKE] = [815, 3, 103]
const CALLS = [
  { id: 'one', code: '7K2QWERTYZ', requestId: 101 },
  { id: 'two', code: 'M4RMQVBXHA', requestId: 102 },
]
type Call = (typeof CALLS)[number]

interface World {
  entries: OutboxEntry[]
  /** Codes that the bot knows, and those in its look-alikes. */
  known: string[]
  shown: string[]
  /** Words that the person wrote: the code, and the call that was read with it. */
  oks: { code: string; read: string | null }[]
  /** Entries that a word for another text has approved. */
  wrong: string[]
}

function begun(): World {
  const entries = CALLS.map(({ id, code }) => {
    const request = { userId: BOSS, chatId: OFFICE, sendId: id, messageId: null }
    const times = { askedAtMs: 0, expiresAtMs: 1000 }
    const approval = { code, digest: id, ...times, requests: [request], decision: null }
    return { id, state: 'asked', chatId: 1, dueAtMs: 0, client: null, messageId: null, approval }
  })
  return { entries: entries as never, known: [], shown: [], oks: [], wrong: [] }
}

const textOf = (world: World, { id }: Call): string => {
  const entry = world.entries.find((one) => one.id === id) as OutboxEntry
  const words = Buffer.from(JSON.stringify({ chatId: 1, text: `the words of ${id}` }))
  return requestText(entry, words, { ...entry.approval, kind: 'group' } as never)
}

/** What the person and Postern do, and the look-alike of a bot that knows a code. */
function steps(world: World): World[] {
  const next: World[] = []
  const also = (change: (copy: World) => void): void => {
    const copy = structuredClone(world)
    change(copy)
    next.push(copy)
  }
  for (const [index, { id, code, requestId }] of CALLS.entries()) {
    also(({ oks }) => oks.push({ code, read: id }))
    also(({ entries }) => {
      const [request] = entries[index]?.approval?.requests ?? []
      if (request !== undefined) Object.assign(request, { messageId: requestId })
    })
    if (world.known.includes(code)) also(({ shown }) => shown.push(code))
    if (world.shown.includes(code)) also(({ oks }) => oks.push({ code, read: null }))
  }
  return next
}

/** Every update that the service can make of these words, with any quotation and any `replyTo`. */
function* updates(world: World) {
  const place = { chatId: OFFICE, updateChatId: OFFICE, fromId: BOSS }
  const words = [{ code: '', read: null }, ...world.oks]
  const ids = [null, LOOK_ALIKE, ...CALLS.map(({ requestId }) => requestId)]
  for (const ok of words) {
    for (const id of ids) {
      for (const quoted of [null, ...CALLS]) {
        const final = { verdict: 'verified', signer: 'f', signedAtMs: 500 } as const
        const replyTo = id === null ? null : { id }
        const top = replyOf(ok.code === '' ? 'Why?' : `ok ${ok.code}`, place, { final, replyTo })
        const carried = { ...place, position: 'carried', messageId: null }
        const inside =
          quoted === null ? [] : [replyOf(textOf(world, quoted), carried, { replyTo: null })]
        yield { ok, messages: [top, ...inside] }
      }
    }
  }
}

/** Delivers an update. @param opens what the bot reads of it */
async function delivered(
  before: World,
  { ok, messages }: { ok: World['oks'][number]; messages: JudgedMessage[] },
  opens: (given: JudgedMessage[], sent: JudgedMessage[]) => JudgedMessage[],
): Promise<World> {
  const world = structuredClone(before)
  const { entries } = world
  const hear = createHearing({
    entries: {
      all: entries,
      approvals: entries.flatMap(({ approval }) => approval ?? []),
      change: async (id, how) => {
        const entry = entries.find((one) => one.id === id)
        const change = entry === undefined ? null : how(entry)
        if (entry === undefined || change === null) return false
        if (change.state === 'waiting' && ok.read !== id) world.wrong.push(id)
        Object.assign(entry, change)
        return true
      },
    },
    journal: { record: async () => {} },
    fresh: async () => {},
    nowMs: () => 500,
  })
  const read = opens(await hear({ kind: 'message' }, messages), messages)
  const seen = read.filter(({ final }) => final?.verdict === 'verified')
  for (const { code } of CALLS) {
    const isSeen = seen.some(({ found }) => String(found.message['text']).includes(code))
    if (isSeen && !world.known.includes(code)) world.known.push(code)
  }
  return world
}

async function explored(opens: Parameters<typeof delivered>[2]) {
  const found = new Map<string, World>()
  const add = (world: World): void => {
    for (const list of [world.known, world.shown, world.wrong]) {
      list.splice(0, list.length, ...new Set(list.toSorted()))
    }
    const oks = new Map(world.oks.map((ok) => [JSON.stringify(ok), ok]))
    world.oks = [...oks.keys()].toSorted().map((key) => oks.get(key) as World['oks'][number])
    const key = JSON.stringify(world)
    if (!found.has(key)) found.set(key, world)
  }
  add(begun())
  for (const world of found.values()) {
    if (world.wrong.length > 0) return { count: found.size, wrong: world.wrong }
    for (const next of steps(world)) add(next)
    for (const update of updates(world)) add(await delivered(world, update, opens))
  }
  const sent = new Set(
    [...found.values()].map(({ entries }) => entries.map(({ state }) => state).join()),
  )
  return { count: found.size, wrong: [], sent: [...sent].toSorted() }
}

test('a call leaves in every order only if the person read its own words and wrote `ok` for them', async () => {
  const { wrong, sent } = await explored((given) => given)
  expect(wrong).toEqual([])
  expect(sent).toEqual(['asked,asked', 'asked,waiting', 'waiting,asked', 'waiting,waiting'])
})

test('an imitation approves another call where quoted requests are opened to the bot', async () => {
  expect((await explored((_given, sent) => sent)).wrong).not.toEqual([])
})
