import { expect, test } from 'vitest'
import { judge } from '../../src/openpgp/library/certificate.ts'
import '../support/openpgp-engine.ts'
import { bodies, keyFiles } from './files.ts'
import { readVector, sha256 } from './format.ts'
import { earlierOf, namesIn, readText, vectorAt } from './read.ts'

const iso = (ms: number): string => new Date(ms).toISOString().replace('.000', '')

test.each(namesIn('certificates'))(
  'certificate vector %s has the outcome of its header',
  async (name) => {
    const { field, body } = vectorAt(`certificates/${name}`)
    const judged = await judge(body, Date.parse(field.get('now') ?? ''), earlierOf(field))
    expect(judged.unusable ?? undefined).toBe(field.get('reason'))
    expect(judged.unusable === null ? 'usable' : 'unusable').toBe(field.get('outcome'))
    const { expiresMs, notBeforeMs, recipientBytes } = judged
    const stated: Record<string, string> = {
      fingerprint: judged.fingerprint ?? '',
      algorithm: judged.algorithm,
      expires: expiresMs === Infinity ? 'never' : iso(expiresMs),
      'not-before': iso(notBeforeMs),
      'recipient-octets': `${recipientBytes.aes256} ${recipientBytes.aes128}`,
    }
    for (const [key, value] of Object.entries(stated)) {
      if (field.has(key)) expect(value, key).toBe(field.get(key))
    }
  },
)

test('`bodies` and `keyFiles` make the body of every vector and every key again', () => {
  const made = bodies()
  for (const [path, body] of made) expect(sha256(vectorAt(path).body), path).toBe(sha256(body))
  for (const [path, text] of keyFiles()) expect(readText(path), path).toBe(text)
  const written = [...made.keys()]
  for (const folder of ['messages', 'certificates', 'chats']) {
    const expected = written.filter((path) => path.startsWith(folder))
    expect(namesIn(folder).map((name) => `${folder}/${name}`)).toEqual(expected.toSorted())
  }
})

test('every vector has the header fields of its kind, and the digest of its body', () => {
  const FIELDS = {
    message: ['about', 'covers', 'reader', 'signer', 'now', 'outcome', 'why'],
    certificate: ['about', 'covers', 'now', 'outcome', 'why'],
    chat: ['about', 'covers', 'reader', 'published', 'now', 'outcome', 'why'],
  }
  for (const folder of ['messages', 'certificates', 'chats']) {
    for (const name of namesIn(folder)) {
      const { kind, fields, body } = readVector(readText(`${folder}/${name}`))
      expect(new Map(fields).get('sha256'), name).toBe(sha256(body))
      const given = fields.map(([field]) => field)
      expect(given, name).toEqual(expect.arrayContaining(FIELDS[kind]))
      expect(new Set(given).size, name).toBe(given.length)
    }
  }
})
