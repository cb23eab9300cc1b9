/**
 * Which lines of a folder of `src` run when a message is sealed for a group that was sealed to
 * before: V8's coverage of the calling thread and of the worker threads.
 */
import { readFileSync } from 'node:fs'
import { Session, type NodeWorker, type Profiler } from 'node:inspector'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEngine, fit } from '../../src/openpgp/index.ts'
import { makeCommonKey } from '../../src/sandbox/phone/make-key.ts'

const ROOT = join(import.meta.dirname, '../..')
const PLACE = 'group'
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

/** Seals to a group that was sealed to before, and records what runs. */
export async function readPath(): Promise<PathRead> {
  const createdMs = Date.now() - 300_000
  const made = Array.from({ length: PEOPLE }, (_, index) =>
    makeCommonKey({ userId: `person ${index}`, createdMs }),
  )
  const { key: signer } = makeCommonKey({ userId: 'bot', createdMs })
  let onPrepared = (): void => {}
  await using engine = createEngine({ onPrepared: () => onPrepared() })
  const certificates = made.map(({ certificate }) => certificate)
  const send = async (text = 'hello'): Promise<void> => {
    const statuses = await Promise.all(certificates.map((armored) => engine.judge(armored)))
    const sum = (cipher: 'aes256' | 'aes128'): number =>
      statuses.reduce((all, { recipientBytes }) => all + recipientBytes[cipher], 0)
    const recipients = { aes256: sum('aes256'), aes128: sum('aes128') }
    const named = certificates.length + 1
    const size = { textBytes: text.length, maxChars: 131_072, own: signer.sizes, named }
    const found = fit(recipients, size)
    if (!found.fits) throw new Error('the message does not fit')
    await engine.sealKnown({ text, certificates, signer, cipher: found.cipher, place: PLACE })
  }
  const prepared = async (work: () => Promise<void>): Promise<void> => {
    const ready = new Promise<void>((resolve) => (onPrepared = resolve))
    await work()
    await ready
  }
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
    return [...functions].toSorted().map(([file, names]) => ({
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
  const { send, preparation } = await readPath()
  for (const [title, files] of Object.entries({ send, preparation })) {
    const lines = files.reduce((sum, one) => sum + one.lines, 0)
    process.stdout.write(`\n${title}: ${files.length} files, ${lines} lines\n`)
    for (const one of files) {
      process.stdout.write(`  ${one.file} ${one.lines} (${one.functions.join(', ')})\n`)
    }
  }
}
