import { expect, onTestFinished, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import type { FoundMessage } from '../../src/kernel/opening/find-messages.ts'
import { DAMAGED, asking, damaged, findings, never, scene, sealed } from './batch-scene.ts'
import { OPENED, found } from '../kernel/opening/examine-scene.ts'

useFakeTime({ toFake: ['performance'] }, 1_000_000)

/** A scene that has examined and kept these, for one who left; nothing was opened since. */
async function kept(updates: FoundMessage[][], outcome: object = DAMAGED) {
  const gone = new AbortController()
  const made = scene((armored) => {
    if (armored !== 'last') return Promise.resolve(outcome)
    gone.abort()
    return never
  })
  expect(await made.batches.examine([...updates, sealed('last')], { gone: gone.signal })).toEqual(
    [],
  )
  made.opening.mockClear()
  return made
}

test.each([
  ['another text', { armored: 'b' }, {}],
  ['another number', { armored: 'a' }, { messageId: 9 }],
  ['another sender', { armored: 'a' }, { fromId: 9 }],
  ['a text beside it', { armored: 'a', text: 'words' }, {}],
])('a cached verdict does not apply to a Message with %s', async (_what, message, more) => {
  const made = await kept([sealed('a')])
  await made.batches.examine([[found(message, more)]])
  expect(made.opening).toHaveBeenCalledTimes(1)
})

test('a cached verdict is used once, for the Message of the next poll', async () => {
  const made = await kept([sealed('a')])
  const [again] = sealed('a')
  if (again === undefined) throw new Error('nothing found')
  const [[one] = []] = await made.batches.examine([[again]])
  expect(one?.found).toBe(again)
  expect(made.opening).not.toHaveBeenCalled()
  await made.batches.examine([[again]])
  expect(made.opening).toHaveBeenCalledTimes(1)
})

test('a cached verdict does not apply to the same data in another chat', async () => {
  const made = await kept([sealed('a')])
  const elsewhere = found({ armored: 'a' }, { updateChatId: 6 })
  expect(findings(await made.batches.examine([[elsewhere]]))).toEqual([
    [{ kind: 'closed', verdict: 'replayed', reason: 'other-chat' }],
  ])
})

test('a cached verdict expires after two minutes', async () => {
  vi.useRealTimers()
  let aheadMs = 0
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
  onTestFinished(() => clock.mockRestore())
  const made = await kept([sealed('a'), sealed('b')])
  aheadMs = 110_000
  await made.batches.examine([sealed('a')])
  expect(made.opening).not.toHaveBeenCalled()
  aheadMs = 121_000
  // The cache looks at the clock no more often than once in a millisecond.
  await new Promise((resolve) => setTimeout(resolve, 5))
  await made.batches.examine([sealed('b')])
  expect(made.opening).toHaveBeenCalledTimes(1)
})

test('the cached verdicts of opened texts occupy at most 64 MiB', async () => {
  const text = 'x'.repeat(2 ** 20)
  const opened = { ...OPENED, text }
  const all = Array.from({ length: 25 }, (_, n) => sealed(`${n}`))
  const made = await kept(all, opened)
  await made.batches.examine(all)
  expect(made.opening.mock.calls.length).toBe(4)
})

test('the cached verdicts of damaged messages occupy at most 64 MiB', async () => {
  const armored = 'x'.repeat(2 ** 20)
  const all = Array.from({ length: 70 }, (_, n) => sealed(`${n} ${armored}`))
  const made = await kept(all)
  await made.batches.examine(all)
  expect(made.opening.mock.calls.length).toBe(7)
})

/** A scene that has examined and kept these in readable chats, for one who left. */
async function keptReadable(messages: FoundMessage[]) {
  const gone = new AbortController()
  const made = asking(() => Promise.resolve('open'))
  const last = found({ text: 'last' }, { chatId: 99, updateChatId: 99 })
  made.all.mode.mockImplementation((chatId?: number) => {
    if (chatId !== 99) return Promise.resolve('open')
    gone.abort()
    return never
  })
  expect(await made.batches.examine([messages, [last]], { gone: gone.signal })).toEqual([])
  return made
}
const withheld = { kind: 'plain', verdict: 'plaintext-in-protected' }

test.each([
  ['words', { text: 'words' }, withheld],
  ['a list in the place of words', { text: ['/pay 10'] }, withheld],
  ['armored words', { armored: 'words' }, { kind: 'closed', verdict: 'damaged' }],
  [
    'a list in the place of armored words',
    { armored: ['words'] },
    { kind: 'closed', verdict: 'damaged', reason: 'not-a-string' },
  ],
])(
  'a cached verdict of a readable chat does not apply once the chat is protected: %s',
  async (_what, message, finding) => {
    const { batches, all } = await keptReadable([found(message)])
    all.protectedChats.add(50)
    all.open.mockResolvedValue(DAMAGED)
    expect(findings(await batches.examine([[found(message)]]))).toEqual([[finding]])
  },
)

test('a cached verdict does not apply once the chat of its Message or of its update is protected', async () => {
  const here = { text: 'words' }
  const messages = [
    found(here, { chatId: 51, updateChatId: 51 }),
    found(here, { chatId: 51, updateChatId: 50 }),
  ]
  const { batches, all } = await keptReadable(messages)
  all.protectedChats.add(50)
  expect(findings(await batches.examine([messages]))).toEqual([[{ kind: 'untouched' }, withheld]])
})

test('an abandoned batch aborts its openings, and the next batch reuses those that had finished', async () => {
  const gone = new AbortController()
  const ended: string[] = []
  const { batches, opening } = scene(() => Promise.resolve(DAMAGED))
  opening.mockImplementation((armored, _keys, signal) => {
    if (armored !== 'slow' || ended.length > 0) return Promise.resolve(DAMAGED)
    setImmediate(() => gone.abort())
    return new Promise((_, reject) =>
      signal?.addEventListener('abort', () => {
        ended.push(armored)
        reject(new Error('aborted'))
      }),
    )
  })
  const updates = ['quick', 'slow', 'quicker'].map(sealed)
  expect(await batches.examine(updates, { gone: gone.signal })).toEqual([])
  expect(ended).toEqual(['slow'])
  expect(findings(await batches.examine(updates))).toEqual([[damaged()], [damaged()], [damaged()]])
  expect(opening.mock.calls.map(([armored]) => armored)).toEqual([
    'quick',
    'slow',
    'quicker',
    'slow',
  ])
})

test('a batch of a caller who has left opens nothing', async () => {
  const { batches, opening } = scene(() => Promise.resolve(DAMAGED))
  expect(await batches.examine([sealed('x')], { gone: AbortSignal.abort() })).toEqual([])
  expect(opening).not.toHaveBeenCalled()
})
