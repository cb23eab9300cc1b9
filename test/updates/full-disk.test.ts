/** A whole sidecar on a disk that fills up while sealed words wait: none are confirmed unread. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { canMount, fill, mounted } from '../store/support.ts'
import type { Json } from '../support/double-wire.ts'
import { startSidecarInside } from '../support/sidecar-inside.ts'
import { untilReady } from '../support/sidecar-process.ts'
import { openBot } from './bot.ts'

/** `/readyz` is bound to 2 s and 10 s; a crowded machine takes longer. */
const SOON = { timeout: 20_000, interval: 50 }
const LONG = { timeout: 60_000, interval: 100 }

/** A sidecar whose data directory is on a disk of 4 MiB, and a person who writes to its bot. */
async function scene() {
  const sandbox = await createSandbox({ rates: 'off' })
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  const mount = mounted('4m')
  const sidecar = await startSidecarInside({
    POSTERN_UPSTREAM_URL: sandbox.url,
    POSTERN_BOT_TOKEN: sandbox.token,
    POSTERN_KEY_PROTECTION: 'none',
    POSTERN_LISTEN_PORT: '0',
    POSTERN_ADMIN_PORT: '0',
    POSTERN_DATA_DIR: join(mount, 'data'),
  })
  onTestFinished(() => void sidecar.stop('SIGTERM'))
  await untilReady(sidecar.admin)
  const { alice, privateChat } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${sidecar.bot}/bot/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${sandbox.token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { response, json: await response.json() }
  }
  const reasons = async (): Promise<string[]> => {
    const response = await fetch(`${sidecar.admin}/readyz`)
    return ((await response.json()) as { reasons: { code: string }[] }).reasons.map(
      ({ code }) => code,
    )
  }
  return {
    call,
    write: (text: string) => phone.write(privateChat, text),
    fillDisk: () => fill(mount),
    emptyDisk: () => rmSync(join(mount, 'filler')),
    untilNamed: () => expect.poll(reasons, SOON).toEqual(['store']),
    untilCalm: () => expect.poll(reasons, SOON).toEqual([]),
  }
}

const wordsOf = (updates: Json[]): unknown[] =>
  updates.map(({ message }) => [message.text, message.postern?.verdict])
const BOTH = [
  ['first', 'verified'],
  ['second', 'verified'],
]

describe.skipIf(!canMount())('a disk that fills up (skipped where none can be mounted)', () => {
  test('leaves at the service the updates that a poll asks for', async () => {
    const { call, write, fillDisk, emptyDisk, untilNamed, untilCalm } = await scene()
    await write('before')
    const { json } = await call('GET', '/updates?timeout=1')
    const path = `/updates?timeout=1&offset=${Number(json.result.at(-1).updateId) + 1}`
    fillDisk()
    await write('first')
    await write('second')
    const { response, json: refused } = await call('GET', path)
    expect([response.status, refused.error.code]).toEqual([503, 'postern_store_unwritable'])
    expect(response.headers.get('retry-after')).toBe('2')
    await untilNamed()
    emptyDisk()
    await untilCalm()
    expect(wordsOf((await call('GET', path)).json.result)).toEqual(BOTH)
  }, 120_000)

  test('leaves there the updates that a webhook waits for', async () => {
    const { call, write, fillDisk, emptyDisk, untilNamed, untilCalm } = await scene()
    const bot = await openBot()
    const delivered = (): unknown[] => wordsOf(bot.deliveries.map(({ body }) => JSON.parse(body)))
    const { response } = await call('POST', '/webhook', { url: bot.url })
    expect(response.status).toBe(200)
    await write('before')
    await expect.poll(delivered, LONG).toEqual([['before', 'verified']])
    fillDisk()
    await write('first')
    await write('second')
    await untilNamed()
    expect(delivered().length).toBe(1)
    emptyDisk()
    await expect.poll(delivered, LONG).toEqual([['before', 'verified'], ...BOTH])
    await untilCalm()
  }, 120_000)
})
