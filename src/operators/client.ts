/** A command's end of the control socket. */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { VERSION } from '../config/version.ts'
import { failedError, OperatorError, refusedError, systemCodeOf } from '../errors.ts'
import { describeClosedFolder } from '../util/file-owners.ts'
import { remoteCalls } from '../util/operation.ts'
import type { BotOperations, BOTS } from './bots.ts'
import type { OPERATIONS, Operations } from './operations.ts'
import { AnswerBody, BOT_HEADER, fromWireError } from './protocol.ts'
import { MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, VERSION_HEADER } from './protocol.ts'
import { connectSocket } from './socket/connect.ts'

// An `import` would load all that it has, a WebSocket too: 40 ms of every command.
const { Agent, request } = process.getBuiltinModule('node:http')

/** Publishing waits for the service, and is the slowest operation. */
export const ANSWER_MS = 120_000

/** A sidecar at the other end of its socket. */
export type RunningSidecar = Operations & BotOperations & AsyncDisposable

/**
 * Connects to the sidecar that runs on a data directory.
 * @param dataDir absolute; need not exist
 * @param answerMs time limit of a response (two minutes)
 * @param bot one of several bots; null for the only one, and for operations on all
 * @returns its operations, or null when nobody listens; each rejects with the PosternError that the
 *   sidecar had, or OperatorError `failed` when it goes away or is of another version
 * @throws OperatorError `data-dir` when the socket is there and may not be used by this user, or is
 *   not the owner's alone: nothing was sent to it then
 */
export async function connectControl(
  dataDir: string,
  answerMs = ANSWER_MS,
  bot: string | null = null,
): Promise<RunningSidecar | null> {
  const socket = await connectSocket(dataDir).catch((error: unknown) => refuse(dataDir, error))
  if (socket === null) return null
  const agent = agentOver(socket)
  const call = async (name: string, input: object): Promise<unknown> => {
    const body = JSON.stringify(input)
    if (Buffer.byteLength(body) > MAX_REQUEST_BYTES) {
      throw refusedError('the request is too large', 'give less at once')
    }
    const signal = AbortSignal.timeout(answerMs)
    const headers = bot === null ? {} : { [BOT_HEADER]: bot }
    const sent = request({ agent, method: 'POST', path: `/${name}`, headers, signal })
    return parseAnswer(await exchange(sent, body))
  }
  return remoteCalls<typeof OPERATIONS & typeof BOTS, AsyncDisposable>(call, {
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        if (socket.closed) resolve()
        socket.once('close', () => resolve())
        socket.destroy()
      }),
  })
}

function refuse(dataDir: string, error: unknown): never {
  if (error instanceof OperatorError) throw error
  const { message, hint } = describeClosedFolder(dataDir) ?? {
    message: `the control socket in ${dataDir} cannot be used (${systemCodeOf(error)})`,
    hint: 'run this command as the user that the sidecar runs as',
  }
  throw new OperatorError('data-dir', message, hint, { cause: error })
}

/** Sends requests over this one socket, one after the other; once it is closed, none. */
function agentOver(socket: Socket): InstanceType<typeof Agent> {
  socket.on('error', () => {})
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agent.createConnection = (_options, callback) => {
    if (!socket.destroyed) return socket
    callback?.(new Error('the sidecar closed the connection'), socket)
    return undefined
  }
  return agent
}

/** @throws OperatorError `failed` without a response, or for one that is not HTTP */
async function exchange(sent: ClientRequest, body: string) {
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve)
      sent.on('error', reject)
      sent.end(body)
    })
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) throw new RangeError('the answer is too large')
    }
    return { version: answer.headers[VERSION_HEADER], text: Buffer.concat(chunks).toString('utf8') }
  } catch (error) {
    if (systemCodeOf(error).startsWith('HPE_')) throw otherVersion()
    throw failedError(
      'the sidecar went away before it answered',
      'it may be stopping, or busy with other commands; see its log and try again',
    )
  }
}

function parseAnswer({ version, text }: { version: unknown; text: string }): unknown {
  if (version !== VERSION) throw otherVersion(version)
  const body = AnswerBody.safeParse(JSON.parse(text))
  if (!body.success) throw otherVersion()
  if ('error' in body.data) throw fromWireError(body.data.error)
  return body.data.result
}

function otherVersion(theirs?: unknown): OperatorError {
  const named = typeof theirs === 'string' ? ` (${theirs}; this is ${VERSION})` : ''
  return failedError(
    'the sidecar’s answer cannot be read',
    `run this command from the version of Postern that the sidecar runs${named}`,
  )
}
