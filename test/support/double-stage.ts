/** One double with one sidecar before it, shared by the tests of a file. */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { CURVES, GpgPhone, keyOf, type PersonPhone, type Phone } from './double-phones.ts'
import { DoubleService } from './double-service.ts'
import type { Json } from './double-wire.ts'
import type { DoubleChat, ListedPerson } from './double-world.ts'
import { copyOfStore } from './generated-store.ts'
import { LibraryPhone } from './library-phone.ts'
import { Sidecar, startSidecar } from './sidecar.ts'
import { spellings } from './spellings.ts'

/** A person with a phone, known to the double. */
export interface Person<P extends Phone = PersonPhone> extends ListedPerson {
  phone: P
}

export interface StageOptions {
  env?: Record<string, string>
  /** Where the sidecar keeps its data; a folder of its own when not given. */
  dataDir?: string
  /** Changes the double before the sidecar starts. */
  before?: (double: DoubleService) => void
  /** False: the sidecar is a process of its own, and not in the test's (`SidecarOptions`). */
  inside?: boolean
  /** False: the sidecar is started, and not waited for until it is ready. */
  ready?: boolean
}

/** The stage of a test file; filled before its first test. */
export class Stage {
  double!: DoubleService
  sidecar!: Sidecar
  readonly #things = new AsyncDisposableStack()
  #friend: Promise<Person> | undefined

  /** Something that ends with the file. */
  use<T extends AsyncDisposable>(thing: T): T {
    return this.#things.use(thing)
  }

  async begin({
    env = {},
    dataDir,
    before,
    inside = true,
    ready = true,
  }: StageOptions): Promise<void> {
    this.double = this.use(await DoubleService.start())
    before?.(this.double)
    const isOrdinary = before === undefined && !('POSTERN_KEY_PROTECTION' in env)
    const made = dataDir === undefined && isOrdinary ? await copyOfStore() : undefined
    this.sidecar = await startSidecar({
      upstream: this.double.url,
      env,
      inside,
      ...(dataDir !== undefined && { dataDir }),
      ...(made !== undefined && { dataDir: made, isTemporary: true }),
    })
    if (ready) await this.sidecar.whenReady()
  }

  async end(): Promise<void> {
    await this.sidecar?.[Symbol.asyncDispose]()
    await this.#things.disposeAsync()
  }

  /** Stops the sidecar and starts it again over the same data. */
  async restart(env?: Record<string, string>): Promise<Sidecar> {
    this.sidecar = await this.sidecar.again(env && { env })
    return this.sidecar
  }

  /** A second service and sidecar, which need not be ready; for what must begin anew. */
  async another(before: (double: DoubleService) => void): Promise<Stage & AsyncDisposable> {
    const stage = new Stage()
    await stage.begin({ before, ready: false })
    return Object.assign(stage, { [Symbol.asyncDispose]: () => stage.end() })
  }

  /** The bot's certificate, as the service got it. */
  get botCertificate(): string {
    return this.double.world.published?.publicKey ?? ''
  }

  /** A person with a phone of the run's kind. */
  async person(o: NewPhoneOptions = {}): Promise<Person> {
    return this.with(await newPhone(o))
  }

  /** One and the same person, for tests to which it does not matter who it is. */
  async friend(): Promise<Person> {
    this.#friend ??= this.person()
    return await this.#friend
  }

  /** A person with this phone. */
  with<P extends Phone>(phone: P): Person<P> {
    this.use(phone)
    return Object.assign(this.double.world.addUser(keyOf(phone)), { phone })
  }

  privateChat(person: ListedPerson, more: Partial<DoubleChat> = {}): DoubleChat {
    return this.double.world.addChat({ kind: 'private', people: [person], ...more })
  }

  /** A group; protected unless `historyVisible`. */
  group(people: ListedPerson[], more: Partial<DoubleChat> = {}): DoubleChat {
    return this.double.world.addChat({ kind: 'group', people, ...more })
  }

  openGroup(more: Partial<DoubleChat> = {}): DoubleChat {
    return this.group([], { historyVisible: true, ...more })
  }

  /** The bytes of the last answer to such a call, as the service gave it. */
  lastAnswer(method: string, path: string): string | undefined {
    return this.double.calls(method, path).at(-1)?.answered?.body.toString()
  }

  /** Lets the sidecar see a chat in an update, so that it knows its kind. */
  async show(chat: DoubleChat): Promise<void> {
    await this.deliver([this.double.world.message(chat, null, { kind: 'joined' })])
  }

  /** The same for messages. @returns the Messages that the bot gets */
  async deliver(messages: Json[]): Promise<Json[]> {
    const updates = await this.deliverUpdates(
      messages.map((message) => ({ kind: 'message', message })),
    )
    return updates.map(({ message }) => message)
  }

  /**
   * Puts updates into the queue and polls until all have come: an answer may hold fewer than there
   * are, and each poll confirms what came before it.
   */
  async deliverUpdates(updates: Json[]): Promise<Json[]> {
    const ids = updates.map((update) => this.double.world.push(update))
    const got: Json[] = []
    for (let polls = 0; got.length < ids.length && polls <= ids.length; polls++) {
      const path = `/updates?offset=${ids[got.length]}&timeout=5`
      const { status, json } = await this.sidecar.call('GET', path)
      expect(status).toBe(200)
      got.push(...json.result)
    }
    return got
  }

  /**
   * Asks for the same updates again, as a bot does that lost an answer, or after a restart.
   * @param from the first update that was not confirmed
   */
  async askAgain(from: number): Promise<Json[]> {
    const { status, json } = await this.sidecar.call('GET', `/updates?offset=${from}&timeout=5`)
    expect(status).toBe(200)
    return json.result
  }

  async send(chat: DoubleChat, text: string, more: Record<string, unknown> = {}) {
    return await this.sidecar.call('POST', '/messages', { chatId: chat.id, text, ...more })
  }

  async edit(chat: DoubleChat, id: number, more: Record<string, unknown>) {
    return await this.sidecar.call('PATCH', `/messages/${id}`, { chatId: chat.id, ...more })
  }

  /** The bodies that the double got by send and edit since a position of its log. */
  bodies(since: number): Json[] {
    return this.double
      .calls(undefined, /^\/messages/, since)
      .filter(({ method }) => method === 'POST' || method === 'PATCH')
      .map(({ json }) => json)
  }

  /** Nobody but the bot and the people ever saw these words: not the service, no log, no file. */
  expectNowhere(words: string): void {
    const files = readdirSync(this.sidecar.dataDir, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(join(this.sidecar.dataDir, name)))
    const places = {
      service: [this.double.bytes()],
      log: [Buffer.from(this.sidecar.logs())],
      files,
    }
    for (const [place, contents] of Object.entries(places)) {
      for (const spelling of spellings(words)) {
        const found = contents.some((content) => content.includes(spelling))
        expect(found, `${place} saw the words as ${spelling}`).toBe(false)
      }
    }
  }
}

interface NewPhoneOptions {
  /** When its key was made, ms since the epoch; a minute ago when not given. */
  createdMs?: number
}

/** A phone of the run's kind: GnuPG where `TESTS_PHONES=gpg`, else openpgp.js in this process. */
export async function newPhone({ createdMs }: NewPhoneOptions = {}): Promise<PersonPhone> {
  if (process.env['TESTS_PHONES'] !== 'gpg') return await LibraryPhone.make(createdMs)
  if (createdMs === undefined) return await GpgPhone.make()
  const created = `Creation-Date: seconds=${Math.floor(createdMs / 1000)}`
  return await GpgPhone.make({ parameters: [...CURVES, created] })
}

let canaries = 0

/** Words that stand nowhere else. */
export function canary(): string {
  return `canary-${process.pid}-${++canaries}-${randomBytes(6).toString('hex')}`
}

/** Sets the stage before the first test of a file and strikes it after the last. */
export function useStage(options: StageOptions = {}): Stage {
  const stage = new Stage()
  beforeAll(() => stage.begin(options))
  afterAll(() => stage.end())
  return stage
}
