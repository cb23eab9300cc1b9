import { expect, test, vi } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { Journal, type TrustChange } from '../../../src/kernel/people/journal.ts'
import { UnknownSenders } from '../../../src/kernel/people/unknown-senders.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

async function scene() {
  const memory = memoryOf(await open(temporary()))
  const journal = new Journal(memory)
  const changes: TrustChange[] = []
  journal.onChange((change) => changes.push(change))
  return { journal, changes, unknownSenders: new UnknownSenders(memory, journal) }
}

test('a chat’s stranger is written once, whoever else is seen there', async () => {
  const { unknownSenders, changes } = await scene()
  for (const userId of [5, 5, 6]) await unknownSenders.record({ chatId: 7, userId })
  await unknownSenders.record({ chatId: 8, userId: 5 })
  expect(changes).toEqual([
    { kind: 'stranger', chatId: 7, userId: 5, detail: {} },
    { kind: 'stranger', chatId: 8, userId: 5, detail: {} },
  ])
})

test('what could not be written is written when the stranger is seen again', async () => {
  const { unknownSenders, journal, changes } = await scene()
  vi.spyOn(journal, 'record').mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  await expect(unknownSenders.record({ chatId: 7, userId: 5 })).rejects.toThrow(Refusal)
  await unknownSenders.record({ chatId: 7, userId: 5 })
  expect(changes).toHaveLength(1)
})
