/**
 * Which files run when a message is sent into a group that was sealed to before, and when a polled
 * update with a sealed message is opened: V8's coverage of the calling thread and of the worker threads.
 */
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { Session, type NodeWorker, type Profiler } from 'node:inspector'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tmpdir } from 'node:os'
import {
  ClearFields,
  Guard,
  loadKernel,
  Presses,
  ReplayMemory,
  Unseen,
} from '../../src/kernel/index.ts'
import type { JudgedMessage, Memory } from '../../src/kernel/index.ts'
import { Clocks } from '../../src/kernel/clocks.ts'
import { Directory } from '../../src/service/lookups/directory.ts'
import { READERS } from '../../src/service/lookups/readers.ts'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import { readSend } from '../../src/translate/draft.ts'
import { Incoming, type IncomingParts } from '../../src/translate/incoming.ts'
import { Outgoing, type OutgoingParts } from '../../src/translate/outgoing.ts'
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { makeCommonKey } from '../../src/sandbox/phone/make-key.ts'

const ROOT = join(import.meta.dirname, '../..')
const GROUP = 5
/** More than are sealed to in the calling thread: the threads take part. */
const PEOPLE = 40

/** A file in which functions ran, with its lines. */
export interface ReadFile {
  file: string
  lines: number
  /** Names of the functions that ran. */
  functions: string[]
}

/** What a send reads. */
export interface PathRead {
  /** Files in which anything runs from the look-up of the certificates until the message is sealed. */
  send: ReadFile[]
  /** Files in which anything runs until the next message for the group is prepared. */
  preparation: ReadFile[]
  /** Files in which anything runs until a polled update with one sealed message is opened. */
  update: ReadFile[]
}

/** Sends to a group that was sealed to before, opens a person's message there, and records what runs. */
export async function readPath(): Promise<PathRead> {
  let onPrepared = (): void => {}
  await using engine = createEngine({ onPrepared: () => onPrepared() })
  const dataDir = mkdtempSync(join(tmpdir(), 'postern-path-'))
  await using store = await openStore({ dataDir, passphrase: null, mode: 'create' })
  const { outgoing, receive } = await makeDirections(engine, memoryOf(store))
  const send = async (): Promise<void> => {
    const body = { chatId: GROUP, text: 'hello' }
    const { leave } = await outgoing.prepare(readSend(body, { textMax: 4000, sealsForBot: true }))
    leave()
  }
  const prepared = async (work: () => Promise<void>): Promise<void> => {
    const ready = new Promise<void>((resolve) => (onPrepared = resolve))
    await work()
    await ready
  }
  try {
    await receive()
    await prepared(send)
    await prepared(send)
    await quiet(engine)
    using coverage = await Coverage.begin()
    let sealed: ReadFile[] = []
    await prepared(async () => {
      await send()
      sealed = await coverage.take()
    })
    await quiet(engine)
    const preparation = await coverage.take()
    await receive(async () => void (await coverage.take()))
    return { send: sealed, preparation, update: await coverage.take() }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/**
 * What seals and opens, over a real memory; the service answers every key list with the same people.
 * `receive` opens a new message of the first of them.
 */
async function makeDirections(engine: MeasuredEngine, memory: Memory) {
  const createdMs = Date.now() - 300_000
  const people = await Promise.all(
    Array.from({ length: PEOPLE }, (_, index) =>
      makeCommonKey({ userId: `person ${index}`, createdMs }),
    ),
  )
  const bot = await makeCommonKey({ userId: 'bot', createdMs })
  const { key: unlocked } = bot
  const clocks = new Clocks(SYSTEM_TIME, () => null)
  const own = new Set(unlocked.fingerprints)
  const kernel = await loadKernel({
    memory,
    engine,
    policy: 'accept',
    own: () => own,
    clocks,
    readers: READERS,
  })
  await kernel.sightings.sawProtected(GROUP)
  const keys = people.map(({ certificate }, at) => ({ userId: at + 10, publicKey: certificate }))
  const list = { keys, memberCount: PEOPLE + 1 }
  const calls = {
    chatKeys: () => Promise.resolve(new Unseen(list)),
    userKey: () => Promise.reject(new Error('not asked')),
  }
  const guard = new Guard({
    time: SYSTEM_TIME,
    fresh: () => Promise.resolve(),
    freshForMs: Infinity,
    knownChats: kernel.knownChats,
    modes: { get: () => Promise.reject(new Error('not asked')) },
    ownsKey: () => true,
    sealsForBot: true,
    readableGroups: 'allow',
    chatMaxAgeMs: 60_000,
  })
  const key = Buffer.alloc(32)
  // a wait for the disk would let the preparation of the next message begin
  const notes: Memory = { ...memory, note: () => Promise.resolve(undefined as never) }
  const replays = { key, gaps: [], clock: clocks }
  const replayMemory = await ReplayMemory.load(notes, replays)
  const entered = { signer: { unlocked }, requireHeld: () => {}, leave: () => {} }
  const presses = new Presses(memory)
  const shared = {
    ...kernel,
    guard,
    directory: new Directory({ calls, ...kernel }),
    engine,
    replayMemory,
    keyring: { all: [], fingerprints: own, unlocked: [unlocked], firstPublishedAtMs: createdMs },
    botId: () => 1,
    time: SYSTEM_TIME,
    keyListMaxAgeMs: 60_000,
  }
  const outgoing = new Outgoing({
    ...shared,
    clearFields: new ClearFields({ guard, presses, policy: 'warn' }),
    publication: {
      expectSend: () => {},
      requirePublished: () => entered.signer,
      enter: async <T>(prepare: () => Promise<T>) => ({ ...entered, prepared: await prepare() }),
    },
    unusableRecipient: 'skip',
    armoredMax: () => 131_072,
  } as unknown as OutgoingParts)
  const incoming = new Incoming({
    ...shared,
    readableMax: () => 131_072,
    replayMemory: await ReplayMemory.load(memory, replays),
    modes: { forget: () => {} },
    clock: clocks,
    fresh: () => Promise.resolve(),
    keyChanges: { tell: () => Promise.resolve([]) },
    urls: { rewrite: () => Promise.resolve({ changed: false, count: 1 }) },
    presses,
    hear: (_update: unknown, messages: readonly JudgedMessage[]) => Promise.resolve([...messages]),
    audience: 'check',
    verify: 'flag',
    normalizeText: true,
  } as unknown as IncomingParts)
  const certificates = [...people.slice(1), bot].map(({ certificate }) => certificate)
  let messageId = 0
  const receive = async (onSealed = async (): Promise<void> => {}): Promise<void> => {
    const signer = people[0]!.key
    const sealing = { text: 'hello', certificates, signer, cipher: 'aes256' } as const
    const { json } = await engine.sealKnown({ ...sealing, isUnnamed: true, place: 'phone' })
    const armored: unknown = JSON.parse(`"${Buffer.concat([...json]).toString()}"`)
    await quiet(engine)
    const [id, date] = [++messageId, Date.now()]
    const message = { id, chat: { id: GROUP, kind: 'group' }, from: { id: 10 }, date, armored }
    const update = { updateId: id, kind: 'message', message }
    await onSealed()
    const { updates } = await incoming.open([update])
    const { text, postern } = (updates[0] as { message: Record<string, unknown> }).message
    if (text !== 'hello') throw new Error(`not opened: ${JSON.stringify(postern)}`)
  }
  return { outgoing, receive }
}

/** Resolves when no thread of the engine has had a job for a while. */
async function quiet(engine: ReturnType<typeof createEngine>): Promise<void> {
  for (let times = 0; times < 15;) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    const loads = Object.values(engine.load().threads)
    times = loads.some(({ busy, waiting }) => busy + waiting > 0) ? 0 : times + 1
  }
}

/** Precise coverage of all threads of this process. */
class Coverage implements Disposable {
  readonly #session = new Session()
  readonly #workers = new Set<string>()
  readonly #answers = new Map<number, (result: unknown) => void>()
  #lastId = 0

  static async begin(): Promise<Coverage> {
    const coverage = new Coverage()
    await coverage.#begin()
    return coverage
  }

  async #begin(): Promise<void> {
    this.#session.connect()
    this.#session.on('NodeWorker.attachedToWorker', ({ params }) => {
      this.#workers.add(params.sessionId)
    })
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => this.#receive(params))
    await this.#post('NodeWorker.enable', { waitForDebuggerOnStart: false })
    await this.#everywhere('Profiler.enable')
    await this.#everywhere('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await this.take()
  }

  /** What ran since the last time. */
  async take(): Promise<ReadFile[]> {
    const taken = await this.#everywhere('Profiler.takePreciseCoverage')
    const scripts = taken.flatMap((one) => (one as Profiler.TakePreciseCoverageReturnType).result)
    const functions = new Map<string, Set<string>>()
    for (const { url, functions: all } of scripts) {
      if (!url.startsWith('file:')) continue
      const file = relative(ROOT, fileURLToPath(url))
      if (!file.startsWith('src/')) continue
      const ran = all.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      const names = functions.get(file) ?? new Set()
      for (const { functionName } of ran) names.add(functionName)
      if (names.size > 0) functions.set(file, names)
    }
    return [...functions]
      .toSorted()
      .map(([file, names]) => ({
        file,
        lines: readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1,
        functions: [...names],
      }))
  }

  async #everywhere(method: string, params: object = {}): Promise<unknown[]> {
    const here = this.#post(method, params)
    const there = [...this.#workers].map((sessionId) => this.#ask(sessionId, { method, params }))
    return await Promise.all([here, ...there])
  }

  #post(method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#session.post(method, params, (error, result) => {
        if (error === null) resolve(result)
        else reject(error)
      })
    })
  }

  async #ask(sessionId: string, asked: { method: string; params: object }): Promise<unknown> {
    const id = ++this.#lastId
    // an answer that is awaited does not keep the process alive
    const alive = setInterval(() => {}, 1000)
    const answer = new Promise((resolve) => this.#answers.set(id, resolve))
    const message = JSON.stringify({ id, ...asked })
    await this.#post('NodeWorker.sendMessageToWorker', { sessionId, message })
    return await answer.finally(() => clearInterval(alive))
  }

  #receive({ message }: NodeWorker.ReceivedMessageFromWorkerEventDataType): void {
    const { id, result } = JSON.parse(message) as { id?: number; result?: unknown }
    if (id === undefined) return
    this.#answers.get(id)?.(result)
    this.#answers.delete(id)
  }

  [Symbol.dispose](): void {
    this.#session.disconnect()
  }
}

if (import.meta.main) {
  const read = await readPath()
  process.stdout.write(process.argv.includes('--json') ? JSON.stringify(read) : format(read))
}

function format(read: PathRead): string {
  return Object.entries(read)
    .map(([title, files]: [string, ReadFile[]]) => {
      const lines = files.reduce((sum, one) => sum + one.lines, 0)
      const rows = files.map((one) => `  ${one.file} ${one.lines} (${one.functions.join(', ')})\n`)
      return `\n${title}: ${files.length} files, ${lines} lines\n${rows.join('')}`
    })
    .join('')
}
