import { createHash, randomBytes } from 'node:crypto'
import { decrypt, readMessage, readPrivateKey } from 'openpgp'
import { afterAll, expect, test } from 'vitest'
import { packetsOf, TAG } from '../../src/openpgp/format/packets.ts'
import { framedParts, sealFile, type FileForm } from '../../src/sandbox/phone/seal-file.ts'
import { seeded } from '../support/openpgp-bytes.ts'
import { openedFile } from '../support/openpgp-file.ts'
import { packet, partialPacket } from '../support/openpgp-framing.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { alice, bot, mallory } from '../support/openpgp-people.ts'

const MIB = 1024 * 1024
const FORMS: FileForm[] = [
  {},
  { compression: 'zip' },
  { compression: 'zlib', framing: 'partial' },
  { recipients: 'anonymous' },
  { framing: 'partial' },
  { cipher: 'aes128' },
  { encoding: 'armored' },
]

const gpg = await Gpg.start()
await gpg.run(['--import'], bot.secret)
await gpg.run(['--import'], alice.certificate)
afterAll(() => gpg[Symbol.asyncDispose]())

const sealed = (file: Uint8Array, form: FileForm = {}): Promise<Buffer> =>
  sealFile({ file, certificates: [bot.certificate], signer: alice.unlocked, form })

test.each(FORMS.map((form) => [JSON.stringify(form), form] as const))(
  'a file sealed as %s is opened and verified by GnuPG',
  async (_name, form) => {
    const file = randomBytes(200_000)
    const ran = await gpg.run(['--status-fd', '2', '--decrypt'], await sealed(file, form))
    expect(Buffer.compare(ran.stdout, file)).toBe(0)
    expect(ran.stderr).toContain(`VALIDSIG ${alice.unlocked.fingerprint.toUpperCase()}`)
    expect(ran.stderr).toContain('GOODMDC')
  },
)

test.each([1, 191, 192, 8383, 8384, 65_535, 65_536, 65_537, 131_072])(
  'a file of %i bytes comes back whole, in one piece and in chunks',
  async (length) => {
    const file = randomBytes(length)
    for (const framing of ['whole', 'partial'] as const) {
      const { data, verdict } = await openedFile(await sealed(file, { framing }))
      expect(data.equals(file)).toBe(true)
      expect(verdict).toBe(true)
    }
  },
)

test('64 MiB are sealed and come back', async () => {
  const file = randomBytes(64 * MIB)
  const ran = await gpg.run(['--decrypt'], await sealed(file))
  const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
  expect(digest(ran.stdout)).toBe(digest(file))
})

test('an unsigned file has no signature at all', async () => {
  const { data, verdict } = await openedFile(
    await sealed(Buffer.from('file'), { signature: 'none' }),
  )
  expect(data.toString()).toBe('file')
  expect(verdict).toBeUndefined()
})

test('a damaged signature does not verify, and neither does another’s', async () => {
  const file = Buffer.from('file')
  const damaged = await sealed(file, { signature: 'damaged' })
  expect((await openedFile(damaged)).verdict).toBe(false)
  expect((await openedFile(await sealed(file), mallory)).verdict).toBe(false)
})

test('an anonymous recipient is named by no packet, a named one by its subkey', async () => {
  const keyId = async (form: FileForm): Promise<string> => {
    const [recipient] = packetsOf(await sealed(Buffer.from('file'), form))
    expect(recipient?.tag).toBe(TAG.pkesk)
    return Buffer.from(recipient?.body.subarray(1, 9) ?? []).toString('hex')
  }
  expect(await keyId({ recipients: 'anonymous' })).toBe('0'.repeat(16))
  expect(await keyId({})).toBe(bot.subkey.keyId)
})

test('only those who were named can open it, not even its writer', async () => {
  const bytes = await sealed(Buffer.from('file'))
  await expect(
    decrypt({
      message: await readMessage({ binaryMessage: bytes }),
      decryptionKeys: await readPrivateKey({ binaryKey: alice.secret }),
    }),
  ).rejects.toThrow()
})

test('nothing of the file stands in what is sealed', async () => {
  const file = Buffer.from('a canary that nobody may see')
  const bytes = await sealed(file)
  expect(bytes.includes(file)).toBe(false)
  expect(bytes.includes(file.toString('base64').slice(0, 20))).toBe(false)
})

test('nobody to seal to, and a certificate that is none, are refused', async () => {
  const request = { file: Buffer.from('file'), signer: alice.unlocked }
  await expect(sealFile({ ...request, certificates: [] })).rejects.toThrow()
  await expect(sealFile({ ...request, certificates: ['no certificate'] })).rejects.toThrow()
})

test.each([0, 191, 192, 8383, 8384, 65_535, 65_536, 65_537, 131_072, 200_000])(
  'a body of %i bytes that comes in parts is framed whole, or in chunks of 64 KiB and a rest',
  (length) => {
    const body = seeded('body', length)
    const parts = [body.subarray(0, 100), body.subarray(100)]
    const whole = Buffer.concat(framedParts(18, parts, 'whole'))
    expect(whole).toEqual(packet(18, body))
    const chunks = Array.from({ length: Math.floor(length / 65_536) }, () => 16)
    const partial = Buffer.concat(framedParts(18, parts, 'partial'))
    expect(partial).toEqual(chunks.length === 0 ? whole : partialPacket(18, body, chunks))
  },
)
