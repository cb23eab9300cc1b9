import { afterAll, expect, test } from 'vitest'
import { LIMITS } from '../../src/api/limits.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { sha256 } from './format.ts'
import { earlierOf, namesIn, readText, unlocked, vectorAt, wordsOf } from './read.ts'

/** The vectors through the whole engine, threads and all: natively, and by the library alone. */
const natively = createEngine()
const library = createEngine({ engine: 'library' })
afterAll(() => Promise.all([natively, library].map((engine) => engine[Symbol.asyncDispose]())))

test.each(namesIn('messages'))(
  'the native engine and the library open message vector %s with the outcome of its header',
  async (name) => {
    const { field, body } = vectorAt(`messages/${name}`)
    // the kernel closes it, by the maximum of the service (examine.test.ts)
    if (body.length > LIMITS.armoredMax) return expect(field.get('outcome')).toBe('too-large')
    const keys = await Promise.all(wordsOf(field.get('reader')).map(unlocked))
    const opened = await natively.open(body, keys)
    // What crossed a thread is no Buffer any more.
    expect(structuredClone(opened)).toEqual(await library.open(body, keys))
    expect(opened.outcome).toBe(field.get('outcome'))
    if (opened.outcome !== 'opened') {
      expect('reason' in opened ? opened.reason : undefined).toBe(field.get('reason'))
      return
    }
    const text = field.get('text')
    if (text === undefined) expect(sha256(opened.text)).toBe(field.get('text-sha256'))
    else expect(JSON.stringify(opened.text)).toBe(JSON.stringify(JSON.parse(text)))
    if (field.has('intended')) {
      expect(opened.signatures.flatMap(({ intended }) => intended)).toEqual(
        wordsOf(field.get('intended')),
      )
    }
    const nowMs = Date.parse(field.get('now') ?? '')
    for (const signer of [field.get('signer') ?? '', 'bot', 'mallory']) {
      const certificate = readText(`keys/${signer}.asc`)
      const results = await natively.verify(opened.signed, certificate, nowMs)
      expect(results, signer).toEqual(await library.verify(opened.signed, certificate, nowMs))
      if (signer === field.get('signer')) expect(results).toEqual(wordsOf(field.get('signatures')))
    }
  },
)

test.each(namesIn('certificates'))(
  'the native engine and the library judge certificate vector %s alike',
  async (name) => {
    const { field, body } = vectorAt(`certificates/${name}`)
    const earlier = earlierOf(field)
    const { notBeforeMs: since, ...judged } = await natively.judge(body, earlier)
    const { notBeforeMs, ...expected } = await library.judge(body, earlier)
    expect(judged).toEqual(expected)
    if (judged.unusable === null) expect(since).toBeLessThanOrEqual(Date.now())
    else expect(since).toBe(notBeforeMs)
  },
)
