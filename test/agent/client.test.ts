/** The sidecar's end of the socket before an agent that is away, late, or lies. */
import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { ASK, STATUS, type Frame } from '../../src/agent/frames.ts'
import { engineWithHolder } from '../../src/agent/held-engine.ts'
import { connectHolder, type StatefulHolder } from '../../src/agent/holders.ts'
import { isOwnFailure } from '../../src/errors.ts'
import { signDigest } from '../../src/openpgp/crypto/ed25519.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { isRecipientSecret, readOwnSecrets } from '../../src/openpgp/native/own-secrets.ts'
import { openRecipient, readRecipient } from '../../src/openpgp/crypto/recipient.ts'
import { packetAt } from '../../src/openpgp/format/packets.ts'
import { bot } from '../support/openpgp-people.ts'
import { freshFolder, startAgentInside, startLiar } from './support.ts'

function holderAt(address: string): StatefulHolder {
  const holder = connectHolder(address)
  onTestFinished(() => holder[Symbol.asyncDispose]())
  return holder
}

const secrets = readOwnSecrets(bot.unlocked.bytes)
const [primary, subkey] = [...secrets.values()]
if (!primary || !subkey || !isRecipientSecret(subkey)) throw new Error('no keys')
const { secret: signing } = primary
const decrypting = subkey

type Answer = { kind: number; body: Uint8Array } | null
const done = (body: Uint8Array): Answer => ({ kind: STATUS.done, body })

/** An agent that has the bot's key and is honest but for what a test says. */
function honestBut(lies: (frame: Frame) => Answer | undefined): (frame: Frame) => Answer {
  return (frame) => {
    const lie = lies(frame)
    if (lie !== undefined) return lie
    const data = frame.body.subarray(20)
    if (frame.kind === ASK.hello) return done(Buffer.of(1))
    if (frame.kind === ASK.sign) return done(signDigest(signing, data))
    const form = readRecipient(packetAt(data, 0).body)
    const opened = form && openRecipient(form, decrypting)
    if (!opened) return done(Buffer.alloc(0))
    return done(Buffer.concat([Buffer.of(opened.cipher, opened.data.length), opened.data]))
  }
}

async function engineBefore(lies: (frame: Frame) => Answer | undefined) {
  const { address, sockets } = await startLiar(honestBut(lies))
  const base = createEngine({ threads: 1 })
  onTestFinished(() => base[Symbol.asyncDispose]())
  const holder = holderAt(address)
  const engine = engineWithHolder(base, holder)
  return { engine, holder, sockets, unlock: () => engine.unlock(bot.certificate, '') }
}

const AFTER_TRIAL = 1

const seal = { text: 'words', certificates: [], cipher: 'aes256' } as const

test('a signature that does not hold never leaves: the send is refused as a failure of ours', async () => {
  let signatures = 0
  const { engine, unlock } = await engineBefore(({ kind }) =>
    kind === ASK.sign && signatures++ >= AFTER_TRIAL ? done(Buffer.alloc(64, 1)) : undefined,
  )
  const signer = await unlock()
  const sent = engine.seal({ ...seal, signer })
  await expect(sent).rejects.toMatchObject({ code: 'postern_locked' })
  await expect(sent).rejects.toSatisfy(isOwnFailure)
})

test('an agent that does not have the key cannot pretend to', async () => {
  const { unlock } = await engineBefore(({ kind }) =>
    kind === ASK.sign ? done(Buffer.alloc(64, 1)) : undefined,
  )
  await expect(unlock()).rejects.toMatchObject({ code: 'postern_locked' })
})

test('with a wrong session key a message is damaged, and nothing of it is read', async () => {
  const wrongKey = Buffer.concat([Buffer.of(9, 32), Buffer.alloc(32, 5)])
  const { engine, unlock } = await engineBefore(({ kind }) =>
    kind === ASK.unwrap ? done(wrongKey) : undefined,
  )
  const key = await unlock()
  const opened = await engine.open(await engine.seal({ ...seal, signer: key }), [key])
  expect(opened).toEqual({ outcome: 'damaged', reason: 'decryption' })
})

const garbled: [string, Answer][] = [
  ['a cipher that is none', done(Buffer.concat([Buffer.of(1, 32), Buffer.alloc(32)]))],
  ['a key cut short', done(Buffer.of(9, 32, 1, 2, 3))],
  ['a key of 3 bytes', done(Buffer.of(9, 3, 1, 2, 3))],
  ['an unknown status', { kind: 99, body: Buffer.alloc(0) }],
  ['that it has no such key', { kind: STATUS.unknownKey, body: Buffer.alloc(0) }],
  ['that it was asked too often', { kind: STATUS.tooMany, body: Buffer.alloc(0) }],
  ['that it failed', { kind: STATUS.failed, body: Buffer.alloc(0) }],
]

test.each(garbled)('an answer with %s is no verdict on a message', async (_what, answer) => {
  const { engine, unlock } = await engineBefore(({ kind }) =>
    kind === ASK.unwrap ? answer : undefined,
  )
  const key = await unlock()
  const opening = engine.open(await engine.seal({ ...seal, signer: key }), [key])
  await expect(opening).rejects.toSatisfy(isOwnFailure)
})

test('one message of a batch whose answer is garbled fails alone', async () => {
  let asked = 0
  const { engine, unlock } = await engineBefore(({ kind }) =>
    kind === ASK.unwrap && ++asked === 2 ? garbled[0]?.[1] : undefined,
  )
  const key = await unlock()
  const armored = await engine.seal({ ...seal, signer: key })
  const opened = await Promise.allSettled([1, 2, 3].map(() => engine.open(armored, [key])))
  expect(opened.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a connection that breaks fails what is under way, and the next questions go over another', async () => {
  let isQuiet = true
  const { engine, holder, sockets, unlock } = await engineBefore(({ kind }) =>
    kind === ASK.unwrap && isQuiet ? null : undefined,
  )
  const key = await unlock()
  const armored = await engine.seal({ ...seal, signer: key })
  const opening = engine.open(armored, [key])
  await new Promise((resolve) => setTimeout(resolve, 50))
  isQuiet = false
  sockets[0]?.destroy()
  await expect(opening).rejects.toSatisfy(isOwnFailure)
  expect(holder.state.isReachable).toBe(false)
  await expect.poll(() => holder.state.isReachable, { timeout: 3000 }).toBe(true)
  expect(await engine.open(armored, [key])).toMatchObject({ text: 'words' })
})

test('an agent that answers nothing is away within two seconds, and its questions end', async () => {
  let isStopped = false
  const { engine, holder, unlock } = await engineBefore(() => (isStopped ? null : undefined))
  const key = await unlock()
  isStopped = true
  const away = new Promise<string>((resolve) => {
    holder.onReachable(({ isReachable, reason }) => !isReachable && resolve(reason))
  })
  await expect(engine.seal({ ...seal, signer: key })).rejects.toSatisfy(isOwnFailure)
  expect(await away).toMatch(/does not answer$/)
})

test('an agent of another version is not asked', async () => {
  const { unlock } = await engineBefore(({ kind }) =>
    kind === ASK.hello ? done(Buffer.of(2)) : undefined,
  )
  await expect(unlock()).rejects.toThrow(/is of another version/)
})

test('bytes that are no frames end the connection', async () => {
  const { holder, sockets, unlock } = await engineBefore(() => undefined)
  await unlock()
  sockets[0]?.write(Buffer.alloc(64, 0xff))
  await expect.poll(() => holder.state.isReachable).toBe(false)
})

test('without an agent a question is refused at once, and it is reached once it is there', async () => {
  const folder = freshFolder()
  const holder = holderAt(`unix:${folder}/a.sock`)
  const asked = holder.make({ userId: 'bot', createdMs: 0, certifiedBy: null })
  await expect(asked).rejects.toThrow(/is not reached \(ENOENT\)/)
  await startAgentInside({}, folder)
  await expect.poll(() => holder.state.isReachable, { timeout: 3000 }).toBe(true)
})

test('bots of one process share a connection, which ends with the last of them', async () => {
  const { address, sockets } = await startLiar(honestBut(() => undefined))
  const [one, other] = [connectHolder(address), connectHolder(address)]
  await expect.poll(() => other.state.isReachable).toBe(true)
  await one[Symbol.asyncDispose]()
  expect(other.state.isReachable).toBe(true)
  await other[Symbol.asyncDispose]()
  await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true)
  expect(sockets).toHaveLength(1)
})

test('a socket without its file is away', async () => {
  const agent = await startAgentInside()
  const holder = holderAt(agent.address)
  await expect.poll(() => holder.state.isReachable).toBe(true)
  await agent[Symbol.asyncDispose]()
  rmSync(agent.address.slice('unix:'.length), { force: true })
  await expect.poll(() => holder.state.reason).toMatch(/closed the connection|is not reached/)
})
