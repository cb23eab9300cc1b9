import { expect, test } from 'vitest'
import { Journal, type TrustChange } from '../../../src/kernel/people/journal.ts'
import { OwnKeyListings } from '../../../src/kernel/people/own-key-listings.ts'
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
  const journal = new Journal(memoryOf(await open(temporary())))
  const changes: TrustChange[] = []
  journal.onChange((change) => changes.push(change))
  return { changes, listings: new OwnKeyListings(journal, () => OWN) }
}

test('the bot’s certificate and its subkey under another are written, with who lists them', async () => {
  const { listings, changes } = await scene()
  await listings.saw(7, [listed(1, 'ann'), listed(2, 'bot'), listed(3, 'eve', ['bot-subkey'])])
  await listings.saw(null, [listed(2, 'bot')])
  expect(changes).toEqual([
    { kind: 'own-key-listed', userId: 2, detail: { chatId: 7, people: [2, 3] } },
    { kind: 'own-key-listed', userId: 2, detail: { chatId: null, people: [2] } },
  ])
})

test('the same finding is written once, and again when it ended in between', async () => {
  const { listings, changes } = await scene()
  for (const fingerprint of ['bot', 'bot', 'own', 'bot']) {
    await listings.saw(7, [listed(2, fingerprint)])
  }
  expect(changes).toHaveLength(2)
})

test('other people’s keys, what cannot be read, and an empty list are none of it', async () => {
  const { listings, changes } = await scene()
  await listings.saw(7, [listed(1, 'ann', ['ann-subkey']), listed(2, null, ['bot'])])
  await listings.saw(7, [])
  await listings.saw(null, [])
  expect(changes).toEqual([])
})
