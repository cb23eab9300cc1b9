import { expect, test, vi } from 'vitest'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { Policies } from '../../../src/kernel/people/decisions.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

test('a chat’s policy counts before the bot’s, that before the setting, also after a restart', async () => {
  const store = await open(temporary())
  const journal = new Journal(memoryOf(store))
  const changed = vi.fn()
  journal.onChange(changed)
  const load = () => Policies.load({ memory: memoryOf(store), journal, setting: 'first-use' })
  const policies = await load()
  const { changes: before } = policies
  const both = async (): Promise<Policies[]> => [policies, await load()]
  for (const one of await both()) {
    expect([one.bot, one.for(7), one.byCommand]).toEqual(['first-use', 'first-use', []])
  }
  await policies.set(7, 'pinned')
  await policies.set(null, 'accept')
  await policies.set(7, 'first-use')
  for (const one of await both()) {
    expect([one.bot, one.for(7), one.for(8)]).toEqual(['accept', 'first-use', 'accept'])
    expect(one.byCommand).toHaveLength(2)
    expect(one.byCommand).toContainEqual({ chatId: null, policy: 'accept' })
    expect(one.byCommand).toContainEqual({ chatId: 7, policy: 'first-use' })
  }
  await policies.set(null, null)
  for (const one of await both()) {
    expect([one.bot, one.for(7), one.for(8)]).toEqual(['first-use', 'first-use', 'first-use'])
    expect(one.byCommand).toEqual([{ chatId: 7, policy: 'first-use' }])
  }
  expect(policies.changes - before).toBe(4)
  expect(changed).toHaveBeenLastCalledWith({
    kind: 'policy',
    chatId: null,
    detail: { policy: null },
  })
  expect(changed).toHaveBeenCalledWith({ kind: 'policy', chatId: 7, detail: { policy: 'pinned' } })
})
