import { expect, test, vi } from 'vitest'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { Policies } from '../../../src/kernel/people/policies.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

test('the policy of a chat precedes the bot’s, and the bot’s precedes the setting', async () => {
  const store = await open(temporary())
  const journal = new Journal(memoryOf(store))
  const changed = vi.fn()
  journal.onChange(changed)
  const load = (epoch = { value: 0 }) =>
    Policies.load({ memory: memoryOf(store), journal, setting: 'first-use', epoch })
  const epoch = { value: 0 }
  const policies = await load(epoch)
  const before = epoch.value
  const both = async (): Promise<Policies[]> => [policies, await load()]
  for (const one of await both()) {
    expect([one.bot, one.for(1), one.byCommand]).toEqual(['first-use', 'first-use', []])
  }
  await policies.set(1, 'pinned')
  await policies.set(null, 'accept')
  await policies.set(1, 'first-use')
  for (const one of await both()) {
    expect([one.bot, one.for(1), one.for(8)]).toEqual(['accept', 'first-use', 'accept'])
    expect(one.byCommand).toHaveLength(2)
    expect(one.byCommand).toContainEqual({ chatId: null, policy: 'accept' })
    expect(one.byCommand).toContainEqual({ chatId: 1, policy: 'first-use' })
  }
  await policies.set(null, null)
  for (const one of await both()) {
    expect([one.bot, one.for(1), one.for(8)]).toEqual(['first-use', 'first-use', 'first-use'])
    expect(one.byCommand).toEqual([{ chatId: 1, policy: 'first-use' }])
  }
  expect(epoch.value - before).toBe(4)
  expect(changed).toHaveBeenLastCalledWith({
    kind: 'policy',
    chatId: null,
    detail: { policy: null },
  })
  expect(changed).toHaveBeenCalledWith({ kind: 'policy', chatId: 1, detail: { policy: 'pinned' } })
})
