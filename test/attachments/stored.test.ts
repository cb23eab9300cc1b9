import { armor } from '../support/openpgp-framing.ts'
import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { BEARER, fetched, named, picture, sealedBy } from './support.ts'

const stage = useStage()

/** As `gpg --clearsign` writes it; nobody verifies it. */
const CLEARSIGNED = Buffer.from(
  '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nclear\n-----BEGIN PGP SIGNATURE-----\n\niHUEARYKAB0=\n-----END PGP SIGNATURE-----\n',
)

test('a file of a readable chat is served as it is stored, even when sealed to the bot', async () => {
  const from = await stage.friend()
  const chat = stage.openGroup()
  const sealed = await sealedBy(from, stage, picture())
  const armored = Buffer.from(await from.phone.seal('armored', [stage.botCertificate]))
  const signed = await from.phone.sign('signed and not sealed')
  const certificate = Buffer.from(from.phone.certificate)
  const stored = [
    picture(),
    sealed,
    armored,
    signed,
    CLEARSIGNED,
    certificate,
    Buffer.from('words'),
  ]
  for (const content of stored) {
    const url = await named(stage, content, { chat, from })
    const { status, headers, body } = await fetched(stage, url)
    expect(status).toBe(200)
    expect(body).toEqual(content)
    expect(headers.get('postern-verdict')).toBeNull()
  }
  const url = await named(stage, picture(), { chat, from })
  const whole = await fetched(stage, url)
  expect(whole.headers.get('content-type')).toBe('image/png')
  const part = await fetched(stage, url, { headers: { range: 'bytes=-5' } })
  expect(part.body).toEqual(whole.body.subarray(-5))
})

test('an unsealed file of a protected chat is refused with `postern_plaintext_in_protected`', async () => {
  const from = await stage.friend()
  const signed = await from.phone.sign('signed and not sealed')
  const certificate = Buffer.from(from.phone.certificate)
  const chats = [stage.privateChat(from), stage.group([from])]
  for (const chat of chats) {
    for (const content of [picture(), signed, CLEARSIGNED, certificate]) {
      const url = await named(stage, content, { chat, from })
      const { status, code, body } = await fetched(stage, url)
      expect({ status, code }).toEqual({ status: 422, code: 'postern_plaintext_in_protected' })
      expect(body.includes(content)).toBe(false)
    }
  }
})

test('an armored sealed file is served decrypted, as a binary one', async () => {
  const from = await stage.friend()
  const content = picture(100_000)
  const sealed = await sealedBy(from, stage, content)
  const armored = Buffer.from(armor(sealed))
  expect(armored.toString('latin1', 0, 27)).toBe('-----BEGIN PGP MESSAGE-----')
  const url = await named(stage, armored, { chat: stage.privateChat(from), from })
  const { headers, body } = await fetched(stage, url)
  expect(body.equals(content)).toBe(true)
  expect(headers.get('postern-verdict')).toBe('verified')
})

test('the sidecar reads the mode of a chat once for unsealed files, and again for each sealed file', async () => {
  const from = await stage.friend()
  const chat = stage.openGroup({ people: [from] })
  const asked = async (content: Buffer): Promise<number> => {
    const url = await named(stage, content, { chat, from })
    const mark = stage.double.mark()
    expect((await fetched(stage, url)).status).toBe(200)
    return stage.double.calls('GET', `/chats/${chat.id}`, mark).length
  }
  expect(await asked(picture())).toBe(1)
  expect(await asked(picture())).toBe(0)
  expect(await asked(await sealedBy(from, stage, picture()))).toBe(1)
  chat.historyVisible = false
  const sealed = await sealedBy(from, stage, picture())
  const url = await named(stage, sealed, { chat, from })
  expect((await fetched(stage, url)).headers.get('postern-verdict')).toBe('verified')
})

test('a media id read with the bot’s token belongs to the chat that named it first', async () => {
  const [from, other] = [await stage.friend(), await stage.person()]
  const item = stage.double.world.store(await sealedBy(from, stage, picture()))
  const deliver = async (chat: ReturnType<typeof stage.openGroup>, sender: typeof from) => {
    const message = stage.double.world.message(chat, sender, { media: [item] })
    return (await stage.deliver([message]))[0].media[0].url as string
  }
  await deliver(stage.privateChat(from), from)
  const wrong = await deliver(stage.privateChat(other), other)
  const { headers } = await fetched(stage, item.url, { headers: BEARER })
  expect(headers.get('postern-verdict')).toBe('verified')
  expect((await fetched(stage, wrong)).code).toBe('postern_replayed')
})
