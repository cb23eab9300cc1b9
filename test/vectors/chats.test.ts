import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { createOffline, createSidecar } from '../../src/context.ts'
import { watchedLog } from '../support/watched-log.ts'
import { DoubleService } from '../support/double-service.ts'
import { BOT_TOKEN, type ListedPerson } from '../support/double-world.ts'
import type { Json } from '../support/double-wire.ts'
import type { ChatStep } from './cases/chats.ts'
import { namesIn, readText, vectorAt } from './read.ts'

/** One sidecar for all vectors, since no two have a person or a chat in common. */
const NAMES = namesIn('chats')

const stack = new AsyncDisposableStack()
let double: DoubleService
let door: string

const timeOf = (name: string, field: string): number =>
  Date.parse(vectorAt(`chats/${name}`).field.get(field) ?? '')

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: timeOf(NAMES[0] ?? '', 'published') })
  stack.defer(() => void vi.useRealTimers())
  double = stack.use(await DoubleService.start())
  const home = mkdtempSync(join(tmpdir(), 'postern-vectors-'))
  stack.defer(() => rmSync(home, { recursive: true, force: true }))
  const options = {
    settings: settingsFrom({
      upstream: { url: double.url },
      listen: { port: 0 },
      admin: { port: 0 },
      dataDir: join(home, 'data'),
      cache: { keyListSeconds: 0 },
    }),
    secrets: {
      botToken: SecretSource.fromValue(BOT_TOKEN, 'token'),
      clientToken: null,
      passphrase: SecretSource.fromValue('vectors'),
    },
    log: watchedLog(),
  }
  await using offline = await createOffline(options, 'begin')
  const file = Buffer.from(readText('keys/bot.secret.asc')).toString('base64')
  await offline.operations.keyImport({ file, passphrase: null })
  await offline[Symbol.asyncDispose]()
  const sidecar = stack.use(await createSidecar(options))
  const { bot } = await sidecar.listen()
  door = bot
  await vi.waitFor(
    async () => expect((await sidecar.operations.status()).key?.state).toBe('active'),
    { timeout: 30_000 },
  )
})
afterAll(async () => await stack.disposeAsync())

async function call(method: string, path: string, body?: unknown): Promise<Json> {
  const headers = { authorization: `Bearer ${BOT_TOKEN}`, 'content-type': 'application/json' }
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  return await (await fetch(`${door}/bot/v1${path}`, { method, headers, ...init })).json()
}

/** The update of the last step that delivered a Message. */
let offset = 0

/** Does one step. @returns its outcome, and the text that the bot received */
async function take(step: ChatStep): Promise<{ outcome: string; text?: string }> {
  if ('keys' in step) {
    const people = step.keys.map(({ userId, fingerprint, publicKey }): ListedPerson => {
      return double.world.addUser({ fingerprint, certificate: publicKey }, userId)
    })
    const { chatId: id, kind } = step
    double.world.addChat({ id, kind, people, mode: 'protected' })
    return { outcome: 'listed' }
  }
  if ('send' in step) {
    const { ok, error } = await call('POST', '/messages', step.send)
    return { outcome: ok === true ? 'sent' : error.code }
  }
  if ('message' in step) {
    offset = double.world.push({ kind: 'message', message: structuredClone(step.message) })
  }
  const { result } = await call('GET', `/updates?offset=${offset}&timeout=5`)
  const [{ message }] = result
  const { text, postern } = message
  return { outcome: postern.verdict, ...(text === undefined ? {} : { text }) }
}

test.each(NAMES)('a sidecar gives chat vector %s the outcome of its header', async (name) => {
  const { field, body } = vectorAt(`chats/${name}`)
  vi.setSystemTime(Date.parse(field.get('now') ?? ''))
  let last: { outcome: string; text?: string } = { outcome: 'nothing' }
  for (const step of JSON.parse(body) as ChatStep[]) last = await take(step)
  const text = field.get('text')
  expect(last).toEqual({
    outcome: field.get('outcome'),
    ...(text === undefined ? {} : { text: JSON.parse(text) }),
  })
})
