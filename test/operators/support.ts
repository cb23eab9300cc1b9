import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import type { ClientRow } from '../../src/operators/clients.ts'
import type { KeyRow } from '../../src/operators/keys.ts'
import type { Operations } from '../../src/operators/operations.ts'
import { startControl, type SeveralOperations } from '../../src/operators/server.ts'
import type { OutboxRow } from '../../src/operators/outbox.ts'
import type { RotationReport, StatusReport } from '../../src/operators/reports.ts'
import type { CheckLine } from '../../src/operators/doctor/check-line.ts'
import { watchedLog } from '../support/watched-log.ts'

export const FINGERPRINT = 'a'.repeat(40)

export const STATUS: StatusReport = {
  version: '9.9.9',
  pid: 4711,
  startedAt: '2026-01-02T03:04:05.000Z',
  ready: false,
  reasons: [{ code: 'upstream', message: 'no answer', hint: 'look at the network', sinceMs: 0 }],
  warnings: [],
  bot: { id: 7, username: 'helper_bot', mode: 'protected', fingerprint: FINGERPRINT },
  key: { fingerprint: FINGERPRINT, state: 'active', publishedAt: '2026-01-01T00:00:01.000Z' },
  rotation: null,
  upstream: { url: 'https://api.example.org', reachable: false },
  chats: { known: 3, latched: 2, refused: 1 },
  webhook: {
    origin: 'http://127.0.0.1:3000',
    failures: 2,
    lastError: 'the bot answered 500',
    nextAttemptAt: '2026-01-02T03:04:09.000Z',
  },
  updates: { waiting: 5, oldestSeconds: 60 },
  calls: { usedLastMinute: 4, limit: 60 },
}

export const KEY: KeyRow = {
  fingerprint: FINGERPRINT,
  state: 'active',
  createdAt: '2026-01-01T00:00:00.000Z',
  publishedAt: '2026-01-01T00:00:01.000Z',
  retiredAt: null,
  destroyedAt: null,
  opensUntil: null,
  opens: true,
  openedMessages: 12,
  openedMedia: 3,
  lastOpenedAt: '2026-01-02T00:00:00.000Z',
}

export const ENTRY: OutboxRow = {
  id: '0b9e9d0e-3a1a-4a4c-8a51-6d7d0c6b2f11',
  state: 'refused',
  chatId: -5,
  edits: null,
  client: 'reporter',
  createdAt: '2026-01-01T00:00:00.000Z',
  deliverAt: '2026-01-02T00:00:00.000Z',
  settledAt: '2026-01-02T00:00:01.000Z',
  bytes: 40,
  mayBeSent: false,
  code: 'chat_not_found',
  replacedBy: null,
  messageId: null,
  approval: {
    code: '7K2Q',
    digest: 'd'.repeat(64),
    askedAtMs: 0,
    expiresAtMs: 3_600_000,
    requests: [{ userId: 815, chatId: 3, sendId: 'x', messageId: 9 }],
    decision: null,
  },
}

export const CLIENT: ClientRow = {
  name: 'reporter',
  may: ['read', 'send'],
  chats: [-5, -6],
  persons: [815],
  maxChars: null,
  outbox: 'asked',
  buttons: false,
  files: true,
  isSuspended: false,
  rate: { calls: 5, perMs: 60_000 },
  expiresAt: '2027-01-31T00:00:00.000Z',
  certificate: null,
  createdAt: '2026-01-01T00:00:00.000Z',
}
export const CLIENT_TOKEN = `pstn_${'c'.repeat(43)}`

export const ROTATION: RotationReport = {
  from: FINGERPRINT,
  to: 'b'.repeat(40),
  phase: 'done',
  startedAt: '2026-01-03T00:00:00.000Z',
  endedAt: '2026-01-03T00:00:01.000Z',
  attempts: 1,
  detail: '',
  nextAttemptAt: null,
}

/** A journal that nobody changed. */
export const JOURNAL: Awaited<ReturnType<Operations['trustLogVerify']>> = {
  firstId: 1,
  lastId: 12,
  entries: 12,
  forgotten: 0,
  heads: { signed: 2, unsigned: 0 },
  lastSigned: { entry: 12, at: '2026-01-03T00:00:00.000Z', signer: FINGERPRINT },
  unsignedEntries: 0,
  given: 'none',
  fault: null,
  lines: ['entries  12, from 1 to 12'],
}

type ChatRow = Awaited<ReturnType<Operations['chatList']>>[number]
const chat = (row: Pick<ChatRow, 'id' | 'kind'> & Partial<ChatRow>): ChatRow => {
  const usual = { personId: null, mode: null, latched: false, sealed: false, refused: false }
  return { ...usual, ...row }
}

/** A sidecar's operations with fixed answers; `over` changes some of them. */
export function operations(over: Partial<Operations> = {}): Operations {
  return {
    status: async () => STATUS,
    check: async () => [{ name: 'token', level: 'pass', message: 'it is good' }],
    keyList: async () => [KEY],
    keyShow: async ({ fingerprint = FINGERPRINT } = {}) => ({
      fingerprint,
      state: 'active',
      certificate: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n',
    }),
    keyPublish: async ({ replace }) => ({
      fingerprint: FINGERPRINT,
      state: 'published',
      message: replace ? 'replaced' : 'published',
    }),
    keyRotate: async () => ROTATION,
    keyRotation: async () => ROTATION,
    keyAbandon: async () => ({ ...ROTATION, phase: 'abandoned' }),
    keyDeletion: async () => ({ key: KEY, loses: ['words'], unsure: ['backups'] }),
    keyDelete: async ({ fingerprint }) => ({ fingerprint, message: 'destroyed' }),
    keyGenerate: async () => ({ fingerprint: FINGERPRINT, state: 'pending', message: 'made' }),
    keyExport: async ({ fingerprint = FINGERPRINT, passphrase }) => ({
      fingerprint,
      state: 'active',
      armored: `-----BEGIN PGP PRIVATE KEY BLOCK-----\n${passphrase.length}\n`,
    }),
    keyImport: async ({ file, passphrase }) => ({
      fingerprint: FINGERPRINT,
      state: 'pending',
      message: `${file} ${passphrase?.length ?? 'none'}`,
    }),
    keyProtect: async ({ protection, passphrase }) => ({
      protection,
      message: `moved ${passphrase?.length ?? 'none'}`,
    }),
    personForget: async ({ userId }) => ({
      alias: `alias of ${userId}`,
      rows: { pins: 1, outbox: 0 },
      entries: 2,
      chats: [],
      isScrubbed: true,
      stays: ['keyed hashes'],
    }),
    trustImport: async ({ apply }) => ({
      signer: FINGERPRINT,
      rows: [],
      verified: apply ? 1 : 0,
      lines: ['person 1 is verified'],
    }),
    trustLogHead: async () => ({ signed: '-----BEGIN PGP SIGNED MESSAGE-----\n' }),
    trustLogVerify: async () => JOURNAL,
    backupCreate: async () => ({ file: '/nowhere', protection: 'passphrase' }),
    backupAccept: async ({ isLatest }) => ({ message: `accepted ${isLatest}` }),
    outboxList: async () => [ENTRY],
    outboxDrop: async ({ id }) => ({ message: `removed ${id}` }),
    outboxRetry: async ({ id, readable }) => ({ message: `${id} waits (${readable})` }),
    approveRefuse: async ({ id }) => ({ message: `refused ${id}` }),
    clientList: async () => [CLIENT],
    clientAdd: async ({ name }) => ({ name, token: CLIENT_TOKEN, refused: [] }),
    clientRotate: async ({ name }) => ({ name, token: CLIENT_TOKEN, refused: ['refused: a-call'] }),
    clientConfirm: async ({ name }) => ({ message: `client ${name} may call again` }),
    clientRemove: async ({ name }) => ({ message: `client ${name} is removed` }),
    clientLog: async ({ name, afterId }) =>
      afterId > 0
        ? []
        : [
            {
              id: 1,
              at: '2026-01-01T00:00:00.000Z',
              kind: 'client-added',
              userId: null,
              chatId: null,
              detail: { client: name },
            },
          ],
    chatList: async () => [
      chat({ id: -5, kind: 'group', mode: 'protected', latched: true, sealed: true }),
      chat({ id: 9007199254740991, kind: 'channel', refused: true }),
      chat({ id: 7, kind: 'private', personId: 815, sealed: true }),
    ],
    chatShow: async ({ chatId }) => ({
      kind: 'group',
      isPublished: true,
      chatId,
      body: 'sealed',
      people: [
        { userId: 815, fingerprint: FINGERPRINT, skipped: null },
        { userId: 816, fingerprint: null, skipped: 'unparseable' },
      ],
      withoutKey: 2,
      problem: null,
    }),
    chatAllowReadable: async (lift) => ({
      lifted: 'chatIds' in lift ? lift.chatIds : [],
      message: JSON.stringify(lift),
    }),
    chatBind: async (input) => ({ message: JSON.stringify(input) }),
    chatCorrectKind: async (input) => ({ message: JSON.stringify(input) }),
    trustList: async () => ({ policy: 'accept', said: [], people: [] }),
    trustAccept: async (input) => ({ message: JSON.stringify(input) }),
    trustVerify: async (input) => ({ message: JSON.stringify(input) }),
    trustBlock: async (input) => ({ message: JSON.stringify(input) }),
    trustPolicy: async (input) => ({ message: JSON.stringify(input) }),
    trustLog: async () => [],
    trustNumber: async () => ({
      userId: 815,
      fingerprint: FINGERPRINT,
      listed: FINGERPRINT,
      standing: 'seen',
      botId: 7,
      botFingerprint: 'b'.repeat(40),
      digits: '0123456789'.repeat(6),
      text: `POSTERN-NUMBER:1:7:${'B'.repeat(40)}:815:${'A'.repeat(40)}`,
    }),
    trustCompare: async (input) => ({
      userId: 815,
      fingerprint: FINGERPRINT,
      botFingerprint: 'b'.repeat(40),
      message: JSON.stringify(input),
    }),
    explainUpdate: async () => [],
    explainWithheld: async () => [],
    explainSent: async () => null,
    open: async ({ armored }) => ({ opened: true, text: armored, verdict: 'verified' }),
    ...over,
  }
}

/** A data directory of its own, gone after the test. */
export function dataFolder(depth = 0): string {
  const root = mkdtempSync(join(tmpdir(), 'postern-test-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const path = join(root, ...Array.from({ length: depth }, () => 'd'.repeat(60)))
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}

/** Opens a control socket for the length of a test. */
export async function serve(
  dataDir: string,
  over: Partial<Operations> = {},
  o: {
    idleMs?: number
    drainMs?: number
    version?: string
    lines?: CheckLine[]
    several?: SeveralOperations
    log?: Parameters<typeof startControl>[0]['log']
  } = {},
): Promise<AsyncDisposable> {
  const { lines, several, ...bounds } = o
  const control = await startControl({
    dataDir,
    operations: several ?? operations({ ...(lines && { check: async () => lines }), ...over }),
    log: watchedLog(),
    ...bounds,
  })
  let disposed: Promise<void> | null = null
  const once = {
    [Symbol.asyncDispose]: async () => {
      disposed ??= Promise.resolve(control[Symbol.asyncDispose]())
      await disposed
    },
  }
  onTestFinished(() => once[Symbol.asyncDispose]())
  return once
}

/** Writes bytes to a socket and gives all that comes back until it is closed. */
export function talk(path: string, bytes: string | Buffer, { end = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(path, () => (end ? socket.end(bytes) : socket.write(bytes)))
    onTestFinished(() => {
      socket.destroy()
    })
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => (answer += text))
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}

/** A client of a control socket that is served for the length of a test. */
export async function connected(...given: Parameters<typeof serve>) {
  await serve(...given)
  const control = await connectControl(given[0])
  if (control === null) throw new Error('nobody listens')
  onTestFinished(async () => {
    await control[Symbol.asyncDispose]()
  })
  return control
}

/** A request as it goes over the socket. */
export function post(name: string, body = '{}'): string {
  return `POST /${name} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** The bodies of the answers in what came over a socket. */
export function bodiesOf(text: string): unknown[] {
  const bodies = [...text.matchAll(/\r\n\r\n(\{.*?\})(?=HTTP\/1|$)/gs)]
  return bodies.map(([, body = '']) => JSON.parse(body) as unknown)
}
