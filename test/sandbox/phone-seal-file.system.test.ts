import { createHash, randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { packetsOf, TAG } from '../../src/openpgp/format/packets.ts'
import { framedParts, sealFile, type FileForm } from '../../src/sandbox/phone/seal-file.ts'
import { seeded } from '../support/openpgp-bytes.ts'
import { openedFile } from '../support/openpgp-file.ts'
import { packet, partialPacket } from '../support/openpgp-framing.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { alice, bot } from '../support/openpgp-people.ts'

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
  'GnuPG opens and verifies a file sealed as %s',
  async (_name, form) => {
    const file = randomBytes(200_000)
    const ran = await gpg.run(['--status-fd', '2', '--decrypt'], await sealed(file, form))
    expect(Buffer.compare(ran.stdout, file)).toBe(0)
    expect(ran.stderr).toContain(`VALIDSIG ${alice.unlocked.fingerprint.toUpperCase()}`)
    expect(ran.stderr).toContain('GOODMDC')
  },
)

test.each([1, 65_535, 65_536, 131_072])(
  'a file of %i bytes sealed whole and in chunks is opened and verified',
  async (length) => {
    const file = randomBytes(length)
    for (const framing of ['whole', 'partial'] as const) {
      const { data, verdict } = await openedFile(await sealed(file, { framing }))
      expect(data.equals(file)).toBe(true)
      expect(verdict).toBe(true)
    }
  },
)

test('GnuPG opens a sealed file of 32 MiB', async () => {
  const file = randomBytes(32 * MIB)
  const ran = await gpg.run(['--decrypt'], await sealed(file))
  const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
  expect(digest(ran.stdout)).toBe(digest(file))
})

test('the PKESK packet of an anonymous recipient has a zero key id, of a named one that of the subkey', async () => {
  const keyId = async (form: FileForm): Promise<string> => {
    const [recipient] = packetsOf(await sealed(Buffer.from('file'), form))
    expect(recipient?.tag).toBe(TAG.pkesk)
    return Buffer.from(recipient?.body.subarray(1, 9) ?? []).toString('hex')
  }
  expect(await keyId({ recipients: 'anonymous' })).toBe('0'.repeat(16))
  expect(await keyId({})).toBe(bot.subkey.keyId)
})

test('`sealFile` without certificates, or with a malformed one, rejects', async () => {
  const request = { file: Buffer.from('file'), signer: alice.unlocked }
  await expect(sealFile({ ...request, certificates: [] })).rejects.toThrow()
  await expect(sealFile({ ...request, certificates: ['no certificate'] })).rejects.toThrow()
})

test.each([0, 191, 192, 8383, 8384, 65_535, 65_536, 65_537, 131_072, 200_000])(
  '`framedParts` frames a body of %i bytes in one packet, or in 64 KiB chunks and a rest',
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
