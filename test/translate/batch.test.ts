import { expect, test } from 'vitest'
import { Batches } from '../../src/translate/batch.ts'
import type { ExamineParts } from '../../src/kernel/opening/examine.ts'
import type { FoundMessage } from '../../src/kernel/opening/find-messages.ts'

/** Parts for which every chat is protected and opening is what a test says it is. */
function batches(open: (armored: string, signal: AbortSignal) => Promise<unknown>) {
  const opened: string[] = []
  const chat = { isProtected: true }
  const parts = {
    guard: { mustSeal: () => chat.isProtected },
    modes: { get: () => Promise.resolve({ mode: 'open' }) },
    keyring: { unlocked: [] },
    engine: {
      open: async (armored: string, _keys: unknown, signal: AbortSignal) => {
        opened.push(armored)
        return await open(armored, signal)
      },
    },
  } as unknown as ExamineParts
  return { opened, chat, batches: new Batches(parts) }
}

function sealed(armored: string): FoundMessage[] {
  const ids = { chatId: 5, updateChatId: 5, messageId: 7, fromId: 8, dateMs: 9, pressedById: null }
  const found = { message: { armored }, chatKind: 'private', isOrdinary: true, ...ids }
  return [{ ...found, position: 'top' }]
}

const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

test('opening ends when nobody waits for it, and what was finished is not opened again', async () => {
  const gone = new AbortController()
  const ended: string[] = []
  let isFirst = true
  const { opened, batches: all } = batches(async (armored, signal) => {
    if (armored !== 'slow' || !isFirst) return { outcome: 'damaged' }
    isFirst = false
    signal.addEventListener('abort', () => ended.push(armored))
    setImmediate(() => gone.abort())
    return await untilAborted(signal)
  })
  const updates = ['quick', 'slow', 'quicker'].map(sealed)
  expect(await all.examine(updates, { gone: gone.signal })).toEqual([])
  expect(ended).toEqual(['slow'])
  const again = await all.examine(updates)
  expect(again.map(([judged]) => judged?.finding)).toEqual(
    Array.from({ length: 3 }, () => ({ kind: 'closed', verdict: 'damaged' })),
  )
  expect(opened).toEqual(['quick', 'slow', 'quicker', 'slow'])
})

test('for one who has left already nothing is begun', async () => {
  const { opened, batches: all } = batches(async () => ({ outcome: 'damaged' }))
  expect(await all.examine([sealed('x')], { gone: AbortSignal.abort() })).toEqual([])
  expect(opened).toEqual([])
})

test('a quotation is judged anew where it stands in another chat', async () => {
  const gone = new AbortController()
  const { opened, batches: all } = batches(async (armored) => {
    if (armored === 'last') gone.abort()
    return { outcome: 'damaged' }
  })
  const [found] = sealed('quoted')
  if (found === undefined) throw new Error('nothing found')
  await all.examine([[found], ...Array.from({ length: 5 }, () => sealed('last'))], {
    gone: gone.signal,
  })
  await all.examine([[found]])
  expect(opened.filter((armored) => armored === 'quoted').length).toBe(1)
  const [[elsewhere] = []] = await all.examine([[{ ...found, updateChatId: 6 }]])
  expect(elsewhere?.finding).toMatchObject({ verdict: 'replayed', reason: 'other-chat' })
})

test('readable text that was kept is judged anew once its chat is protected', async () => {
  const gone = new AbortController()
  const { chat, batches: all } = batches(async () => ({ outcome: 'damaged' }))
  chat.isProtected = false
  const readable = (): FoundMessage[] =>
    sealed('').map((found) => ({ ...found, message: { text: 'words' } }))
  const examining = all.examine([readable(), ...Array.from({ length: 5 }, readable)], {
    gone: gone.signal,
  })
  setImmediate(() => gone.abort())
  expect(await examining).toEqual([])
  chat.isProtected = true
  const parts = await all.examine([readable()])
  expect(parts.flat().map(({ finding }) => finding)).not.toEqual([{ kind: 'untouched' }])
})
