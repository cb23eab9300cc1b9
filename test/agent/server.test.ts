/** What an agent answers over its socket, to questions of every form, and what it keeps of them. */
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ASK, FrameReader, STATUS, writeFrame } from '../../src/agent/frames.ts'
import { openJournal, JOURNAL } from '../../src/agent/journal.ts'
import { holds } from '../../src/openpgp/crypto/ed25519.ts'
import { readCommonCertificate } from '../../src/openpgp/native/common-certificate.ts'
import { freshFolder, startAgentInside, type TestAgent } from './support.ts'

interface Asked {
  kind: number
  body: Buffer
}

/** A caller at the socket. */
async function callerOf({ address }: TestAgent) {
  const socket = connect(address.slice('unix:'.length))
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const reader = new FrameReader()
  const waiting = new Map<number, (answer: Asked) => void>()
  socket.on('data', (chunk) =>
    reader.read(chunk, ({ id, kind, body }) =>
      waiting.get(id)?.({ kind, body: Buffer.from(body) }),
    ),
  )
  let id = 0
  return {
    socket,
    ask: (kind: number, body: Uint8Array): Promise<Asked> =>
      new Promise((resolve) => {
        waiting.set(++id, resolve)
        socket.write(writeFrame({ id, kind, body }))
      }),
  }
}

const NEW = { userId: 'bot', createdMs: 1_700_000_000_000, certifiedBy: null }
const makeKey = async ({ ask }: Awaited<ReturnType<typeof callerOf>>) => {
  const { kind, body } = await ask(ASK.make, Buffer.from(JSON.stringify(NEW)))
  expect(kind).toBe(STATUS.done)
  const certificate = body.toString()
  const info = readCommonCertificate(certificate, Date.now())
  if (!info?.signingKey) throw new Error('no key of the common form')
  return { certificate, fingerprint: Buffer.from(info.fingerprint), key: info.signingKey }
}

test('an agent signs a digest of 64 or 32 bytes unchanged', async () => {
  const caller = await callerOf(await startAgentInside())
  const { fingerprint, key } = await makeKey(caller)
  for (const length of [64, 32]) {
    const digest = Buffer.alloc(length, 7)
    const { kind, body } = await caller.ask(ASK.sign, Buffer.concat([fingerprint, digest]))
    expect(kind).toBe(STATUS.done)
    expect(holds({ digest, point: key.point, numbers: body })).toBe(true)
  }
})

const FINGERPRINT = Buffer.alloc(20, 1)
const wrong: [string, number, Buffer, number][] = [
  ['a digest of another length', ASK.sign, Buffer.alloc(20 + 20), STATUS.malformed],
  ['a document in place of a digest', ASK.sign, Buffer.alloc(20 + 500), STATUS.malformed],
  ['a signature without digest', ASK.sign, FINGERPRINT, STATUS.malformed],
  ['half a fingerprint', ASK.sign, Buffer.alloc(10), STATUS.malformed],
  ['a signature by an unknown key', ASK.sign, Buffer.alloc(20 + 64), STATUS.unknownKey],
  ['an unwrapping without packet', ASK.unwrap, FINGERPRINT, STATUS.malformed],
  ['a packet of 5 KiB', ASK.unwrap, Buffer.alloc(20 + 5120), STATUS.malformed],
  ['bytes that are not a packet', ASK.unwrap, Buffer.alloc(20 + 64, 0xff), STATUS.unknownKey],
  ['a key without user ID', ASK.make, Buffer.from('{"createdMs":1}'), STATUS.malformed],
  ['a key request that is not JSON', ASK.make, Buffer.from('{'), STATUS.failed],
  [
    'a key certified by an unknown key',
    ASK.make,
    Buffer.from(JSON.stringify({ ...NEW, certifiedBy: '0'.repeat(40) })),
    STATUS.failed,
  ],
  ['an unknown kind', 77, Buffer.alloc(0), STATUS.malformed],
]

test.each(wrong)(
  '%s is refused, and the connection to the agent stays open',
  async (_what, kind, body, status) => {
    const caller = await callerOf(await startAgentInside())
    expect(await caller.ask(kind, body)).toEqual({ kind: status, body: Buffer.alloc(0) })
    expect(await caller.ask(ASK.hello, Buffer.of(1))).toEqual({ kind: 0, body: Buffer.of(1) })
  },
)

test.each([
  ['longer than the maximum', Buffer.from('00010001', 'hex')],
  ['shorter than its header', Buffer.from('0000000400000001', 'hex')],
  ['of HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
])('a frame %s ends its connection and no other', async (_what, bytes) => {
  const agent = await startAgentInside()
  const [one, other] = [await callerOf(agent), await callerOf(agent)]
  const closed = once(one.socket, 'close')
  one.socket.write(bytes)
  await closed
  expect(await other.ask(ASK.hello, Buffer.of(1))).toMatchObject({ kind: 0 })
})

test('a frame that arrives byte by byte is answered', async () => {
  const { address } = await startAgentInside()
  const socket = connect(address.slice('unix:'.length))
  onTestFinished(() => void socket.destroy())
  const answer = once(socket, 'data') as Promise<[Buffer]>
  for (const byte of writeFrame({ id: 9, kind: ASK.hello, body: Buffer.of(1) })) {
    socket.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
  const [bytes] = await answer
  expect(bytes.toString('hex')).toBe('00000006000000090001')
})

test('an encryption subkey signs nothing, and a signing key unwraps nothing', async () => {
  const caller = await callerOf(await startAgentInside())
  const { fingerprint, certificate } = await makeKey(caller)
  const { encryptionKeys } = await judged(certificate)
  const subkey = Buffer.from(encryptionKeys[0] ?? '', 'hex')
  const digest = Buffer.alloc(64)
  const bySubkey = await caller.ask(ASK.sign, Buffer.concat([subkey, digest]))
  const packet = Buffer.concat([Buffer.of(0xc1, 10), Buffer.alloc(10, 3)])
  const toPrimary = await caller.ask(ASK.unwrap, Buffer.concat([fingerprint, packet]))
  expect([bySubkey.kind, toPrimary.kind]).toEqual([STATUS.unknownKey, STATUS.unknownKey])
})

async function judged(certificate: string) {
  const { createEngine } = await import('../../src/openpgp/create.ts')
  await using engine = createEngine({ threads: 1 })
  return await engine.judge(certificate)
}

test('signatures beyond the rate are refused on every connection', async () => {
  const agent = await startAgentInside({ perMinute: { signatures: 3, sessionKeys: 2 } })
  const caller = await callerOf(agent)
  const { fingerprint } = await makeKey(caller)
  const question = Buffer.concat([fingerprint, Buffer.alloc(64)])
  const kinds: number[] = []
  for (const one of [caller, caller, await callerOf(agent), await callerOf(agent), caller]) {
    kinds.push((await one.ask(ASK.sign, question)).kind)
  }
  const { done, tooMany } = STATUS
  expect(kinds).toEqual([done, done, done, tooMany, tooMany])
})

test('requests for unknown keys count against no rate and add nothing to the journal', async () => {
  const agent = await startAgentInside({ perMinute: { signatures: 3, sessionKeys: 3 } })
  const caller = await callerOf(agent)
  const { fingerprint } = await makeKey(caller)
  for (let index = 0; index < 20; index++) {
    const others = Buffer.concat([Buffer.alloc(20, index), Buffer.alloc(64)])
    expect((await caller.ask(ASK.sign, others)).kind).toBe(STATUS.unknownKey)
    expect((await caller.ask(ASK.unwrap, others)).kind).toBe(STATUS.unknownKey)
  }
  const ours = Buffer.concat([fingerprint, Buffer.alloc(64)])
  expect((await caller.ask(ASK.sign, ours)).kind).toBe(STATUS.done)
  await agent[Symbol.asyncDispose]()
  const used = agent.journal().filter(({ event }) => event === 'used')
  expect(used.map(({ key }) => key)).toEqual([fingerprint.toString('hex')])
})

test('connections add one line a minute to the journal, and uses one of each key', () => {
  const folder = freshFolder()
  {
    using journal = openJournal(folder)
    for (let connection = 0; connection < 20_000; connection++) {
      journal.connection('opened')
      journal.count('signatures', connection, 'key')
      journal.connection('ended')
    }
  }
  const lines = readFileSync(join(folder, JOURNAL), 'utf8').trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'started' },
    { event: 'use', key: 'key', connection: 0 },
    { event: 'connections', opened: 20_000, ended: 20_000 },
    { event: 'used', key: 'key', signatures: 20_000, connections: 20_000 },
    { event: 'stopped' },
  ])
})

test('idle connections beyond 64 end each other, and never one that used a key', async () => {
  const agent = await startAgentInside()
  const caller = await callerOf(agent)
  const { fingerprint } = await makeKey(caller)
  const question = Buffer.concat([fingerprint, Buffer.alloc(64)])
  expect((await caller.ask(ASK.sign, question)).kind).toBe(STATUS.done)
  const others = []
  for (let n = 0; n < 70; n++) others.push(await callerOf(agent))
  await Promise.all(
    others.slice(0, 7).map(async ({ socket }) => socket.closed || (await once(socket, 'close'))),
  )
  expect((await caller.ask(ASK.sign, question)).kind).toBe(STATUS.done)
  expect((await others[69]!.ask(ASK.sign, question)).kind).toBe(STATUS.done)
})

test('an agent makes at most 32 keys at once', { timeout: 60_000 }, async () => {
  const caller = await callerOf(await startAgentInside())
  const asked = Array.from({ length: 33 }, () =>
    caller.ask(ASK.make, Buffer.from(JSON.stringify(NEW))),
  )
  const kinds = (await Promise.all(asked)).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === STATUS.done)).toHaveLength(32)
  expect(kinds.filter((kind) => kind === STATUS.tooMany)).toHaveLength(1)
})

test('the journal of an agent sums up connections and key usage without digests or session keys', async () => {
  const agent = await startAgentInside()
  const caller = await callerOf(agent)
  const { fingerprint } = await makeKey(caller)
  const digest = Buffer.alloc(64, 0x5a)
  await caller.ask(ASK.sign, Buffer.concat([fingerprint, digest]))
  await caller.ask(ASK.sign, Buffer.concat([fingerprint, digest]))
  caller.socket.destroy()
  await agent[Symbol.asyncDispose]()
  const key = fingerprint.toString('hex')
  const lines = agent.journal()
  expect(lines.map(({ event }) => event)).toEqual([
    'started',
    'made',
    'use',
    'connections',
    'used',
    'stopped',
  ])
  expect(lines[1]).toMatchObject({ connection: 1, fingerprint: key, certifiedBy: '' })
  expect(lines[4]).toMatchObject({ key, connections: 1, signatures: 2, sessionKeys: 0, refused: 0 })
  expect(JSON.stringify(lines)).not.toMatch(/5a5a5a5a/)
  expect(statSync(join(agent.dataDir, JOURNAL)).mode & 0o777).toBe(0o600)
})

test('an agent with an unwritable journal signs nothing', async () => {
  const agent = await startAgentInside()
  const caller = await callerOf(agent)
  const { fingerprint } = await makeKey(caller)
  rmSync(join(agent.dataDir, JOURNAL))
  mkdirSync(join(agent.dataDir, JOURNAL))
  const second = await callerOf(agent)
  const question = Buffer.concat([fingerprint, Buffer.alloc(64)])
  expect((await second.ask(ASK.sign, question)).kind).toBe(STATUS.failed)
  rmSync(join(agent.dataDir, JOURNAL), { recursive: true })
  const kind = async (): Promise<number> => (await second.ask(ASK.sign, question)).kind
  await expect.poll(kind, { timeout: 20_000 }).toBe(STATUS.done)
})

test('the socket of an agent has mode 0660', async () => {
  const { address } = await startAgentInside()
  expect(statSync(address.slice('unix:'.length)).mode & 0o777).toBe(0o660)
})

test('an agent refuses to listen in a folder that others can write', async () => {
  const folder = freshFolder()
  chmodSync(folder, 0o777)
  await expect(startAgentInside({}, folder)).rejects.toMatchObject({ code: 'listen' })
})

test('a file in place of the socket is refused and left unchanged', async () => {
  const folder = freshFolder()
  writeFileSync(join(folder, 'a.sock'), 'mine')
  await expect(startAgentInside({}, folder)).rejects.toMatchObject({ code: 'listen' })
  expect(statSync(join(folder, 'a.sock')).size).toBe(4)
})

test('a second agent on the same socket is refused, and the first continues', async () => {
  const folder = freshFolder()
  const agent = await startAgentInside({}, folder)
  const other = startAgentInside({ dataDir: join(folder, 'other') }, folder)
  await expect(other).rejects.toMatchObject({ code: 'store-in-use' })
  const caller = await callerOf(agent)
  expect(await caller.ask(ASK.hello, Buffer.of(1))).toMatchObject({ kind: 0 })
})

test('an agent has its keys after a restart', async () => {
  const folder = freshFolder()
  const first = await startAgentInside({}, folder)
  const { fingerprint } = await makeKey(await callerOf(first))
  await first[Symbol.asyncDispose]()
  const caller = await callerOf(await startAgentInside({}, folder))
  const question = Buffer.concat([fingerprint, Buffer.alloc(64)])
  expect((await caller.ask(ASK.sign, question)).kind).toBe(STATUS.done)
})
