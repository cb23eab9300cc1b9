import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Outcomes, type MessageOutcome } from '../../src/chats/outcomes.ts'
import { openStore, type Store } from '../../src/store/store.ts'

const home = mkdtempSync(join(tmpdir(), 'postern-outcomes-'))
let store: Store
beforeAll(async () => {
  store = await openStore({ dataDir: join(home, 'data'), passphrase: 'x', mode: 'create' })
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

function outcome(updateId: number, messageId: number, verdict = 'verified'): MessageOutcome {
  return {
    updateId,
    atMs: Date.now(),
    tookMs: null,
    chatId: 1,
    messageId,
    userId: 2,
    verdict,
    reason: null,
    delivered: verdict === 'verified',
    openedWith: null,
    signer: null,
  }
}

async function written(received: MessageOutcome[][]): Promise<Outcomes> {
  {
    await using outcomes = new Outcomes(store)
    for (const some of received) outcomes.received(some)
  }
  return new Outcomes(store)
}

test('an update that is delivered again is remembered once, as it was the last time', async () => {
  const first = [outcome(1, 10, 'mode-unknown'), outcome(1, 11)]
  const again = [outcome(1, 10), outcome(1, 11)]
  const outcomes = await written([first, [outcome(2, 20)], again])
  expect(await outcomes.ofUpdate(1)).toEqual(again)
  expect(await (await written([first])).ofUpdate(1)).toEqual(first)
})

test('what became of thousands is written, and other writes come in between', async () => {
  const many = Array.from({ length: 4000 }, (_, n) => outcome(100 + Math.floor(n / 40), n))
  const writing = written([many])
  await new Promise((resolve) => setImmediate(resolve))
  const rows = await store.write((db) =>
    db.selectFrom('outcomes').select('update_id').where('update_id', '>=', 100).execute(),
  )
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.length).toBeLessThan(many.length)
  const outcomes = await writing
  for (const updateId of [100, 150, 199]) {
    expect(await outcomes.ofUpdate(updateId)).toEqual(
      many.filter((one) => one.updateId === updateId),
    )
  }
})
