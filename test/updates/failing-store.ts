/** Words of a person that wait at the service while the store of a sidecar fails: none are confirmed unread. */
import { expect } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import type { Json } from '../support/double-wire.ts'
import type { SidecarOnSandbox } from '../support/sidecar-on-sandbox.ts'
import { openBot } from './bot.ts'

/** Within 2 s, and 10 s after a fault, by the bounds of `/readyz`; more on a crowded machine. */
const SOON = { timeout: 20_000, interval: 50 }
/** Longer than a query waits for a lock. */
const LONG = { timeout: 60_000, interval: 100 }

/** Something wrong with the store until it is disposed of. */
export type Strike = () => AsyncDisposable | Promise<AsyncDisposable>

const wordsOf = (updates: Json[]): unknown[] =>
  updates.map(({ message }) => [message.text, message.postern?.verdict])
export const BOTH = [
  ['first', 'verified'],
  ['second', 'verified'],
]

/** @param isNamed whether the reasons of `/readyz` are those of the fault */
export async function waitingWords(
  sandbox: Sandbox,
  sidecar: SidecarOnSandbox,
  isNamed: (reasons: string[]) => boolean,
) {
  const { alice, privateChat } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  const write = async (...texts: string[]): Promise<void> => {
    for (const text of texts) await phone.write(privateChat, text)
  }
  const poll = async (offset = 0) => {
    const { status, json, headers } = await sidecar.call(
      'GET',
      `/updates?timeout=1&offset=${offset}`,
    )
    const updates = (json.result ?? []) as Json[]
    const [code, retryAfter] = [json.error?.code, headers.get('retry-after')]
    return { status, code, retryAfter, updates, words: wordsOf(updates) }
  }
  const untilNamed = (): Promise<void> =>
    expect.poll(async () => isNamed((await sidecar.readiness()).reasons), SOON).toBe(true)
  const untilReady = (): Promise<void> =>
    expect.poll(async () => (await sidecar.readiness()).status, SOON).toBe(200)

  /** What a poll asks for in a strike is left there, and comes afterwards. */
  const expectPollLeaves = async (strike: Strike): Promise<void> => {
    await write('before')
    const offset = Number((await poll()).updates.at(-1)?.updateId) + 1
    await write('first', 'second')
    {
      await using _fault = await strike()
      const polling = poll(offset)
      await untilNamed()
      const refused = { status: 503, code: 'postern_store_unwritable', retryAfter: '2' }
      expect(await polling).toMatchObject(refused)
    }
    await untilReady()
    expect((await poll(offset)).words).toEqual(BOTH)
  }

  /** What a webhook waits for in a strike is left there, and comes afterwards. */
  const expectWebhookLeaves = async (strike: Strike): Promise<void> => {
    const bot = await openBot()
    const delivered = (): unknown[] => wordsOf(bot.deliveries.map(({ body }) => JSON.parse(body)))
    expect((await sidecar.call('POST', '/webhook', { url: bot.url })).status).toBe(200)
    await write('before')
    await expect.poll(delivered, LONG).toEqual([['before', 'verified']])
    {
      await using _fault = await strike()
      await write('first', 'second')
      await untilNamed()
      expect(delivered().length).toBe(1)
    }
    await expect.poll(delivered, LONG).toEqual([['before', 'verified'], ...BOTH])
    await untilReady()
  }

  return { write, poll, untilNamed, untilReady, expectPollLeaves, expectWebhookLeaves }
}
