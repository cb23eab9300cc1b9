/** A command's end of the control socket. */
import type { Socket } from 'node:net'
import { z } from 'zod'
import { OperatorError } from '../errors.ts'
import { readLines } from './lines.ts'
import type { Controlled } from './operations.ts'
import { findSocket, reach } from './find-socket.ts'
import { fromFault, MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, Reply, Results } from './protocol.ts'
import type { Request } from './protocol.ts'

/** Publishing waits for the service; nothing takes longer. */
const ANSWER_MS = 120_000

/**
 * Connects to the sidecar that runs on a data directory.
 * @param dataDir absolute; need not exist
 * @param answerMs how long an answer may take (two minutes)
 * @returns its operations, or null when nobody listens; each rejects with the PosternError that the
 *   sidecar had, or OperatorError `failed` when it goes away or speaks another version's language
 * @throws OperatorError `data-dir` when the socket is there and may not be used by this user, or is
 *   not the owner's alone: nothing was sent to it then
 */
export async function connectControl(
  dataDir: string,
  answerMs = ANSWER_MS,
): Promise<(Controlled & AsyncDisposable) | null> {
  const socket = await open(dataDir)
  if (socket === null) return null
  const line = new Line(socket, answerMs)
  const { status, check, keyList, keyShow, keyPublish, chatList, chatAllowReadable } = Results
  const { keyGenerate, keyExport, keyImport, keyProtect, backupCreate, backupAccept } = Results
  return {
    status: () => line.ask({ operation: 'status' }, status),
    check: () => line.ask({ operation: 'check' }, check),
    keyList: () => line.ask({ operation: 'keyList' }, keyList),
    keyShow: (fingerprint) =>
      line.ask(
        { operation: 'keyShow', ...(fingerprint !== undefined && { fingerprint }) },
        keyShow,
      ),
    keyPublish: ({ replace }) => line.ask({ operation: 'keyPublish', replace }, keyPublish),
    keyRotate: () => line.ask({ operation: 'keyRotate' }, Results.keyRotate),
    keyRotation: () => line.ask({ operation: 'keyRotation' }, Results.keyRotation),
    keyAbandon: () => line.ask({ operation: 'keyAbandon' }, Results.keyAbandon),
    keyDeletion: (fingerprint) =>
      line.ask({ operation: 'keyDeletion', fingerprint }, Results.keyDeletion),
    keyDelete: (fingerprint) =>
      line.ask({ operation: 'keyDelete', fingerprint }, Results.keyDelete),
    keyGenerate: () => line.ask({ operation: 'keyGenerate' }, keyGenerate),
    keyExport: ({ fingerprint, passphrase }) =>
      line.ask(
        { operation: 'keyExport', ...(fingerprint !== undefined && { fingerprint }), passphrase },
        keyExport,
      ),
    keyImport: (o) => line.ask({ operation: 'keyImport', ...o }, keyImport),
    keyProtect: (o) => line.ask({ operation: 'keyProtect', ...o }, keyProtect),
    backupCreate: () => line.ask({ operation: 'backupCreate' }, backupCreate),
    backupAccept: (o) => line.ask({ operation: 'backupAccept', ...o }, backupAccept),
    chatList: () => line.ask({ operation: 'chatList' }, chatList),
    chatAllowReadable: (lift) =>
      line.ask({ operation: 'chatAllowReadable', lift }, chatAllowReadable),
    trustList: () => line.ask({ operation: 'trustList' }, Results.trustList),
    trustSay: (word) => line.ask({ operation: 'trustSay', word }, Results.trustSay),
    trustLog: (range) => line.ask({ operation: 'trustLog', range }, Results.trustLog),
    explainUpdate: (updateId) =>
      line.ask({ operation: 'explainUpdate', updateId }, Results.explainUpdate),
    explainSent: (messageId) =>
      line.ask({ operation: 'explainSent', messageId }, Results.explainSent),
    open: (armored) => line.ask({ operation: 'open', armored }, Results.open),
    async [Symbol.asyncDispose]() {
      await line.close()
    },
  }
}

async function open(dataDir: string): Promise<Socket | null> {
  try {
    const path = findSocket(dataDir)
    return path === null ? null : await reach(path)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    throw new OperatorError(
      'data-dir',
      `the control socket in ${dataDir} cannot be used (${code})`,
      'run this command as the user that the sidecar runs as',
      { cause: error },
    )
  }
}

/** Requests and answers in step: the n-th answer belongs to the n-th request. */
class Line {
  readonly #socket: Socket
  readonly #answers: AsyncGenerator<string>
  readonly #answerMs: number
  #last: Promise<unknown> = Promise.resolve()

  constructor(socket: Socket, answerMs: number) {
    this.#socket = socket
    this.#answers = readLines(socket, MAX_ANSWER_BYTES)
    this.#answerMs = answerMs
    socket.on('error', () => {})
    socket.setTimeout(0)
  }

  ask<T extends z.ZodType>(request: Request, result: T): Promise<z.output<T>> {
    const answered = this.#last.then(() => this.#exchange(request, result))
    this.#last = answered.catch(() => {})
    return answered
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.closed) resolve()
      this.#socket.once('close', () => resolve())
      this.#socket.destroy()
    })
  }

  async #exchange<T extends z.ZodType>(request: Request, result: T): Promise<z.output<T>> {
    const line = `${JSON.stringify(request)}\n`
    if (Buffer.byteLength(line) > MAX_REQUEST_BYTES) {
      throw new OperatorError('refused', 'the request is too large', 'give less at once')
    }
    this.#socket.write(line)
    const reply = parse(await this.#next())
    if ('error' in reply) throw fromFault(reply.error)
    const parsed = result.safeParse(reply.result)
    if (!parsed.success) throw otherVersion()
    return parsed.data
  }

  async #next(): Promise<string> {
    const timer = setTimeout(() => this.#socket.destroy(new Error('too late')), this.#answerMs)
    try {
      const { value, done } = await this.#answers.next()
      if (done !== true) return value
    } catch {
      // Said below: whatever cut the line, the answer is not here.
    } finally {
      clearTimeout(timer)
    }
    throw new OperatorError(
      'failed',
      'the sidecar went away before it answered',
      'it may be stopping, or busy with other commands; see its log and try again',
    )
  }
}

function parse(line: string): z.infer<typeof Reply> {
  try {
    return Reply.parse(JSON.parse(line))
  } catch {
    throw otherVersion()
  }
}

function otherVersion(): OperatorError {
  return new OperatorError(
    'failed',
    'the sidecar’s answer cannot be read',
    'run this command from the version of Postern that the sidecar runs',
  )
}
