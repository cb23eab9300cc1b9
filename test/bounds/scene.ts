/** A sandbox, a sidecar in a process of its own before it, and what a bot does with them. */
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as elapsed } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { Keyring } from '../../src/keys/keyring.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { openStore } from '../../src/store/open-store.ts'
import {
  forgetPeak,
  peakBytes,
  startSidecarProcess,
  untilReady,
  type SidecarProcess,
} from '../support/sidecar-process.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { callAt } from '../support/bot-call.ts'
import { startFront, type Front } from './front.ts'

/**
 * What the sidecar may hold in memory, whatever it is sent (SECURITY, I8). A single bomb or flood
 * that went through would exceed it.
 */
export const MEMORY_BOUND = 512 * 2 ** 20

/** Between the calls of a bot that goes on with other things. */
const PAUSE_MS = 20

export const PASSPHRASE = 'a passphrase for bounds'

export interface Reply {
  status: number
  json: { ok: boolean; result?: unknown; error?: { code: string; message: string } }
}

/** An update's message as the bot gets it. */
export interface Got {
  id: number
  chat: { id: number }
  text?: string
  armored?: string
  postern?: { opened: boolean; verdict: string; reason?: string }
}

export interface SceneOptions {
  /** How many keys the bot has, all but one of them retired; 1 by default. */
  keys?: number
  env?: Record<string, string>
}

/** A scene for the tests of a file, whose sidecar is ready and knows every chat of the home. */
export function useScene(options: SceneOptions = {}): Scene {
  const scene = new Scene()
  beforeAll(() => scene.open(options))
  afterAll(() => scene[Symbol.asyncDispose]())
  return scene
}

export class Scene implements AsyncDisposable {
  sandbox!: Sandbox
  sidecar!: SidecarProcess
  /** Between the sidecar and the sandbox. */
  front!: Front
  /** The certificates of the bot, the published one first. */
  certificates: string[] = []
  readonly #resources = new AsyncDisposableStack()
  #offset = 0

  async open(options: SceneOptions): Promise<void> {
    const stack = this.#resources
    const sandbox = stack.use(await createSandbox({ rates: 'off' }))
    this.sandbox = sandbox
    this.front = stack.use(await startFront(sandbox.url))
    const home = mkdtempSync(join(tmpdir(), 'postern-bounds-'))
    stack.defer(() => rmSync(home, { recursive: true, force: true }))
    const dataDir = join(home, 'data')
    const made = options.keys === undefined ? [] : await makeKeys(dataDir, options.keys)
    const [published] = made
    if (published !== undefined) {
      const { certificate: publicKey, fingerprint } = published
      await sandbox.control.setBotKey({ botId: sandbox.home.bot.id, publicKey, fingerprint })
    }
    this.sidecar = stack.use(
      await startSidecarProcess({
        cwd: home,
        env: {
          POSTERN_UPSTREAM_URL: this.front.url,
          POSTERN_BOT_TOKEN: sandbox.token,
          POSTERN_KEY_PASSPHRASE: PASSPHRASE,
          // `makeKeys` makes a store under the passphrase
          ...(options.keys === undefined && { POSTERN_KEY_PROTECTION: 'none' }),
          POSTERN_DATA_DIR: dataDir,
          ...options.env,
        },
      }),
    )
    await untilReady(this.sidecar.admin)
    this.certificates = made.map(({ certificate }) => certificate)
    if (made.length === 0) this.certificates.push(publishedIn(sandbox))
    await sandbox.phone(sandbox.home.alice.id)
    await sandbox.phone(sandbox.home.bob.id)
    for (const { id } of sandbox.chats) await this.call('GET', `/chats/${id}`)
    forgetPeak(this.sidecar.pid)
  }

  /** A call of the bot's. */
  async call(method: string, path: string, body?: unknown): Promise<Reply> {
    return await callAt(this.sidecar.bot, this.sandbox.token, { method, path, body })
  }

  /** What a call of the bot's comes to, while it goes on with other things: a status, or a code too. */
  async outcome(method: string, path: string, body?: unknown): Promise<string | number> {
    const { status, json } = await this.meanwhile(this.call(method, path, body))
    return json.ok ? status : `${status} ${json.error?.code}`
  }

  /** Takes everything that waits, as a bot does that handles it and confirms it. */
  async take(): Promise<Got[]> {
    const taken: Got[] = []
    for (;;) {
      const polled = await this.call('GET', `/updates?offset=${this.#offset}`)
      if (polled.status !== 200) throw new Error(`updates: ${polled.json.error?.code}`)
      const updates = polled.json.result as { updateId: number; message: Got }[]
      if (updates.length === 0) return taken
      this.#offset = (updates.at(-1)?.updateId ?? 0) + 1
      taken.push(...updates.map(({ message }) => message))
    }
  }

  /** Hands in a message as alice's phone would, whatever is in it. */
  async post(chatId: number, armored: string): Promise<number> {
    const { alice, bot } = this.sandbox.home
    const posted = { userId: alice.id, chatId, armored, addressed: [bot.id] }
    return (await this.sandbox.control.post(posted)).messageId
  }

  /** Posts all to the private chat. @returns what became of each; they come out in their order */
  async fatesOf(messages: readonly string[]): Promise<string[]> {
    const { privateChat } = this.sandbox.home
    const ids: number[] = []
    for (const message of messages) ids.push(await this.post(privateChat, message))
    const got = await this.meanwhile(this.take())
    expect(got.map(({ id }) => id)).toEqual(ids)
    return ids.map((id) => fate(got, id))
  }

  /** Waits for something while the bot goes on with other things, which must all be answered. */
  async meanwhile<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    const watched = work.finally(() => (isOver = true))
    const { encryptedGroup, readableGroup } = this.sandbox.home
    const others = async (): Promise<void> => {
      do {
        await this.#mustSucceed('GET', '/me')
        const body = { chatId: readableGroup, text: 'something else' }
        await this.#mustSucceed('POST', '/messages', body)
        await this.#mustSucceed('GET', `/chats/${encryptedGroup}`)
        // where the work lasts long, it is waiting
        await Promise.race([watched.catch(() => undefined), elapsed(PAUSE_MS)])
      } while (!isOver)
    }
    const [result] = await Promise.all([watched, others()])
    const peak = peakBytes(this.sidecar.pid)
    if (!(peak < MEMORY_BOUND)) throw new Error(`the sidecar took ${peak} bytes of memory`)
    return result
  }

  async #mustSucceed(method: string, path: string, body?: unknown): Promise<void> {
    const { status, json } = await this.call(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${json.error?.code ?? status}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync()
  }
}

/** Makes a store that has rotated so often. @returns the keys, the active one first */
export async function makeKeys(
  dataDir: string,
  count: number,
  passphrase = PASSPHRASE,
): Promise<{ fingerprint: string; certificate: string }[]> {
  await using store = await openStore({ dataDir, passphrase, mode: 'create' })
  await using engine = createEngine()
  const ring = await Keyring.load(memoryOf(store), engine, {
    retainMs: 30 * 86_400_000,
    time: SYSTEM_TIME,
    serviceNowMs: () => null,
  })
  for (let n = 0; n < count; n++) {
    const { fingerprint } = await ring.makePending(`bot ${n}`)
    await ring.promote(fingerprint)
  }
  return ring.all.map(({ fingerprint, certificate }) => ({ fingerprint, certificate }))
}

function publishedIn(sandbox: Sandbox): string {
  const put = sandbox.transcript
    .list()
    .findLast(({ method, path }) => method === 'PUT' && path.endsWith('/key'))
  return (JSON.parse(put?.body ?? '{}') as { publicKey?: string }).publicKey ?? ''
}

/** Text of the message with this id, or what became of it. */
export function fate(got: readonly Got[], messageId: number): string {
  const message = got.find(({ id }) => id === messageId)
  if (message === undefined) return 'missing'
  const { verdict = 'untouched', reason } = message.postern ?? {}
  const outcome = reason === undefined ? verdict : `${verdict}: ${reason}`
  return message.text === undefined ? outcome : `${outcome}, delivered`
}
