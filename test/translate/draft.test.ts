import { expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { readEdit, readSend, type Draft } from '../../src/translate/draft.ts'
import { runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'

const RULES = { textMax: 40, sealsForBot: true }
const SEND = ['chatId', 'text', 'armored', 'replyTo', 'markup', 'silent', 'sendId']
const EDIT = ['chatId', 'text', 'armored', 'markup']

const field = {
  chatId: fc.oneof(fc.maxSafeInteger(), fc.constantFrom('5', 1.5, null, 2 ** 53)),
  text: fc.oneof(
    fc.string({ maxLength: 50, unit: 'grapheme' }),
    fc.string({ maxLength: 50, unit: 'binary' }),
    fc.constantFrom(7, null, '\ud800', '\n\t'),
  ),
  armored: fc.constantFrom('', '-----BEGIN PGP MESSAGE-----', 7),
  replyTo: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(null, '7')),
  markup: fc.oneof(fc.constantFrom(null, 0, 'x'), fc.jsonValue({ maxDepth: 2 })),
  silent: fc.constantFrom(true, false, 'yes'),
  sendId: fc.oneof(fc.uuid(), fc.constantFrom('x', 7)),
  caption: fc.string(),
  Text: fc.string(),
}
const body = fc.record(field, { requiredKeys: [] })

/** What the spec says of a readable text, in words of our own. */
function isFit(text: unknown): text is string {
  if (typeof text !== 'string' || text.trim() === '' || text.length > RULES.textMax) return false
  return Array.from(text).every((character) => {
    const code = character.codePointAt(0) ?? 0
    const isControl = code < 32 || (code >= 127 && code < 160)
    const isHalf = code >= 0xd800 && code <= 0xdfff
    return character === '\n' || character === '\t' || (!isControl && !isHalf)
  })
}

function attempt(read: () => Draft): Draft | Refusal {
  try {
    return read()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

const kinds = [
  ['a send', SEND, (json: unknown) => readSend(json, RULES)],
  ['an edit', EDIT, (json: unknown) => readEdit('7', json, RULES)],
] as const
for (const [name, listed, read] of kinds) {
  test(`${name} with generated fields is refused with a code of the service, or becomes a complete draft`, () => {
    fc.assert(
      fc.property(body, (json: Record<string, unknown>) => {
        const got = attempt(() => read(structuredClone(json)))
        if (got instanceof Refusal) {
          expect(['bad_request', 'wrong_body_kind']).toContain(got.code)
          const { text } = json
          if (isFit(text)) expect(got.message).not.toContain(text.trim().padEnd(6, '\0'))
          return
        }
        expect(json['text'] === undefined || isFit(json['text'])).toBe(true)
        expect(json).not.toHaveProperty('armored')
        expect(got.text).toBe(json['text'])
        expect(got.chatId).toBe(json['chatId'])
        expect(got.fields).not.toHaveProperty('text')
        const { text: _said, sendId, ...rest } = json
        expect(got.fields).toMatchObject(rest)
        expect('markup' in got.fields).toBe('markup' in json)
        expect(got.unlisted).toEqual(Object.keys(json).filter((key) => !listed.includes(key)))
        if (name === 'a send') {
          expect(got.text).toBeDefined()
          const wanted = typeof sendId === 'string' ? sendId.toLowerCase() : got.fields['sendId']
          expect(got.fields['sendId']).toBe(wanted)
          expect(wanted).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
        }
      }),
      { numRuns: runs(1000) },
    )
  })
}

test('a send is accepted exactly when its text fits the specification', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60, unit: 'binary' }), (text) => {
      const got = attempt(() => readSend({ chatId: 5, text }, RULES))
      expect(got instanceof Refusal).toBe(!isFit(text))
    }),
    { numRuns: runs(1000) },
  )
})

test('two sends without a sendId have different ones added', () => {
  const ids = [1, 2].map(() => readSend({ chatId: 5, text: 'x' }, RULES).fields['sendId'])
  expect(ids[0]).not.toBe(ids[1])
})
