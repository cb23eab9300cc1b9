/** The sidecar's end of the socket before an agent that is away, late, or lies. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { ASK, STATUS, type Frame } from '../../src/agent/frames.ts'
import { engineWithHolder } from '../../src/agent/held-engine.ts'
import { connectHolder, type StatefulHolder } from '../../src/agent/holders.ts'
import { isOwnFailure } from '../../src/errors.ts'
import { ED25519 } from '../../src/openpgp/crypto/ed25519.ts'
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
    if (frame.kind === ASK.sign) return done(ED25519.sign(signing, data))
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

const seal = { text: 'words', certificates: [], cipher: 'aes256' } as const

test('the first signature of a connection is verified, the others at random, and a send whose signature does not verify is refused as `postern_locked`', async () => {
  let lies = false
  const { engine, holder, sockets, unlock } = await engineBefore(({ kind }) =>
    kind === ASK.sign && lies ? done(Buffer.alloc(64, 1)) : undefined,
  )
  const signer = await unlock()
  const chance = vi.spyOn(Math, 'random').mockReturnValue(0.5)
  onTestFinished(() => chance.mockRestore())
  const sealed = (isLie: boolean) => {
    lies = isLie
    return engine.seal({ ...seal, signer })
  }
  const isRefused = async () => {
    const sent = sealed(true)
    await expect(sent).rejects.toMatchObject({ code: 'postern_locked' })
    await expect(sent).rejects.toSatisfy(isOwnFailure)
  }
  await isRefused()
  await sealed(false)
  // its readers do not believe it
  const opened = await engine.open(await sealed(true), [signer])
  const signed = opened.outcome === 'opened' && opened.signed
  expect(signed && (await engine.verify(signed, bot.certificate, Date.now()))).toEqual(['bad'])
  chance.mockReturnValueOnce(0)
  await isRefused()
  // until another one holds
  await isRefused()
  await sealed(false)
  sockets[0]?.destroy()
  await expect.poll(() => holder.state.isReachable).toBe(false)
  await expect.poll(() => holder.state.isReachable).toBe(true)
  await isRefused()
})

test('a key is not unlocked when the agent’s trial signature does not verify', async () => {
  const { unlock } = await engineBefore(({ kind }) =>
    kind === ASK.sign ? done(Buffer.alloc(64, 1)) : undefined,
  )
  await expect(unlock()).rejects.toMatchObject({ code: 'postern_locked' })
})

test('a message whose session key from the agent is wrong is damaged', async () => {
  const wrongKey = Buffer.concat([Buffer.of(9, 32), Buffer.alloc(32, 5)])
  const { engine, unlock } = await engineBefore(({ kind }) =>
    kind === ASK.unwrap ? done(wrongKey) : undefined,
  )
  const key = await unlock()
  const opened = await engine.open(await engine.seal({ ...seal, signer: key }), [key])
  expect(opened).toEqual({ outcome: 'damaged', reason: 'decryption' })
})

const garbled: [string, Answer][] = [
  ['an unknown cipher', done(Buffer.concat([Buffer.of(1, 32), Buffer.alloc(32)]))],
  ['a truncated key', done(Buffer.of(9, 32, 1, 2, 3))],
  ['a key of 3 bytes', done(Buffer.of(9, 3, 1, 2, 3))],
  ['an unknown status', { kind: 99, body: Buffer.alloc(0) }],
  ['the status of an unknown key', { kind: STATUS.unknownKey, body: Buffer.alloc(0) }],
  ['the status of too many requests', { kind: STATUS.tooMany, body: Buffer.alloc(0) }],
  ['the status of a failure', { kind: STATUS.failed, body: Buffer.alloc(0) }],
]

test.each(garbled)(
  'an unwrapping answered with %s is a failure of ours, not a verdict',
  async (_what, answer) => {
    const { engine, unlock } = await engineBefore(({ kind }) =>
      kind === ASK.unwrap ? answer : undefined,
    )
    const key = await unlock()
    const opening = engine.open(await engine.seal({ ...seal, signer: key }), [key])
    await expect(opening).rejects.toSatisfy(isOwnFailure)
  },
)

test('a malformed answer to one message of a batch fails this message only', async () => {
  let asked = 0
  const { engine, unlock } = await engineBefore(({ kind }) =>
    kind === ASK.unwrap && ++asked === 2 ? garbled[0]?.[1] : undefined,
  )
  const key = await unlock()
  const armored = await engine.seal({ ...seal, signer: key })
  const opened = await Promise.allSettled([1, 2, 3].map(() => engine.open(armored, [key])))
  expect(opened.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a broken connection fails the calls on it, and later calls use a new connection', async () => {
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
  await expect.poll(() => holder.state.isReachable).toBe(true)
  expect(await engine.open(armored, [key])).toMatchObject({ text: 'words' })
})

test('an agent that stops answering is unreachable, and its calls fail', async () => {
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

test('bytes that are not frames end the connection to the agent', async () => {
  const { holder, sockets, unlock } = await engineBefore(() => undefined)
  await unlock()
  sockets[0]?.write(Buffer.alloc(64, 0xff))
  await expect.poll(() => holder.state.isReachable).toBe(false)
})

test('a call without an agent fails at once, and the holder connects once the agent starts', async () => {
  const folder = freshFolder()
  const holder = holderAt(`unix:${folder}/a.sock`)
  const asked = holder.make({ userId: 'bot', createdMs: 0, certifiedBy: null })
  await expect(asked).rejects.toThrow(/is not reached \(ENOENT\)/)
  await startAgentInside({}, folder)
  await expect.poll(() => holder.state.isReachable).toBe(true)
})
