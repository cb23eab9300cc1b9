/** An entry that another sidecar has sent, at the moment of a decision of the operator here. */
import { expect, test } from 'vitest'
import { OutboxEntries } from '../../src/outbox/entries.ts'
import { open, temporary } from '../store/support.ts'
import { NO_APPROVALS } from '../support/approvals.ts'
import { entryOf } from './support.ts'

test('an entry that another sidecar has sent is neither retried nor dropped', async () => {
  const store = await open(temporary(), { protection: 'none' })
  const [here, there] = [
    await OutboxEntries.load(store, NO_APPROVALS),
    await OutboxEntries.load(store, NO_APPROVALS),
  ]
  for (const change of [
    (id: string) => here.wait(id, { isForSealed: true, nowMs: 3 }),
    (id: string) => here.drop(id),
  ]) {
    const { id } = await here.add(entryOf(), Buffer.from('{}'))
    await here.settle(id, { state: 'refused', code: 'x' }, 1)
    await there.settle(id, { state: 'sent', code: null, sentId: 7 }, 2)
    expect(await change(id)).toBe(false)
    const again = await OutboxEntries.load(store, NO_APPROVALS)
    for (const one of [here, again]) {
      expect(one.get(id)).toMatchObject({ state: 'sent', sentId: 7, settledAtMs: 2 })
    }
  }
})
