/** A sandbox, bots in it, and what their calls cost a sidecar on a store that was filled. */
import { execFile } from '../support/programs.ts'
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { makeKeys } from '../bounds/scene.ts'
import { callOf, send as sendAs, type Update } from './bench-bots.ts'
import { addPeople } from './crowd.ts'
import { databaseIn } from './growth-fill.ts'
import { WATCHED } from './loop-times.ts'
import { median, temporaryFolder, timeOf } from './measure.ts'
import { cpuMsOf, takenBy } from './package.ts'
import { startPostern, type Process } from './processes.ts'

const MAIN = fileURLToPath(new URL('../../bin/postern.cjs', import.meta.url))
/** Of `startPostern`. */
const PASSPHRASE = 'bench'
const STARTS = 3
const WARMUPS = 5
/** Until what follows a call is done: outcomes are written, the next message is made ahead. */
const SETTLE_MS = 2200
/** A sidecar with nothing to do takes less than `cpuMs` in each of so many looks. */
const QUIET = { looks: 3, everyMs: 250, cpuMs: 5, mostLooks: 60 }
const MIB = 1024 * 1024

/** Costs by name. */
export type Costs = Record<string, number>

/** A bot, its sidecar's data directory, and a chat in which it sends and reads. */
export interface GrowthBot {
  id: number
  token: string
  dataDir: string
  /** With alice. */
  privateChat: number
  /** The next update. */
  offset: number
}

/** How a store is measured. */
export interface Measurement {
  dataDir: string
  chatId: number
  calls: number
  /** What else is measured while the sidecar is up. */
  more?: (postern: Process, bot: GrowthBot) => Promise<Costs>
}

export class Stage implements AsyncDisposable {
  readonly sandbox: Sandbox
  readonly #folder = temporaryFolder()
  readonly folder = this.#folder.path
  #people: number[] = []
  #copies = 0
  #bots = 0

  private constructor(sandbox: Sandbox) {
    this.sandbox = sandbox
  }

  static async open(): Promise<Stage> {
    const sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
    // makes the key of alice
    await sandbox.phone(sandbox.home.alice.id)
    return new Stage(sandbox)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }

  /** A new bot, with a store in which a sidecar has run. @param keys all but one of them retired */
  async addBot(keys: number): Promise<GrowthBot> {
    const { control, home } = this.sandbox
    const name = `growth${this.#bots++}_bot`
    const { id, token } = await control.addBot({ username: name, privacyMode: false })
    const dataDir = join(this.folder, name)
    const [active] = await makeKeys(dataDir, keys, PASSPHRASE)
    if (active === undefined) throw new Error('no key was made')
    const { certificate: publicKey, fingerprint } = active
    await control.setBotKey({ botId: id, publicKey, fingerprint })
    const chat = await control.addPrivateChat({ userId: home.alice.id, botId: id })
    const bot = { id, token, dataDir, privateChat: chat.id, offset: 0 }
    await using postern = await this.#start(bot, dataDir)
    await send(postern, bot, chat.id)
    await this.#write(chat.id)
    await read(postern, bot)
    return bot
  }

  /** A group of the bot, alice and others, with so many people in all. @returns its id */
  async addGroup(bot: GrowthBot, people: number): Promise<number> {
    const missing = people - 1 - this.#people.length
    const name = `crowd${this.#people.length}`
    if (missing > 0) this.#people.push(...(await addPeople(this.sandbox, missing, name)))
    const { control, home } = this.sandbox
    const members = [home.alice.id, ...this.#people.slice(0, people - 1), bot.id]
    return (await control.addRoom({ kind: 'group', title: `${people} people`, members })).id
  }

  /** A copy of a bot's store. @returns its data directory */
  copyOf({ dataDir }: GrowthBot): string {
    const copy = `${dataDir}-${this.#copies++}`
    cpSync(dataDir, copy, { recursive: true })
    return copy
  }

  /** Deletes a copy, for the sake of the disk. */
  remove(dataDir: string): void {
    rmSync(dataDir, { recursive: true })
  }

  /** What starts, sends and updates cost on a store, which is left as it is then. */
  async measure(bot: GrowthBot, o: Measurement): Promise<Costs> {
    const { dataDir } = o
    const starts: Costs[] = []
    let calls: Costs = {}
    for (let n = 0; n < STARTS; n++) {
      await using postern = await this.#start(bot, dataDir)
      const { cpuMs, memory } = takenBy(postern)
      const first = await this.#first(postern, bot, o.chatId)
      const own = { 'start, CPU ms': cpuMs, 'memory when ready, MiB': memory }
      starts.push({ 'start, ms': postern.readyMs, ...own, ...first })
      if (n < STARTS - 1) continue
      calls = {
        ...(await this.#repeat('send', postern, {
          ...o,
          call: () => send(postern, bot, o.chatId),
        })),
        ...(await this.#repeat('update', postern, {
          ...o,
          call: async () => {
            await this.#write(o.chatId)
            return await read(postern, bot)
          },
        })),
        'memory after calls, MiB': takenBy(postern).memory,
        ...(await o.more?.(postern, bot)),
      }
    }
    const names = Object.keys(starts[0] ?? {})
    const medians = names.map((name) => [name, median(starts.map((one) => one[name] ?? 0))])
    return { ...Object.fromEntries(medians), ...calls, 'on disk, MiB': sizeOf(dataDir) }
  }

  /** How long `postern backup create` lasts, and the longest send meanwhile. */
  async backup(postern: Process, bot: GrowthBot, dataDir: string): Promise<Costs> {
    const file = join(this.folder, 'backup')
    const env = { PATH: process.env['PATH'], HOME: this.folder, POSTERN_DATA_DIR: dataDir }
    const startedAt = performance.now()
    let isOver = false
    const copying = promisify(execFile)(
      process.execPath,
      [MAIN, 'backup', 'create', '--force', file],
      { env },
    ).finally(() => (isOver = true))
    let longest = 0
    while (!isOver) longest = Math.max(longest, await send(postern, bot, bot.privateChat))
    await copying
    const ms = performance.now() - startedAt
    rmSync(file)
    return { 'backup create, ms': ms, 'longest send during it, ms': longest }
  }

  #start(bot: GrowthBot, dataDir: string): Promise<Process> {
    return startPostern({
      upstream: this.sandbox.url,
      token: bot.token,
      publish: true,
      dataDir,
      statementCounts: this.#countsFile,
    })
  }

  get #countsFile(): string {
    return join(this.folder, 'statements')
  }

  /** The first send and update after a start, when the chat's key list must be read. */
  async #first(postern: Process, bot: GrowthBot, chatId: number): Promise<Costs> {
    const cpuMs = cpuMsOf(postern.pid)
    await send(postern, bot, chatId)
    const sentMs = cpuMsOf(postern.pid)
    await this.#write(chatId)
    await read(postern, bot)
    return {
      'first send, CPU ms': sentMs - cpuMs,
      'first update, CPU ms': cpuMsOf(postern.pid) - sentMs,
    }
  }

  /** @param o `call` gives its ms */
  async #repeat(
    name: string,
    { pid }: Process,
    { call, calls }: { call: () => Promise<number>; calls: number },
  ): Promise<Costs> {
    for (let n = 0; n < WARMUPS; n++) await call()
    await untilQuiet(pid)
    writeFileSync(this.#countsFile, '')
    const cpuMs = cpuMsOf(pid)
    const times: number[] = []
    for (let n = 0; n < calls; n++) times.push(await call())
    await pause(SETTLE_MS)
    const statements = readFileSync(this.#countsFile, 'utf8').trim().split('\n').map(Number)
    return {
      [`${name}, ms`]: median(times),
      [`${name}, CPU ms`]: (cpuMsOf(pid) - cpuMs) / calls,
      [`${name}, statements`]: median(statements),
    }
  }

  /** Has alice write. */
  async #write(chatId: number): Promise<void> {
    const phone = await this.sandbox.phone(this.sandbox.home.alice.id)
    await phone.write(chatId, 'x'.repeat(400))
  }
}

/** Until new certificates are checked, and messages made ahead. */
async function untilQuiet(pid: number): Promise<void> {
  let quiet = 0
  for (let look = 0; look < QUIET.mostLooks && quiet < QUIET.looks; look++) {
    const before = cpuMsOf(pid)
    await pause(QUIET.everyMs)
    quiet = cpuMsOf(pid) - before < QUIET.cpuMs ? quiet + 1 : 0
  }
}

/** MiB of a store, once its sidecar has stopped. */
export const sizeOf = (dataDir: string): number => statSync(databaseIn(dataDir)).size / MIB

/** Sends a message. @returns ms */
async function send(postern: Process, { token }: GrowthBot, chatId: number): Promise<number> {
  return await timeOf(async () => {
    const status = await sendAs(postern, { token, chatId }, WATCHED)
    if (status !== 201) throw new Error(`a send was answered with ${status}`)
  })
}

/** Reads what waits; the last of it must have a text. @returns ms */
export async function read(postern: Process, bot: GrowthBot): Promise<number> {
  return await timeOf(async () => {
    const path = `/updates?timeout=20&offset=${bot.offset}`
    const call = { method: 'GET', path, headers: { 'user-agent': WATCHED } }
    const updates = (await callOf(postern, bot, call)) as Update[]
    const last = updates.at(-1)
    if (last?.message?.text === undefined) throw new Error(`no text in ${JSON.stringify(updates)}`)
    bot.offset = last.updateId + 1
  })
}
