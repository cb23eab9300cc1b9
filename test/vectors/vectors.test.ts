import { expect, test } from 'vitest'
import { parseMessage } from '../../src/openpgp/format/encrypted-message.ts'
import { judge } from '../../src/openpgp/library/certificate.ts'
import { open } from '../../src/openpgp/library/open.ts'
import { verify } from '../../src/openpgp/library/verify.ts'
import { idsOf } from '../support/openpgp-engine.ts'
import { bodies, keyFiles } from './files.ts'
import { readVector, sha256 } from './format.ts'
import { earlierOf, namesIn, readText, unlocked, vectorAt, wordsOf } from './read.ts'

test.each(namesIn('messages'))('message vector %s has the outcome of its header', async (name) => {
  const { field, body } = vectorAt(`messages/${name}`)
  const keys = await Promise.all(wordsOf(field.get('reader')).map(unlocked))
  const walked = parseMessage(body, idsOf(keys))
  const opened = walked.outcome === 'encrypted' ? await open(walked, keys) : walked
  expect(opened.outcome).toBe(field.get('outcome'))
  if (opened.outcome !== 'opened') {
    expect('reason' in opened ? opened.reason : undefined).toBe(field.get('reason'))
    return
  }
  const text = field.get('text')
  if (text !== undefined) expect(JSON.stringify(opened.text)).toBe(JSON.stringify(JSON.parse(text)))
  else expect(sha256(opened.text)).toBe(field.get('text-sha256'))
  const nowMs = Date.parse(field.get('now') ?? '')
  const certificate = readText(`keys/${field.get('signer')}.asc`)
  expect(await verify(opened.signed, certificate, nowMs)).toEqual(wordsOf(field.get('signatures')))
  if (field.has('intended')) {
    expect(opened.signatures.flatMap(({ intended }) => intended)).toEqual(
      wordsOf(field.get('intended')),
    )
  }
})

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
