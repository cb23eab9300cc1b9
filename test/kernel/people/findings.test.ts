import { expect, onTestFinished, test, vi } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { Journal, type TrustChange } from '../../../src/kernel/people/journal.ts'
import { Findings } from '../../../src/kernel/people/findings.ts'
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
  return { journal, changes, findings: new Findings(memory, journal, () => OWN) }
}

test('the bot’s certificate and its subkey under another are written, with who lists them', async () => {
  const { findings, changes } = await scene()
  await findings.recordOwnKeys(7, [
    listed(1, 'ann'),
    listed(2, 'bot'),
    listed(3, 'eve', ['bot-subkey']),
  ])
  await findings.recordOwnKeys(null, [listed(2, 'bot')])
  expect(changes).toEqual([
    { kind: 'own-key-listed', userId: 2, detail: { chatId: 7, people: [2, 3] } },
    { kind: 'own-key-listed', userId: 2, detail: { chatId: null, people: [2] } },
  ])
})

test('the same finding is written once, and again when it ended in between', async () => {
  const { findings, changes } = await scene()
  for (const fingerprint of ['bot', 'bot', 'own', 'bot']) {
    await findings.recordOwnKeys(7, [listed(2, fingerprint)])
  }
  expect(changes).toHaveLength(2)
})

test('other people’s keys, what cannot be read, and an empty list are none of it', async () => {
  const { findings, changes } = await scene()
  await findings.recordOwnKeys(7, [listed(1, 'ann', ['ann-subkey']), listed(2, null, ['bot'])])
  await findings.recordOwnKeys(7, [])
  await findings.recordOwnKeys(null, [])
  expect(changes).toEqual([])
})

test('a chat’s stranger is written once, whoever else is seen there', async () => {
  const { findings, changes } = await scene()
  for (const userId of [5, 5, 6]) await findings.recordUnknownSender({ chatId: 7, userId })
  await findings.recordUnknownSender({ chatId: 8, userId: 5 })
  expect(changes).toEqual([
    { kind: 'stranger', chatId: 7, userId: 5, detail: {} },
    { kind: 'stranger', chatId: 8, userId: 5, detail: {} },
  ])
})

test('what could not be written is written when the stranger is seen again', async () => {
  const { findings, journal, changes } = await scene()
  vi.spyOn(journal, 'record').mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  await expect(findings.recordUnknownSender({ chatId: 7, userId: 5 })).rejects.toThrow(Refusal)
  await findings.recordUnknownSender({ chatId: 7, userId: 5 })
  expect(changes).toHaveLength(1)
})

test('a chat’s stranger is written again after an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 })
  onTestFinished(() => void vi.useRealTimers())
  const { findings, changes } = await scene()
  for (const [nowMs, count] of [
    [1000, 1],
    [3_600_999, 1],
    [3_601_000, 2],
  ] as const) {
    vi.setSystemTime(nowMs)
    await findings.recordUnknownSender({ chatId: 7, userId: 5 })
    expect(changes).toHaveLength(count)
  }
})
