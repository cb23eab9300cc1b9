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

test('the bot’s certificate and its subkey under another are written, with who lists them', async () => {
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
})

test('the same finding is written once, and again when it ended in between', async () => {
  const { history, changes } = await scene()
  for (const fingerprint of ['bot', 'bot', 'own', 'bot']) {
    await history.recordOwnKeys(7, [listed(2, fingerprint)], OWN)
  }
  expect(changes).toHaveLength(2)
})

test('other people’s keys, what cannot be read, and an empty list are none of it', async () => {
  const { history, changes } = await scene()
  await history.recordOwnKeys(7, [listed(1, 'ann', ['ann-subkey']), listed(2, null, ['bot'])], OWN)
  await history.recordOwnKeys(7, [], OWN)
  await history.recordOwnKeys(null, [], OWN)
  expect(changes).toEqual([])
})

test('a chat’s stranger is written once, whoever else is seen there', async () => {
  const { history, changes } = await scene()
  for (const userId of [5, 5, 6]) await history.recordUnknownSender({ chatId: 7, userId })
  await history.recordUnknownSender({ chatId: 8, userId: 5 })
  expect(changes).toEqual([
    { kind: 'stranger', chatId: 7, userId: 5, detail: {} },
    { kind: 'stranger', chatId: 8, userId: 5, detail: {} },
  ])
})

test('what could not be written is written when the stranger is seen again', async () => {
  const { history, journal, changes } = await scene()
  vi.spyOn(journal, 'record').mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  await expect(history.recordUnknownSender({ chatId: 7, userId: 5 })).rejects.toThrow(Refusal)
  await history.recordUnknownSender({ chatId: 7, userId: 5 })
  expect(changes).toHaveLength(1)
})

test('a chat’s stranger is written again after an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 })
  onTestFinished(() => void vi.useRealTimers())
  const { history, changes } = await scene()
  for (const [nowMs, count] of [
    [1000, 1],
    [3_600_999, 1],
    [3_601_000, 2],
  ] as const) {
    vi.setSystemTime(nowMs)
    await history.recordUnknownSender({ chatId: 7, userId: 5 })
    expect(changes).toHaveLength(count)
  }
})

test('a certificate without the subkey that it had is written once, and again after it was whole', async () => {
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
