/** A whole sidecar whose store is damaged while it runs: nothing leaves readable, and nothing is lost. */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { startOnSandbox } from '../support/sidecar-on-sandbox.ts'

const DAMAGE: [string, (file: string) => void][] = [
  [
    'overwritten',
    (file) => {
      const bytes = readFileSync(file)
      writeFileSync(file, Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(bytes.length, 0xa5)]))
    },
  ],
  ['cut off in the middle', (file) => truncateSync(file, readFileSync(file).length >> 1)],
  ['emptied', (file) => truncateSync(file, 0)],
]

test.each(DAMAGE)(
  'a sidecar whose open database is %s sends sealed text or none, and /readyz names the store',
  async (_what, damage) => {
    const sandbox = await createSandbox({ rates: 'off' })
    onTestFinished(() => sandbox[Symbol.asyncDispose]())
    const { call, dataDir, readiness } = await startOnSandbox(sandbox)
    const { alice, privateChat } = sandbox.home
    const phone = await sandbox.phone(alice.id)
    await phone.write(privateChat, 'before')
    const first = await call('GET', '/updates?timeout=1')
    const offset = Number(first.json.result.at(-1).updateId) + 1
    await call('GET', `/updates?timeout=0&offset=${offset}`)

    for (const name of ['postern.db', 'postern.db-wal']) damage(join(dataDir, name))
    await phone.write(privateChat, 'after')
    const text = 'words of the bot'
    const sent = await call('POST', '/messages', { chatId: privateChat, text })
    const polled = await call('GET', `/updates?timeout=1&offset=${offset}`)
    // sealed by what is in memory, or refused
    const { messages } = await sandbox.control.screen({ userId: alice.id, chatId: privateChat })
    const shown = messages.filter((one) => one.text === text)
    expect(shown.filter(({ verdict }) => verdict !== 'verified')).toEqual([])
    expect([201, 503]).toContain(sent.status)
    if (polled.status === 200) {
      expect(polled.json.result[0].message.postern.verdict).toBe('verified')
      return
    }
    expect([polled.status, polled.json.error.code]).toEqual([503, 'postern_store_unwritable'])
    const reasons = async (): Promise<string[]> => (await readiness()).reasons
    await expect.poll(reasons, { timeout: 20_000, interval: 50 }).toEqual(['store'])
  },
)
