/** A bot that knows nothing of the outbox streams an answer by edits (setting `outbox.coalesceEdits`). */
import { expect, test } from 'vitest'
import { openScene, until, type Called } from '../updates/support.ts'

/** A message to a person with a phone, and edits of it by the real rates. */
async function scene(coalesceEdits: boolean) {
  const settings = { outbox: { coalesceEdits, updates: true } }
  const one = await openScene({ time: 'real', settings, sandbox: { rates: 'spec' } })
  const { alice, privateChat: chatId } = one.sandbox.home
  const phone = await one.sandbox.phone(alice.id)
  const { id } = (await one.call('POST', '/messages', { chatId, text: '…' })).result
  const edit = (text: string) => one.call('PATCH', `/messages/${id}`, { chatId, text })
  /** Twenty of them, without a wait for any answer. */
  const stream = () => Promise.all(Array.from({ length: 20 }, (_, n) => edit(`words ${n}`)))
  const seen = (words: string) => phone.seen(({ text }) => text === words)
  return { one, chatId, id, edit, stream, seen }
}

test('the last of twenty edits at once is shown, and no edit is answered with 429', async () => {
  const { one, id, stream, seen } = await scene(true)
  const answers = await stream()
  expect(answers.map(({ status }) => status)).toEqual([200, ...Array<number>(19).fill(202)])
  for (const { result } of answers) expect(result).toMatchObject({ id, date: expect.any(Number) })
  await seen('words 19')
  const calls = one.sandbox.transcript.list().filter(({ method }) => method === 'PATCH')
  expect(calls).toHaveLength(2)
  await until(async () => (await one.metric('outbox_settled_total{outcome="sent"}')) === 1)
  expect(await one.metric('outbox_settled_total{outcome="replaced"}')).toBe(18)
  const entries = answers.slice(1).map(({ result }) => result.postern.outbox)
  expect(entries[1]).toMatchObject({ state: 'waiting', replaces: [entries[0].id] })
  const { result: news } = await one.call('GET', '/updates')
  const ends = news.map(({ postern_outbox }: Called['result']) => postern_outbox)
  expect(ends[0]).toMatchObject({ id: entries[0].id, state: 'replaced', replacedBy: entries[1].id })
  expect(ends.at(-1)).toMatchObject({ id: entries.at(-1).id, state: 'sent', messageId: id })
})

test('an edit that the service’s rate refuses is made later', async () => {
  const { one, chatId, id, edit, seen } = await scene(true)
  // past the sidecar, which does not know that the window is full
  const past = await one.past('PATCH', `/messages/${id}`, { chatId, markup: null })
  expect([past.status, (await edit('words')).status]).toEqual([200, 202])
  await seen('words')
})

test('an edit that is refused for another reason waits for nothing', async () => {
  const { one, chatId } = await scene(true)
  const edited = await one.call('PATCH', '/messages/404', { chatId, text: 'words' })
  expect([edited.status, edited.code]).toEqual([404, 'message_not_found'])
})

test('edits that do not coalesce are answered with the 429 of the service', async () => {
  const { stream } = await scene(false)
  const statuses = (await stream()).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
})
