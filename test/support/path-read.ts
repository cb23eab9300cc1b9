/**
 * Which files run when a message is sent into a group that was sealed to before: V8's coverage of the calling thread and of the worker threads.
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
  type Memory,
} from '../../src/kernel/index.ts'
import { Clocks } from '../../src/service/lookups/clocks.ts'
import { Directory } from '../../src/service/lookups/directory.ts'
import { READERS } from '../../src/service/lookups/readers.ts'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import { readSend } from '../../src/translate/draft.ts'
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
}

/** Sends to a group that was sealed to before, and records what runs. */
export async function readPath(): Promise<PathRead> {
  let onPrepared = (): void => {}
  await using engine = createEngine({ onPrepared: () => onPrepared() })
  const dataDir = mkdtempSync(join(tmpdir(), 'postern-path-'))
  await using store = await openStore({ dataDir, passphrase: null, mode: 'create' })
  const outgoing = await makeOutgoing(engine, memoryOf(store))
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
    return { send: sealed, preparation }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** What seals, over a real memory; the service answers every key list with the same people. */
async function makeOutgoing(engine: MeasuredEngine, memory: Memory): Promise<Outgoing> {
  const createdMs = Date.now() - 300_000
  const keys = await Promise.all(
    Array.from({ length: PEOPLE }, async (_, index) => ({
      userId: index + 10,
      publicKey: (await makeCommonKey({ userId: `person ${index}`, createdMs })).certificate,
    })),
  )
  const { key: unlocked } = await makeCommonKey({ userId: 'bot', createdMs })
  const clocks = new Clocks(SYSTEM_TIME, () => null)
  const own = new Set<string>()
  const kernel = await loadKernel({
    memory,
    engine,
    policy: 'accept',
    own: () => own,
    clocks,
    readers: READERS,
  })
  await kernel.sightings.sawProtected(GROUP)
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
  const replayMemory = await ReplayMemory.load(notes, { key, gaps: [], clock: clocks })
  const entered = { signer: { unlocked }, requireHeld: () => {}, leave: () => {} }
  return new Outgoing({
    ...kernel,
    guard,
    clearFields: new ClearFields({ guard, presses: new Presses(memory), policy: 'warn' }),
    directory: new Directory({ calls, ...kernel }),
    publication: {
      expectSend: () => {},
      requirePublished: () => entered.signer,
      enter: async <T>(prepare: () => Promise<T>) => ({ ...entered, prepared: await prepare() }),
    },
    engine,
    replayMemory,
    keyring: { all: [], fingerprints: own, unlocked: [], firstPublishedAtMs: null },
    botId: () => 1,
    unusableRecipient: 'skip',
    armoredMax: () => 131_072,
    time: SYSTEM_TIME,
    keyListMaxAgeMs: 60_000,
  } as unknown as OutgoingParts)
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
