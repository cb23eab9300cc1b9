/** The bot's door over TLS, and callers who are known by their certificates. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { get, type RequestOptions } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type ConnectionOptions } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { certificateCredential } from '../../src/api/bot.ts'
import { createApp } from '../../src/http/app.ts'
import type { DoorBounds } from '../../src/http/bounds.ts'
import { credentialOf } from '../../src/http/client-calls.ts'
import type { DoorTls } from '../../src/http/door-tls.ts'
import { listenAt } from '../../src/http/listen.ts'
import { Authority, type Identity } from '../service/certificates.ts'
import { refused } from '../support/refused.ts'
import { watchedLog } from '../support/watched-log.ts'

const ours = new Authority()
const others = new Authority()
const door = ours.issue('IP:127.0.0.1')
const alice = ours.issue('DNS:alice')
const stranger = others.issue('DNS:alice')
const folder = mkdtempSync(join(tmpdir(), 'postern-door-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
function write(text: string): string {
  const path = join(folder, `file-${++files}`)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
const filesOf = ({ cert, key }: Identity, ca?: string): DoorTls => ({
  certFile: write(cert),
  keyFile: write(key),
  clientCaFile: ca === undefined ? undefined : write(ca),
})

/** A door that answers with the credential of its caller. */
async function openDoor(tls: DoorTls, bounds: Partial<DoorBounds> = {}) {
  const lines: Record<string, unknown>[] = []
  const { app, drain } = createApp({
    log: watchedLog((line) => lines.push(line)),
    level: 'info',
    bounds,
    allowedHosts: [],
    tls,
    authorize: () => null,
    onAnswered: () => {},
  })
  app.get('/who', (request) => ({ credential: credentialOf(request.raw) }))
  onTestFinished(() => drain())
  const url = await listenAt(app, { setting: 'listen', host: '127.0.0.1', port: 0 })
  return { url, port: Number(new URL(url).port), lines }
}

/** @returns the credential as the door sees it, or the code of the error */
async function who(url: string, o: RequestOptions & { session?: Buffer } = {}): Promise<unknown> {
  const asked = get(`${url}/who`, { ca: ours.cert, agent: false, ...o })
  return await new Promise((resolve) => {
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    asked.on('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => {
        resolve(
          (JSON.parse(Buffer.concat(chunks).toString()) as { credential: unknown }).credential,
        )
      })
      answer.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    })
  })
}
const credential = ({ cert }: Identity): string =>
  certificateCredential(new X509Certificate(cert).fingerprint256)

test('a TLS caller is identified by its token, or else by its certificate', async () => {
  const { url } = await openDoor(filesOf(door, ours.cert))
  expect(url).toMatch(/^https:/)
  expect(await who(url, alice)).toBe(credential(alice))
  const token = `pstn_${'t'.repeat(43)}`
  const withToken = { ...alice, headers: { authorization: `Bearer ${token}` } }
  expect(await who(url, withToken)).toMatch(/^[0-9a-f]{64}$/)
  const withOther = { ...alice, headers: { authorization: 'Bearer bot_7.token' } }
  expect(await who(url, withOther)).toBeNull()
})

test('a TLS caller without a certificate of the authority receives no answer', async () => {
  const { url, port } = await openDoor(filesOf(door, ours.cert))
  for (const identity of [{}, stranger, others.selfSigned('DNS:alice')]) {
    expect(await who(url, identity)).toMatch(/^(ERR_SSL|ECONNRESET|EPIPE)/)
  }
  const plain = connectPlain(port, '127.0.0.1')
  plain.end('GET /who HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  plain.on('error', () => {})
  const read: Buffer[] = []
  plain.on('data', (chunk: Buffer) => read.push(chunk))
  await once(plain, 'close')
  expect(Buffer.concat(read).toString()).not.toContain('HTTP/1.1 200')
})

test('a TLS listener without a client authority ignores certificates', async () => {
  const { url } = await openDoor(filesOf(door))
  expect([await who(url), await who(url, alice)]).toEqual([null, null])
})

test('changed TLS files apply to the next connection, and no earlier session is resumed', async () => {
  const tls = filesOf(door, ours.cert)
  const { url, port } = await openDoor(tls)
  const session = await sessionOf(port, { ...alice, ca: ours.cert })
  expect(await who(url, alice)).toBe(credential(alice))
  const next = others.issue('IP:127.0.0.1')
  replace(tls.certFile, next.cert)
  replace(tls.keyFile, next.key)
  replace(tls.clientCaFile ?? '', others.cert)
  await expect
    .poll(() => who(url, { ...stranger, ca: others.cert }), { timeout: 5000 })
    .toBe(credential(stranger))
  expect(await who(url, { ...alice, ca: others.cert })).toMatch(/^(ERR_SSL|ECONNRESET|EPIPE)/)
  expect(await who(url, { ...alice, ca: others.cert, session })).toMatch(
    /^(ERR_SSL|ECONNRESET|EPIPE)/,
  )
})

test('unusable new TLS files are logged, and the former files stay in use', async () => {
  const tls = filesOf(door, ours.cert)
  const { url, lines } = await openDoor(tls)
  replace(tls.keyFile, alice.key)
  const kept = () => lines.filter(({ msg }) => String(msg).includes('keeps its former'))
  await expect.poll(async () => (await who(url, alice), kept().length), { timeout: 5000 }).toBe(1)
  expect(JSON.stringify(lines)).not.toContain('PRIVATE')
  expect(await who(url, alice)).toBe(credential(alice))
})

test.each([
  ['another one', others.cert, false],
  ['no certificate', 'no PEM', true],
])(
  'an open TLS connection ends once the file of the authority has %s, and the former authority admits nobody',
  async (_what, text, isClosed) => {
    const tls = filesOf(door, ours.cert)
    const { url, port, lines } = await openDoor(tls)
    const open = connect({ port, host: '127.0.0.1', ...alice, ca: ours.cert })
    open.on('error', () => {}).resume()
    await once(open, 'secureConnect')
    replace(tls.clientCaFile ?? '', text)
    await once(open, 'close')
    expect(await who(url, alice)).toMatch(/^(ERR_SSL|ECONNRESET|EPIPE)/)
    const refusing = lines.some(({ msg }) => String(msg).includes('refuses every connection'))
    expect(refusing).toBe(isClosed)
    replace(tls.clientCaFile ?? '', ours.cert)
    await expect.poll(() => who(url, alice), { timeout: 5000 }).toBe(credential(alice))
  },
)

test('a listener with unusable TLS files does not start', async () => {
  for (const tls of [
    { ...filesOf(door), keyFile: write(alice.key) },
    { ...filesOf(door), certFile: join(folder, 'nothing') },
    { ...filesOf(door), clientCaFile: write('no PEM') },
  ]) {
    await expect(openDoor(tls)).rejects.toThrow(refused('settings', 'listen.tlsCertFile'))
  }
})

test('connections that never finish their TLS handshake block no other caller', async () => {
  const { url, port } = await openDoor(filesOf(door), { headersMs: 300, connections: 2 })
  const silent = Array.from({ length: 4 }, () => connectPlain(port, '127.0.0.1'))
  for (const socket of silent) socket.on('error', () => {})
  onTestFinished(() => silent.forEach((socket) => socket.destroy()))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  await expect.poll(() => who(url), { timeout: 5000 }).toBeNull()
})

function replace(path: string, text: string): void {
  writeFileSync(path, text)
  utimesSync(path, new Date(), new Date(Date.now() + 5000))
}

async function sessionOf(port: number, o: ConnectionOptions): Promise<Buffer> {
  const socket = connect({ port, host: '127.0.0.1', ...o })
  const session = once(socket, 'session') as Promise<[Buffer]>
  socket.on('secureConnect', () => socket.write('GET /who HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'))
  const [given] = await session
  socket.destroy()
  return given
}
