import { expect, test } from 'vitest'
import { PeerPhone } from '../support/double-phones.ts'
import { arrives } from '../support/double-sends.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import type { DoubleChat, ListedPerson } from '../support/double-world.ts'
import { fetched, named, outcomeOf, picture, resealed, sealedBy } from './support.ts'

const stage = useStage()

/** What comes of a file in a chat, in somebody's name. */
async function outcome(
  sealed: Buffer,
  o: { chat: DoubleChat; from: ListedPerson | null },
): Promise<string> {
  return await outcomeOf(stage, await named(stage, sealed, o))
}

const DAY_MS = 86_400_000
const someone = () => stage.person()

const verdictOfWords = async (chat: DoubleChat, from: Person, armored: string): Promise<string> =>
  (await arrives(stage, chat, from, armored)).postern.verdict
const signedWords = async (chat: DoubleChat, from: Person): Promise<string> =>
  await verdictOfWords(chat, from, await from.phone.seal('signed', [stage.botCertificate]))
const unsignedWords = async (chat: DoubleChat, from: Person): Promise<string> =>
  await verdictOfWords(chat, from, await from.phone.sealUnsigned('words', [stage.botCertificate]))

test('a person who has signed text must sign text, and may send unsigned files', async () => {
  const from = await someone()
  const chat = stage.privateChat(from)
  expect(await signedWords(chat, from)).toBe('verified')
  const sealed = await sealedBy(from, stage, picture(), { isSigned: false })
  expect(await outcome(sealed, { chat, from })).toBe('unsigned')
  expect(await unsignedWords(chat, from)).toBe('bad-signature')
})

test('a person who has signed a file must sign files, and may write unsigned text', async () => {
  const from = await someone()
  const chat = stage.privateChat(from)
  expect(await outcome(await sealedBy(from, stage, picture()), { chat, from })).toBe('verified')
  const sealed = await sealedBy(from, stage, picture(), { isSigned: false })
  expect(await outcome(sealed, { chat, from })).toBe('422 postern_bad_signature')
  expect(await unsignedWords(chat, from)).toBe('unsigned')
})

test('a file served as unsigned is served again after its sender has signed one, and after a restart', async () => {
  const from = await someone()
  const chat = stage.privateChat(from)
  const url = await named(stage, await sealedBy(from, stage, picture(), { isSigned: false }), {
    chat,
    from,
  })
  const verdictOf = (): Promise<string> => outcomeOf(stage, url)
  expect(await verdictOf()).toBe('unsigned')
  const before = await named(stage, await sealedBy(from, stage, picture(), { isSigned: false }), {
    chat,
    from,
  })
  expect(await outcome(await sealedBy(from, stage, picture()), { chat, from })).toBe('verified')
  expect(await verdictOf()).toBe('unsigned')
  await stage.restart()
  expect(await verdictOf()).toBe('unsigned')
  expect(await verdictOf()).toBe('unsigned')
  // Named before, and not fetched: it is new.
  expect(await outcomeOf(stage, before)).toBe('422 postern_bad_signature')
  const fresh = await sealedBy(from, stage, picture(), { isSigned: false })
  expect(await outcome(fresh, { chat, from })).toBe('422 postern_bad_signature')
})

test('a file signed by another person is refused with `postern_bad_signature` and a hint', async () => {
  const [from, other] = [await stage.friend(), await someone()]
  const chat = stage.group([from, other])
  const url = await named(stage, await sealedBy(other, stage, picture()), { chat, from })
  const { status, code, message, headers } = await fetched(stage, url)
  expect({ status, code }).toEqual({ status: 422, code: 'postern_bad_signature' })
  expect(message).toBe('the signature is not the sender’s; treat it as forged')
  expect(headers.get('postern-verdict')).toBeNull()
})

test('a file without a sender is refused with `postern_bad_signature`', async () => {
  const [person, signer] = [await stage.friend(), await stage.friend()]
  const chat = stage.group([person])
  for (const isSigned of [true, false]) {
    const sealed = await sealedBy(signer, stage, picture(), { isSigned })
    expect(await outcome(sealed, { chat, from: null })).toBe('422 postern_bad_signature')
  }
})

test('a file signed for other recipients is refused with `postern_not_recipient`', async () => {
  const sq = stage.with(await PeerPhone.make('sq'))
  const thief = await someone()
  const forThief = await sq.phone.seal('for the thief', [thief.phone.certificate])
  const signed = await thief.phone.unwrap(forThief)
  const anew = await resealed(thief, stage, signed)
  const refused = await outcome(anew, { chat: stage.privateChat(sq), from: sq })
  expect(refused).toBe('422 postern_not_recipient')
})

test('a file signed an hour ahead is refused, and a file signed 200 seconds ahead is verified', async () => {
  const from = await someone()
  const chat = stage.privateChat(from)
  const ahead = (ms: number) => ({ dateMs: Date.now() + ms })
  const late = await sealedBy(from, stage, picture(), ahead(3_600_000))
  expect(await outcome(late, { chat, from })).toBe('422 postern_bad_signature')
  const soon = await sealedBy(from, stage, picture(), ahead(200_000))
  expect(await outcome(soon, { chat, from })).toBe('verified')
})

test('a file signed 60 days ago is refused with `postern_replayed`', async () => {
  const before = Date.now() - 60 * DAY_MS
  const [from, other] = [await stage.person({ createdMs: before }), await someone()]
  const signed = await from.phone.sign('a picture, once', before + 1000)
  const anew = await resealed(other, stage, signed)
  const chat = stage.privateChat(from)
  expect(await outcome(anew, { chat, from })).toBe('422 postern_replayed')
})
