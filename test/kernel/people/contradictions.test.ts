import { expect, onTestFinished, test, vi } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { Journal, type TrustChange } from '../../../src/kernel/people/journal.ts'
import { KeyListHistory } from '../../../src/kernel/people/key-list-history.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const OWN = new Set(['bot', 'bot-subkey'])
const listed = (userId: number, fingerprint: string | null, encryptionKeys: string[] = []) =>
  ({
    userId,
    fingerprint,
    unusable: null,
    certificateStatus: { encryptionKeys },
  }) as unknown as Person

async function scene() {
  const memory = memoryOf(await open(temporary()))
  const journal = new Journal(memory)
  const changes: TrustChange[] = []
  journal.onChange((change) => changes.push(change))
  return { journal, changes, history: new KeyListHistory(memory, journal) }
}

test('the journal has who lists the bot’s certificate, or its subkey under another primary key', async () => {
  const { history, changes } = await scene()
  await history.recordOwnKeys(
    7,
    [listed(1, 'ann'), listed(2, 'bot'), listed(3, 'eve', ['bot-subkey'])],
    OWN,
  )
  await history.recordOwnKeys(null, [listed(2, 'bot')], OWN)
  expect(changes).toEqual([
    { kind: 'own-key-listed', userId: 2, detail: { chatId: 7, people: [2, 3] } },
    { kind: 'own-key-listed', userId: 2, detail: { chatId: null, people: [2] } },
  ])
  const crowd = Array.from({ length: 101 }, (_, n) => listed(n + 1, 'bot'))
  await history.recordOwnKeys(9, crowd, OWN)
  const people = crowd.slice(0, 100).map(({ userId }) => userId)
  expect(changes.at(-1)).toMatchObject({ userId: 1, detail: { chatId: 9, people } })
})

test('the journal has the same listing of an own key once, and again after it ended', async () => {
  const { history, changes } = await scene()
  for (const fingerprint of ['bot', 'bot', 'own', 'bot']) {
    await history.recordOwnKeys(7, [listed(2, fingerprint)], OWN)
  }
  expect(changes).toHaveLength(2)
})

test('the journal has no own-key entry for other people’s keys, an unparsed certificate or an empty list', async () => {
  const { history, changes } = await scene()
  await history.recordOwnKeys(7, [listed(1, 'ann', ['ann-subkey']), listed(2, null, ['bot'])], OWN)
  await history.recordOwnKeys(7, [], OWN)
  await history.recordOwnKeys(null, [], OWN)
  expect(changes).toEqual([])
})

test('the journal has an unknown sender of a private chat once, and again after an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 })
  onTestFinished(() => void vi.useRealTimers())
  const { history, changes } = await scene()
  for (const userId of [5, 5, 6]) await history.recordUnknownSender({ chatId: 7, userId })
  await history.recordUnknownSender({ chatId: 8, userId: 5 })
  const [inSeven, inEight] = [7, 8].map((chatId) => {
    return { kind: 'stranger', chatId, userId: 5, detail: {} }
  })
  for (const [nowMs, more] of [
    [3_600_999, []],
    [3_601_000, [inSeven]],
  ] as const) {
    vi.setSystemTime(nowMs)
    await history.recordUnknownSender({ chatId: 7, userId: 5 })
    expect(changes).toEqual([inSeven, inEight, ...more])
  }
})

test('an unknown sender that could not be journalled is journalled at the next message', async () => {
  const { history, journal, changes } = await scene()
  vi.spyOn(journal, 'record').mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  await expect(history.recordUnknownSender({ chatId: 7, userId: 5 })).rejects.toThrow(Refusal)
  await history.recordUnknownSender({ chatId: 7, userId: 5 })
  expect(changes).toHaveLength(1)
})

test('the journal has a stripped subkey once, and again after the certificate was whole', async () => {
  const { history, changes } = await scene()
  const stripped = { ...listed(1, 'ann', ['ann-kem', 'ann-subkey']) }
  Object.assign(stripped.certificateStatus, { isStripped: true })
  const whole = listed(1, 'ann', ['ann-kem', 'ann-subkey'])
  for (const people of [[whole], [stripped, listed(2, 'ben')], [stripped], [whole], [stripped]]) {
    await history.recordStripped(people)
  }
  const detail = { fingerprint: 'ann', subkey: 'ann-kem' }
  const change = { kind: 'subkey-stripped', userId: 1, detail }
  expect(changes).toEqual([change, change])
})
