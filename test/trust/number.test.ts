/** The number itself: both programs compute the vectors, and nothing but an equal one is equal. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { numberOf } from '../../src/sandbox/phone/number.ts'
import { compareNumber, safetyNumber } from '../../src/operators/trust/number.ts'
import type { NumberHolders } from '../../src/operators/trust/number.ts'
import { digitLines } from '../../src/operators/trust/show-number.ts'

interface Vector extends NumberHolders {
  name: string
  digits: string
  text: string
}

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/safety-numbers.json', import.meta.url), 'utf8'),
) as Vector[]
const [FIRST, , OTHER_PERSON, , OTHER_BOT] = VECTORS as [Vector, Vector, Vector, Vector, Vector]
const [, , ONE_ID, ONE, OTHER_ID, OTHER] = FIRST.text.split(':')
const TURNED = `POSTERN-NUMBER:1:${OTHER_ID}:${OTHER}:${ONE_ID}:${ONE}`

describe.each(VECTORS)('the vector where $name', ({ bot, person, digits, text }) => {
  test('the sidecar computes the vector from either side where $name', async () => {
    expect(await safetyNumber({ bot, person })).toEqual({ digits, text })
    expect(await safetyNumber({ bot: person, person: bot })).toEqual({ digits, text })
  })

  test('the sandbox’s phone computes the vector from either side where $name', async () => {
    const parties = [bot, person].map(({ userId, fingerprint }) => [userId, fingerprint] as const)
    const [own, other] = parties as [[number, string], [number, string]]
    expect(await numberOf(own, other)).toEqual({ digits, text })
    expect(await numberOf(other, own)).toEqual({ digits, text })
  })

  test('the safety number is equal to itself alone where $name', async () => {
    const same = await Promise.all(
      [digits, text].map((given) => compareNumber(given, { bot, person })),
    )
    expect(same).toEqual(['equal', 'equal'])
    const other = VECTORS.find((one) => one.digits !== digits)!
    expect(await compareNumber(other.digits, { bot, person })).not.toBe('equal')
    expect(await compareNumber(other.text, { bot, person })).not.toBe('equal')
  })
})

test('`src/operators/trust/README.md` shows the first vectors', () => {
  const readme = readFileSync(
    new URL('../../src/operators/trust/README.md', import.meta.url),
    'utf8',
  )
  for (const { digits, text, person } of [FIRST, OTHER_PERSON]) {
    for (const line of [...digitLines(digits), person.fingerprint]) expect(readme).toContain(line)
    expect(text).toContain(person.fingerprint.toUpperCase())
  }
  expect(readme).toContain(FIRST.text)
})

const given = (text: string) => compareNumber(text, FIRST)

test('the input of a safety number may contain blanks and line breaks', async () => {
  expect(await given(`\uFEFF ${digitLines(FIRST.digits).join('\r\n')}\n`)).toBe('equal')
  expect(await given(FIRST.text.match(/.{1,20}/g)!.join('\n  '))).toBe('equal')
})

test.each([
  ['person', OTHER_PERSON],
  ['bot', OTHER_BOT],
] as const)(
  'the comparison of a safety number names the part that differs: %s',
  async (whose, { digits, text }) => {
    expect([await given(digits), await given(text)]).toEqual([whose, whose])
  },
)

test('a safety number with a changed digit, or one half twice, differs', async () => {
  const { digits } = FIRST
  for (const at of [0, 29, 30, 59]) {
    const changed = `${digits.slice(0, at)}${(Number(digits[at]) + 1) % 10}${digits.slice(at + 1)}`
    expect(await given(changed)).not.toBe('equal')
  }
  expect(await given(digits.slice(0, 30).repeat(2))).toBe('bot')
  expect(await given(digits.slice(30).repeat(2))).toBe('person')
  expect(await given('0'.repeat(60))).toBe('both')
})

test.each([
  ['nothing', ''],
  ['59 digits', FIRST.digits.slice(1)],
  ['61 digits', `${FIRST.digits}0`],
  ['digits of another script', FIRST.digits.replaceAll('1', '\u0661')],
  ['digits with a sign', `-${FIRST.digits.slice(1)}`],
  ['a fingerprint', FIRST.person.fingerprint],
  ['a text in lower case', FIRST.text.toLowerCase()],
  ['a text with more behind', `${FIRST.text}:1`],
  ['a text in another text', `see ${FIRST.text}`],
  ['a text with one account', FIRST.text.split(':').slice(0, 4).join(':')],
  ['digits with the halves in the other order', FIRST.digits.slice(30) + FIRST.digits.slice(0, 30)],
  ['a text with the accounts in the other order', TURNED],
  ['a text with an id of leading zeros', FIRST.text.replace(':7:', ':07:')],
  ['a text with a zero byte', `${FIRST.text}\0`],
  ['a link', `https://example.org/?${FIRST.text}`],
  ['very much', '1'.repeat(100_000)],
])('the input of a safety number is refused as %s', async (_what, text) => {
  await expect(given(text)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('no safety number'),
  })
})

test('a safety number text of another version is refused with a hint at the version', async () => {
  for (const version of ['0', '2', '11', '01']) {
    const text = FIRST.text.replace(':1:', `:${version}:`)
    await expect(given(text)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('another version'),
    })
  }
})
