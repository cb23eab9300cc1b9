/**
 * What goes over the control socket: newline-delimited JSON, one request a line, one answer a line,
 * in order. Errors cross as code, message and hint, and come out as the error they were.
 */
import { z } from 'zod'
import { isOwn, OperatorError, PosternError, Refusal, REFUSALS, ServiceSaid } from '../errors.ts'
import type { OperatorCode } from '../errors.ts'
import { METHODS } from '../store/protection.ts'
import type {
  CheckLine,
  ChatRow,
  Controlled,
  DeletionReport,
  KeyRow,
  OpenReport,
  RotationReport,
  StatusReport,
} from './operations.ts'
import { Explained, ExplainedSent } from './explain.ts'
import { LogRange, LogRow, TrustReport, TrustWord } from './trust.ts'

/** Room for 1 MiB of armored text with its line breaks escaped. */
export const MAX_REQUEST_BYTES = 2 * 1024 * 1024
/** A bot knows many chats. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** `postern open` takes this much. */
export const MAX_ARMORED_BYTES = 1024 * 1024
/** The longest socket path that every system takes. */
const MAX_SOCKET_PATH_BYTES = 100

/** Names below `dataDir`: the socket, or where it is when that path would be too long. */
export const SOCKET_NAME = 'control.sock'
export const POINTER_NAME = 'control.path'

/** True when a socket may be made at this path. */
export function fitsSocket(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES
}

const chatId = z.int()
const fingerprint = z.string().max(64)
const passphrase = z.string().min(1).max(65_536)
const protection = z.enum(METHODS)

/** A request line. */
export const Request = z.discriminatedUnion('operation', [
  z.strictObject({ operation: z.literal('status') }),
  z.strictObject({ operation: z.literal('check') }),
  z.strictObject({ operation: z.literal('keyList') }),
  z.strictObject({ operation: z.literal('keyShow'), fingerprint: fingerprint.optional() }),
  z.strictObject({ operation: z.literal('keyPublish'), replace: z.boolean() }),
  z.strictObject({ operation: z.literal('keyRotate') }),
  z.strictObject({ operation: z.literal('keyRotation') }),
  z.strictObject({ operation: z.literal('keyAbandon') }),
  z.strictObject({ operation: z.literal('keyDeletion'), fingerprint }),
  z.strictObject({ operation: z.literal('keyDelete'), fingerprint }),
  z.strictObject({ operation: z.literal('keyGenerate') }),
  z.strictObject({
    operation: z.literal('keyExport'),
    fingerprint: fingerprint.optional(),
    passphrase,
  }),
  z.strictObject({
    operation: z.literal('keyImport'),
    file: z.base64().max(MAX_ARMORED_BYTES),
    passphrase: passphrase.nullable(),
  }),
  z.strictObject({
    operation: z.literal('keyProtect'),
    protection,
    passphrase: passphrase.nullable(),
  }),
  z.strictObject({ operation: z.literal('backupCreate') }),
  z.strictObject({ operation: z.literal('backupAccept'), isLatest: z.boolean() }),
  z.strictObject({ operation: z.literal('chatList') }),
  z.strictObject({
    operation: z.literal('chatAllowReadable'),
    lift: z.union([
      z.strictObject({ chatIds: z.array(chatId).min(1).max(10_000) }),
      z.strictObject({ pending: z.literal(true) }),
      z.strictObject({ private: z.literal(true) }),
    ]),
  }),
  z.strictObject({ operation: z.literal('trustList') }),
  z.strictObject({ operation: z.literal('trustSay'), word: TrustWord }),
  z.strictObject({ operation: z.literal('trustLog'), range: LogRange }),
  z.strictObject({ operation: z.literal('explainUpdate'), updateId: z.int() }),
  z.strictObject({ operation: z.literal('explainSent'), messageId: z.int() }),
  z.strictObject({ operation: z.literal('open'), armored: z.string().max(MAX_ARMORED_BYTES) }),
])
export type Request = z.infer<typeof Request>

const text = z.string().nullable()
const keyDone = z.object({ fingerprint: z.string(), state: z.string(), message: z.string() })

const keyRow = z.object({
  fingerprint: z.string(),
  state: z.string(),
  createdAt: z.string(),
  publishedAt: text,
  retiredAt: text,
  destroyedAt: text,
  opensUntil: text,
  opens: z.boolean(),
  openedMessages: z.int(),
  openedMedia: z.int(),
  lastOpenedAt: text,
}) satisfies z.ZodType<KeyRow>

const rotation = z.object({
  from: z.string(),
  to: z.string(),
  phase: z.string(),
  startedAt: z.string(),
  endedAt: text,
  attempts: z.int(),
  detail: z.string(),
  nextAttemptAt: text,
}) satisfies z.ZodType<RotationReport>

/** What each operation gives. */
export const Results = {
  status: z.object({
    version: z.string(),
    pid: z.int(),
    startedAt: z.string(),
    ready: z.boolean(),
    reasons: z.array(
      z.object({ code: z.string(), message: z.string(), hint: z.string(), sinceMs: z.number() }),
    ),
    bot: z
      .object({ id: z.int(), username: z.string(), mode: z.string(), fingerprint: text })
      .nullable(),
    key: z.object({ fingerprint: z.string(), state: z.string(), publishedAt: text }).nullable(),
    rotation: rotation.nullable(),
    upstream: z.object({ url: z.string(), reachable: z.boolean() }),
    chats: z.object({ known: z.int(), latched: z.int(), refused: z.int() }),
    webhook: z
      .object({ origin: z.string(), failures: z.int(), lastError: text, nextAttemptAt: text })
      .nullable(),
    updates: z.object({ waiting: z.int().nullable(), oldestSeconds: z.int().nullable() }),
    calls: z.object({ usedLastMinute: z.number(), limit: z.number() }),
  }) satisfies z.ZodType<StatusReport>,
  check: z.array(
    z.object({
      name: z.string(),
      level: z.enum(['pass', 'warn', 'fail']),
      message: z.string(),
      hint: z.string().optional(),
    }),
  ) satisfies z.ZodType<CheckLine[]>,
  keyList: z.array(keyRow),
  keyShow: z.object({ fingerprint: z.string(), state: z.string(), certificate: z.string() }),
  keyPublish: keyDone,
  keyRotate: rotation,
  keyRotation: rotation.nullable(),
  keyAbandon: rotation,
  keyDeletion: z.object({
    key: keyRow,
    loses: z.array(z.string()),
    unsure: z.array(z.string()),
  }) satisfies z.ZodType<DeletionReport>,
  keyDelete: z.object({ fingerprint: z.string(), message: z.string() }),
  keyGenerate: keyDone,
  keyExport: z.object({ fingerprint: z.string(), state: z.string(), armored: z.string() }),
  keyImport: keyDone,
  keyProtect: z.object({ protection, message: z.string() }),
  backupCreate: z.object({ file: z.string(), protection: protection.nullable() }),
  backupAccept: z.object({ message: z.string() }),
  chatList: z.array(
    z.object({
      id: chatId,
      kind: text,
      personId: z.int().nullish(),
      mode: text,
      latched: z.boolean(),
      refused: z.boolean(),
    }),
  ) satisfies z.ZodType<ChatRow[]>,
  chatAllowReadable: z.object({ lifted: z.array(chatId), message: z.string() }),
  trustList: TrustReport,
  trustSay: z.object({ message: z.string() }),
  trustLog: z.array(LogRow),
  explainUpdate: z.array(Explained),
  explainSent: ExplainedSent.nullable(),
  open: z.object({
    opened: z.boolean(),
    text: z.string().optional(),
    verdict: z.string(),
    reason: z.string().optional(),
    signer: z.string().optional(),
  }) satisfies z.ZodType<OpenReport>,
} as const satisfies { [name in keyof Controlled]: z.ZodType }

const Fault = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  /** Set when the service said no. */
  status: z.int().optional(),
})
type Fault = z.infer<typeof Fault>

/** An answer line. */
export const Reply = z.union([z.object({ result: z.unknown() }), z.object({ error: Fault })])

/** Makes an error fit for the wire. Anything but a PosternError crosses without its message. */
export function toFault(error: unknown): Fault {
  if (error instanceof ServiceSaid) {
    return { code: error.code, message: error.message, status: error.status }
  }
  if (error instanceof PosternError) {
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined
    return { code: error.code, message: error.message, ...(hint !== undefined && { hint }) }
  }
  const name = error instanceof Error ? error.name : typeof error
  const message = `internal failure (${name})`
  return { code: 'failed', message, hint: 'the log of the sidecar says what came before it' }
}

/** The error that `toFault` was given, less what does not cross: its cause and the raw answer. */
export function fromFault({ code, message, hint, status }: Fault): PosternError {
  if (status !== undefined) {
    const answer = { status, headers: {}, body: Buffer.alloc(0) }
    return new ServiceSaid({ code, status, answer })
  }
  if (isOwn(code)) {
    const { what } = REFUSALS[code]
    return new Refusal(code, message.startsWith(`${what}: `) ? message.slice(what.length + 2) : '')
  }
  return new OperatorError(code as OperatorCode, message, hint ?? '')
}
