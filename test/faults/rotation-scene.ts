/**
 * One rotation, over and over from the same beginning: a store with one published key, a person
 * whose phone seals to whatever the service shows, a bot that polls and sends.
 */
import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connectControl } from '../../src/operators/client.ts'
import type { KeyRow } from '../../src/operators/keys.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import type { Phone } from '../../src/sandbox/phone/phone.ts'
import { callAt, type BotCall } from '../support/bot-call.ts'
import { startSidecarProcess, untilReady, type SidecarProcess } from '../support/sidecar-process.ts'

const WITHIN_MS = 120_000

interface Send {
  sendId: string
  text: string
}

export class RotationScene implements AsyncDisposable {
  readonly sandbox: Sandbox
  readonly #alice: Phone
  readonly #home = mkdtempSync(join(tmpdir(), 'rotation-kills-'))
  readonly #dataDir = join(this.#home, 'data')
  readonly #first = join(this.#home, 'first')
  /** The body that published the first key. */
  #firstKey = ''
  #offset = 0
  #heard = new Set<string>()

  private constructor(sandbox: Sandbox, alice: Phone) {
    this.sandbox = sandbox
    this.#alice = alice
  }

  /** Publishes the first key, and keeps the store as it is then. */
  static async set(): Promise<RotationScene> {
    const sandbox = await createSandbox({ rates: 'off', transcriptCalls: 100_000 })
    const scene = new RotationScene(sandbox, await sandbox.phone(sandbox.home.alice.id))
    const sidecar = await scene.start()
    scene.#firstKey = scene.#puts(0).at(-1)?.body ?? ''
    await scene.write()
    await scene.#hear(sidecar, 1)
    await sidecar.stop('SIGTERM')
    cpSync(scene.#dataDir, scene.#first, { recursive: true })
    return scene
  }

  /** Begins anew: the first store, the first key at the service. @returns a mark for `judge` */
  async reset(): Promise<number> {
    rmSync(this.#dataDir, { recursive: true, force: true })
    cpSync(this.#first, this.#dataDir, { recursive: true })
    const { url, token } = this.sandbox
    await callAt(url, token, { method: 'PUT', path: '/key', body: this.#firstKey })
    this.#heard.clear()
    return this.sandbox.transcript.list().at(-1)?.n ?? 0
  }

  /** Starts the sidecar and waits until it is ready. */
  async start(): Promise<SidecarProcess> {
    const sidecar = await startSidecarProcess({
      cwd: this.#home,
      env: {
        POSTERN_UPSTREAM_URL: this.sandbox.url,
        POSTERN_BOT_TOKEN: this.sandbox.token,
        POSTERN_KEY_PASSPHRASE: 'correct-horse-battery-staple-0815',
        POSTERN_DATA_DIR: this.#dataDir,
        POSTERN_LOG_LEVEL: 'info',
      },
    })
    await untilReady(sidecar.admin, WITHIN_MS)
    return sidecar
  }

  /** Lets the person write something, sealed to the key that the service shows now. */
  async write(): Promise<string> {
    const words = `words ${randomUUID()}`
    await this.#alice.write(this.sandbox.home.privateChat, words)
    return words
  }

  /** Asks for a rotation and waits until it is over or waits for another try, or the sidecar ends. */
  async rotate(sidecar: SidecarProcess): Promise<void> {
    const rotating = this.#rotateToTheEnd().catch(() => undefined)
    await Promise.race([sidecar.ended, rotating])
  }

  /** Sends what is not sent yet; the same sends may be made again after a kill. */
  async send(sidecar: SidecarProcess, sends: Iterable<Send>): Promise<void> {
    await Promise.all(
      [...sends].map(async ({ sendId, text }) => {
        const body = { chatId: this.sandbox.home.privateChat, text, sendId }
        await this.#call(sidecar, { method: 'POST', path: '/messages', body }).catch(() => null)
      }),
    )
  }

  /**
   * What was broken, seen from a sidecar that was started again and is ready.
   * @param o `since` the mark of `reset`, `written` what the person wrote, `sends` the bot's
   */
  async judge(
    sidecar: SidecarProcess,
    o: { since: number; written: string[]; sends: Send[] },
  ): Promise<string[]> {
    const keys = await this.#keys()
    const { me } = await this.sandbox.control.bot({ botId: this.sandbox.home.bot.id })
    const shown = (me as { fingerprint: string | null }).fingerprint?.toLowerCase()
    const active = keys.filter(({ state }) => state === 'active')
    const put = new Set(this.#puts(o.since).map(({ body }) => fingerprintIn(body)))
    const lost = [...put].filter((one) => !keys.some((key) => key.fingerprint === one && key.opens))
    await this.send(sidecar, o.sends)
    await this.#hear(sidecar, o.written.length)
    const unheard = o.written.filter((words) => !this.#heard.has(words))
    return [
      ...(active.length === 1 && active[0]?.fingerprint === shown
        ? []
        : ['the published key is not the active one']),
      ...(keys.some(({ state }) => state === 'pending') ? ['a key is still pending'] : []),
      ...(keys.length <= 2 ? [] : [`one rotation made ${keys.length - 1} keys`]),
      ...(lost.length === 0 ? [] : [`${lost.length} keys that were published are lost`]),
      ...(unheard.length === 0 ? [] : [`${unheard.length} messages are unreadable`]),
      ...(await this.#badSends(o.sends)),
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox[Symbol.asyncDispose]()
    rmSync(this.#home, { recursive: true, force: true })
  }

  async #rotateToTheEnd(): Promise<void> {
    await using control = await connectControl(this.#dataDir, WITHIN_MS)
    if (control === null) return
    await control.keyRotate()
    for (;;) {
      const rotation = await control.keyRotation()
      if (rotation?.phase === 'done' || rotation?.phase === 'waiting') return
      await pause(100)
    }
  }

  async #keys(): Promise<KeyRow[]> {
    await using control = await connectControl(this.#dataDir, WITHIN_MS)
    return (await control?.keyList()) ?? []
  }

  /** Polls until so many of the person's messages came with their text, or no more come. */
  async #hear(sidecar: SidecarProcess, count: number): Promise<void> {
    for (let empty = 0; this.#heard.size < count && empty < 3;) {
      const path = `/updates?offset=${this.#offset}&timeout=1`
      const { result } = await this.#call(sidecar, { method: 'GET', path })
      const updates = result as { updateId: number; message?: { text?: string } }[]
      for (const { updateId, message } of updates) {
        this.#offset = updateId + 1
        if (message?.text !== undefined) this.#heard.add(message.text)
      }
      empty = updates.length === 0 ? empty + 1 : 0
    }
  }

  /** Every send is there, once, and the person can read it. */
  async #badSends(sends: Send[]): Promise<string[]> {
    await this.#alice.settled()
    return sends.flatMap(({ text }) => {
      const seen = this.#alice.inbox.filter((one) => one.text === text)
      return seen.length === 1 ? [] : [`a send is there ${seen.length} times`]
    })
  }

  #puts(since: number) {
    return this.sandbox.transcript
      .list(since)
      .filter(({ method, path }) => method === 'PUT' && path.endsWith('/key'))
  }

  async #call({ bot }: SidecarProcess, call: BotCall): Promise<{ result: unknown }> {
    return (await callAt(bot, this.sandbox.token, call)).json
  }
}

function fingerprintIn(body: string): string {
  return /"fingerprint":"(\w+)"/.exec(body)?.[1]?.toLowerCase() ?? ''
}
