/** Keys that stay in a real gpg-agent. */
import { verify } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { GpgAgent } from '../../src/agent/gpg-agent.ts'
import { KeyHolderUnavailableError } from '../../src/errors.ts'
import { rawPublicKey } from '../../src/openpgp/crypto/curve25519.ts'
import { type HolderState } from '../../src/openpgp/index.ts'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { packetsOf } from '../../src/openpgp/format/packets.ts'
import { framePacket } from '../../src/openpgp/format/packet-writer.ts'
import { temporary } from '../store/support.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { run } from '../support/programs.ts'
import { heldKeysIn, packetFor, POINT_AT } from '../support/held-keys.ts'

const WITHIN_MS = 60_000
const ASKS = /would have to ask for a passphrase/

/** A home of gpg with a key of the bot's, made by gpg. */
async function withKey(passphrase = '') {
  const gpg = await Gpg.start()
  await gpg.run(['--quick-gen-key', 'bot', 'ed25519', 'sign', '0'], undefined, passphrase)
  const listed = await gpg.run(['--list-keys', '--with-colons'])
  const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed.stdout.toString())?.[1] ?? ''
  await gpg.run(['--quick-add-key', fingerprint, 'cv25519', 'encr', '0'], undefined, passphrase)
  const certificate = (await gpg.run(['--armor', '--export'])).stdout.toString()
  return { gpg, fingerprint, certificate, ...heldKeysIn(certificate) }
}

type Scene = Awaited<ReturnType<typeof withKey>>
let scene: Scene
beforeAll(async () => {
  scene = await withKey()
}, WITHIN_MS)
afterAll(() => scene.gpg[Symbol.asyncDispose]())

function holderOf({ gpg }: Pick<Scene, 'gpg'>, socket = 'S.gpg-agent'): GpgAgent {
  const holder = new GpgAgent(join(gpg.home, socket))
  onTestFinished(() => holder[Symbol.asyncDispose]())
  return holder
}

const UNAVAILABLE = (reason: RegExp) => ({
  name: KeyHolderUnavailableError.name,
  code: 'postern_locked',
  detail: expect.stringMatching(reason) as string,
})

/** Recipient packets in a message that gpg sealed, framed, and its session key by gpg itself. */
async function sealedByGpg(gpg: Gpg, how: string[]) {
  const { stdout } = await gpg.run(['--armor', '-e', ...how], 'words')
  const bytes = dearmor(stdout.toString(), 'MESSAGE') ?? Buffer.alloc(0)
  const packets = [...packetsOf(bytes)].filter(({ tag }) => tag === 1)
  const { stderr } = await gpg.run(['--show-session-key', '-d'], stdout)
  const [, hex = ''] = /session key: '9:([0-9A-F]{64})'/.exec(stderr) ?? []
  return { packets: packets.map(({ tag, body }) => framePacket(tag, body)), hex: hex.toLowerCase() }
}

test.each([32, 48, 64])('gpg-agent signs a digest of %s bytes unchanged', async (length) => {
  const { by } = scene
  const digest = crypto.getRandomValues(Buffer.alloc(length))
  const numbers = await holderOf(scene).sign({ by, digest })
  expect(verify(null, digest, rawPublicKey(by.key.point, 'ed25519'), numbers)).toBe(true)
})

test.each([
  ['for the key', ['-r', 'bot']],
  ['for anonymous recipients', ['-R', 'bot']],
])('`GpgAgent` unwraps the session key of a message sealed by gpg %s', async (_, how) => {
  const { packets, hex } = await sealedByGpg(scene.gpg, how)
  const [packet = Buffer.alloc(0), ...more] = packets
  const found = await holderOf(scene).unwrap({ to: scene.to, packet })
  expect(more).toEqual([])
  const shown = found.map(({ algorithm, data }) => [algorithm, Buffer.from(data).toString('hex')])
  expect(shown).toEqual([['aes256', hex]])
})

test('malformed recipient packets open nothing, and the connection to gpg-agent remains usable', async () => {
  const holder = holderOf(scene)
  const { to } = scene
  const { packet } = packetFor(to)
  const changed = (at: number, bytes: Uint8Array): Buffer => {
    const copy = Buffer.from(packet)
    copy.set(bytes, at)
    return copy
  }
  const lowOrder = Buffer.from(
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    'hex',
  )
  const wrong: Record<string, Uint8Array> = {
    'a point of low order': changed(POINT_AT, lowOrder),
    'zeros for a point': changed(POINT_AT, Buffer.alloc(32)),
    'another point': changed(POINT_AT, Buffer.alloc(32, 0xff)),
    'a changed session key': changed(packet.length - 1, Buffer.of((packet.at(-1) ?? 0) ^ 1)),
    'a key of somebody else': changed(3, Buffer.alloc(8, 7)),
    'another version': changed(2, Buffer.of(6)),
    'another algorithm': changed(11, Buffer.of(25)),
    'two packets': Buffer.concat([packet, packet]),
    'half a packet': packet.subarray(0, 40),
    'no packet': Buffer.alloc(0),
  }
  for (const [what, bytes] of Object.entries(wrong)) {
    expect([what, await holder.unwrap({ to, packet: bytes })]).toEqual([what, []])
  }
  expect(await holder.unwrap({ to, packet })).toHaveLength(1)
})

test('`GpgAgent` makes no keys', async () => {
  const asked = holderOf(scene).make()
  await expect(asked).rejects.toMatchObject({ code: 'refused', hint: /key import/ })
})

test(
  'a key that gpg-agent lacks is reported as unavailable',
  async () => {
    const other = await withKey()
    onTestFinished(() => other.gpg[Symbol.asyncDispose]())
    const holder = holderOf(scene)
    const digest = Buffer.alloc(64)
    const { by, to } = other
    const refused = UNAVAILABLE(/has no secret key/)
    await expect(holder.sign({ by, digest })).rejects.toMatchObject(refused)
    await expect(holder.unwrap({ to, ...packetFor(to) })).rejects.toMatchObject(refused)
    expect(await holder.sign({ by: scene.by, digest })).toHaveLength(64)
  },
  WITHIN_MS,
)

test(
  'a key whose passphrase gpg-agent forgets is refused without a prompt and not reachable until gpg-agent has it',
  async () => {
    const locked = await withKey('words')
    onTestFinished(() => locked.gpg[Symbol.asyncDispose]())
    const { gpg, by, to } = locked
    const holder = holderOf(locked)
    const states: HolderState[] = []
    holder.onReachable((state) => states.push(state))
    const digest = Buffer.alloc(64)
    await gpg.run(['--sign'], 'words', 'words')
    expect(await holder.sign({ by, digest })).toHaveLength(64)
    await run('gpgconf', ['--homedir', gpg.home, '--reload', 'gpg-agent'])
    const refused = UNAVAILABLE(ASKS)
    for (const _ of [1, 2]) {
      await expect(holder.sign({ by, digest })).rejects.toMatchObject(refused)
      await expect(holder.unwrap({ to, ...packetFor(to) })).rejects.toMatchObject(refused)
    }
    // it answers all the while
    await sleep(1600)
    expect(holder.state).toEqual({ isReachable: false, reason: expect.stringMatching(ASKS) })
    await gpg.run(['--sign'], 'words', 'words')
    await expect.poll(() => holder.state.isReachable, { timeout: 8000 }).toBe(true)
    expect(states.map(({ isReachable }) => isReachable)).toEqual([true, false, true])
    expect(await holder.unwrap({ to, ...packetFor(to) })).toHaveLength(1)
  },
  WITHIN_MS,
)

const pidAt = async ({ home }: Gpg): Promise<number> => {
  const asked = await run('gpg-connect-agent', ['--homedir', home, 'GETINFO pid', '/bye'])
  return Number(/^D (\d+)/.exec(asked.stdout.toString())?.[1])
}

test(
  'a gpg-agent whose socket is removed is left, and ends, and the next one is used',
  async () => {
    const other = await withKey()
    onTestFinished(() => other.gpg[Symbol.asyncDispose]())
    const { gpg, by } = other
    const holder = holderOf(other)
    const socket = join(gpg.home, 'S.gpg-agent')
    const orphan = await pidAt(gpg)
    const digest = Buffer.alloc(64)
    expect(await holder.sign({ by, digest })).toHaveLength(64)
    renameSync(socket, `${socket}.old`)
    await expect.poll(() => holder.state.reason).toBe('gpg-agent is not reached (ENOENT)')
    renameSync(`${socket}.old`, socket)
    await expect.poll(() => holder.state.isReachable).toBe(true)
    rmSync(socket)
    // it ends once it has no connection, and its end removes any socket of that name
    await expect.poll(() => existsSync(`/proc/${orphan}`), { timeout: 10_000 }).toBe(false)
    await run('gpgconf', ['--homedir', gpg.home, '--launch', 'gpg-agent'])
    await expect.poll(() => holder.state.isReachable).toBe(true)
    expect(await holder.sign({ by, digest })).toHaveLength(64)
  },
  WITHIN_MS,
)

test.each(['S.gpg-agent.extra', 'S.gpg-agent.browser'])(
  'the restricted socket %s is not reachable, is reported once, and the reason names the right one',
  async (socket) => {
    const holder = holderOf(scene, socket)
    const states: HolderState[] = []
    holder.onReachable((state) => states.push(state))
    await sleep(2500)
    const reason = expect.stringMatching(/restricted socket .*: name S\.gpg-agent in/) as string
    expect(states).toEqual([{ isReachable: false, reason }])
    const signing = holder.sign({ by: scene.by, digest: Buffer.alloc(64) })
    await expect(signing).rejects.toMatchObject({ code: 'postern_locked' })
  },
)

test('a file that names the socket of gpg-agent is followed', async () => {
  const file = join(temporary(), 'S.gpg-agent')
  writeFileSync(file, `%Assuan%\nsocket=${join(scene.gpg.home, 'S.gpg-agent')}\n`)
  const connected = await run('gpg-connect-agent', ['-S', file, 'GETINFO pid', '/bye'])
  expect(connected.stdout.toString()).toMatch(/^D \d+/)
  const holder = new GpgAgent(file)
  onTestFinished(() => holder[Symbol.asyncDispose]())
  expect(await holder.sign({ by: scene.by, digest: Buffer.alloc(64) })).toHaveLength(64)
})

test(
  'a gpg-agent that ends, restarts, stops and continues is reported each time',
  async () => {
    const { gpg } = scene
    const holder = holderOf(scene)
    const states: HolderState[] = []
    holder.onReachable((state) => states.push(state))
    const until = async (isReachable: boolean): Promise<HolderState> => {
      await expect.poll(() => holder.state.isReachable).toBe(isReachable)
      return holder.state
    }
    await until(true)
    await gpg.forget()
    expect((await until(false)).reason).toMatch(/^gpg-agent (closed|is not reached)/)
    const digest = Buffer.alloc(64)
    const refused = UNAVAILABLE(/closed the connection|is not reached/)
    await expect(holder.sign({ by: scene.by, digest })).rejects.toMatchObject(refused)
    await run('gpgconf', ['--homedir', gpg.home, '--launch', 'gpg-agent'])
    await until(true)
    expect(await holder.sign({ by: scene.by, digest })).toHaveLength(64)
    const pid = await pidAt(gpg)
    expect(readFileSync(`/proc/${pid}/comm`, 'utf8').trim()).toBe('gpg-agent')
    process.kill(pid, 'SIGSTOP')
    try {
      expect((await until(false)).reason).toBe('gpg-agent does not answer')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await until(true)
    expect(states.map(({ isReachable }) => isReachable).slice(-4)).toEqual([
      false,
      true,
      false,
      true,
    ])
  },
  WITHIN_MS,
)
