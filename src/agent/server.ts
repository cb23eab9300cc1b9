/** The agent's end of the socket: reads questions, asks the keys, and writes answers in any order. */
import { createServer, type Server, type Socket } from 'node:net'
import { z } from 'zod'
import type { Log } from '../logger.ts'
import { ASK, FINGERPRINT_BYTES, FrameReader, PACKET_MAX } from './frames.ts'
import { PROTOCOL, STATUS, writeFrame, writeSessionKeys, writeTogether } from './frames.ts'
import type { Frame } from './frames.ts'
import type { AgentJournal } from './journal.ts'
import type { AgentKeys } from './keys.ts'

/** Sidecars have one connection a process. One more ends that which used a key the longest ago. */
const CONNECTIONS_MAX = 64
/** Bytes of answers that a connection may leave unread. */
const UNREAD_MAX = 1024 * 1024
const DIGEST_BYTES: ReadonlySet<number> = new Set([32, 64])
/** New keys that may be made at once, and one more every six minutes. */
const NEW_KEYS = { most: 32, perMinute: 1 / 6 }
/** Packets of rare forms, which openpgp.js reads in a thread, one after the other. */
const RARE_MAX = 256

const Fingerprint = z.string().regex(/^[0-9a-f]{40}$/)
const NewKey = z.strictObject({
  algorithm: z.enum(['classic', 'pqc']).optional(),
  userId: z.string().min(1).max(1024),
  createdMs: z.int().min(0).max(4_294_967_295_000),
  certifiedBy: Fingerprint.nullable(),
})

export interface AgentServerParts {
  keys: AgentKeys
  journal: AgentJournal
  log: Log
  /** How many signatures and session keys are given a minute, to all connections together. */
  perMinute: { signatures: number; sessionKeys: number }
}

/** An answer before it has its number. */
interface Reply {
  kind: number
  body: Uint8Array
}

const NOTHING = Buffer.alloc(0)
const refusal = (kind: number): Reply => ({ kind, body: NOTHING })
const USES: ReadonlySet<number> = new Set([ASK.sign, ASK.unwrap])
const done = (body: Uint8Array): Reply => ({ kind: STATUS.done, body })

/** Makes the server; the caller has it listen. @returns `end` ends every connection, too */
export function createAgentServer(parts: AgentServerParts): { server: Server; end: () => void } {
  const answer = createService(parts)
  const { journal } = parts
  /** Those that used no key first, then those whose last use was the longest ago. */
  const [idle, users] = [new Set<Socket>(), new Set<Socket>()]
  let connections = 0
  const server = createServer((socket) => {
    const connection = ++connections
    journal.connection('opened')
    const [least] = idle.size + users.size < CONNECTIONS_MAX ? [] : [...idle, ...users]
    least?.destroy()
    idle.add(socket)
    const reader = new FrameReader()
    socket.on('drain', () => socket.resume())
    socket.on('data', (chunk) => {
      const isWhole = reader.read(chunk, ({ id, ...question }) => {
        const reply = answer(connection, question)
        const isDone = reply instanceof Promise || reply.kind === STATUS.done
        if (USES.has(question.kind) && isDone && !socket.destroyed) {
          idle.delete(socket)
          users.delete(socket)
          users.add(socket)
        }
        if (!(reply instanceof Promise)) return writeAnswer(socket, id, reply)
        // oxlint-disable-next-line typescript/no-floating-promises -- an answer never rejects
        reply.then((late) => writeAnswer(socket, id, late))
      })
      if (!isWhole) socket.destroy()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      idle.delete(socket)
      users.delete(socket)
      journal.connection('ended')
    })
  })
  const end = (): void => {
    server.close()
    for (const socket of [...idle, ...users]) socket.destroy()
  }
  return { server, end }
}

/** Writes an answer, together with others of this turn of the loop, and zeroes it once it has left. */
function writeAnswer(socket: Socket, id: number, { kind, body }: Reply): void {
  const frame = writeFrame({ id, kind, body })
  body.fill(0)
  writeTogether(socket, frame, () => frame.fill(0))
  // a caller that reads no answers asks nothing more
  if (socket.writableLength > UNREAD_MAX) socket.pause()
}

/** Makes what answers questions; all connections share its bounds. */
function createService({ keys, journal, log, perMinute }: AgentServerParts) {
  /** Each counts a use; false where none is left. */
  const buckets = {
    signatures: tokenBucket({ most: perMinute.signatures, perMinute: perMinute.signatures }),
    sessionKeys: tokenBucket({ most: perMinute.sessionKeys, perMinute: perMinute.sessionKeys }),
    newKeys: tokenBucket(NEW_KEYS),
  }
  let rare = 0

  function failed(error: unknown): Reply {
    log.error({ error }, 'a question could not be answered')
    return refusal(STATUS.failed)
  }

  function tooMany(connection: number, key: string): Reply {
    journal.count('refused', connection, key)
    return refusal(STATUS.tooMany)
  }

  /** Counts the use of a key, which the journal has before it happens. */
  function refuseUse(use: 'signatures' | 'sessionKeys', connection: number, key: string) {
    if (!keys.local.has(key)) return refusal(STATUS.unknownKey)
    const isBusy = use === 'sessionKeys' && rare >= RARE_MAX
    if (isBusy || !buckets[use]()) return tooMany(connection, key)
    journal.count(use, connection, key)
    return journal.isWritten() ? null : refusal(STATUS.failed)
  }

  function sign(connection: number, body: Buffer): Reply {
    const { fingerprint, data } = readOfKey(body)
    if (!DIGEST_BYTES.has(data.length)) return refusal(STATUS.malformed)
    const refused = refuseUse('signatures', connection, fingerprint)
    if (refused !== null) return refused
    const numbers = keys.local.sign(fingerprint, data)
    return numbers === null ? refusal(STATUS.unknownKey) : done(numbers)
  }

  function unwrap(connection: number, body: Buffer): Reply | Promise<Reply> {
    const { fingerprint, data } = readOfKey(body)
    if (data.length === 0 || data.length > PACKET_MAX) return refusal(STATUS.malformed)
    const refused = refuseUse('sessionKeys', connection, fingerprint)
    if (refused !== null) return refused
    // the frame is zeroed before openpgp.js has read it
    const found = keys.local.unwrap(fingerprint, Buffer.from(data))
    if (found === null) return refusal(STATUS.unknownKey)
    if (!(found instanceof Promise)) return done(writeSessionKeys(found))
    rare++
    const write = async (): Promise<Reply> => done(writeSessionKeys(await found))
    const answered = write().catch(failed)
    return answered.finally(() => rare--)
  }

  async function make(connection: number, text: string): Promise<Reply> {
    try {
      const asked = NewKey.safeParse(JSON.parse(text))
      if (!asked.success) return refusal(STATUS.malformed)
      if (!buckets.newKeys()) return tooMany(connection, 'new')
      const { fingerprint, certificate } = await keys.make(asked.data)
      const certifiedBy = asked.data.certifiedBy ?? ''
      journal.record('made', { connection, fingerprint, certifiedBy })
      return done(Buffer.from(certificate))
    } catch (error) {
      return failed(error)
    }
  }

  /** Never throws and never rejects: a question that cannot be answered is refused. */
  return (connection: number, { kind, body }: Omit<Frame, 'id'>): Reply | Promise<Reply> => {
    try {
      if (!journal.isWritten()) return refusal(STATUS.failed)
      if (kind === ASK.hello) return done(Buffer.of(PROTOCOL))
      if (kind === ASK.sign) return sign(connection, body)
      if (kind === ASK.unwrap) return unwrap(connection, body)
      if (kind === ASK.make) return make(connection, body.toString('utf8'))
      return refusal(STATUS.malformed)
    } catch (error) {
      return failed(error)
    }
  }
}

/** A number of uses at once, and so many more a minute. @returns counts a use; false where none is left */
function tokenBucket({ most, perMinute }: { most: number; perMinute: number }): () => boolean {
  let left = most
  let atMs = performance.now()
  return () => {
    const nowMs = performance.now()
    left = Math.min(most, left + ((nowMs - atMs) * perMinute) / 60_000)
    atMs = nowMs
    if (left < 1) return false
    left -= 1
    return true
  }
}

/** The fingerprint of a key, and the rest. */
function readOfKey(body: Buffer): { fingerprint: string; data: Buffer } {
  const fingerprint = body.toString('hex', 0, FINGERPRINT_BYTES)
  return { fingerprint, data: body.subarray(FINGERPRINT_BYTES) }
}
