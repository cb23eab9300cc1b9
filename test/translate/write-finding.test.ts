import { expect, test } from 'vitest'
import { finalOf, type MessageFinding } from '../../src/kernel/opening/finding.ts'
import { REASON_DESCRIPTIONS } from '../../src/translate/reasons/reason-descriptions.ts'
import { writeFinding } from '../../src/translate/write-finding.ts'
import { runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'
import { type Reason, type Verdict, delivers } from '../../src/kernel/opening/verdict.ts'

const NEVER = ['not-recipient', 'damaged', 'too-large', 'locked', 'mode-unknown']
const OPENED = [
  'verified',
  'unsigned',
  'unknown-signer',
  'signer-unavailable',
  'bad-signature',
  'replayed',
] as const
const policies = ['flag', 'require', 'off'] as const

test('a text signed long before its date is withheld under require, with the date of its signature', () => {
  const judged = {
    verdict: 'verified',
    reason: 'signed-long-before',
    signer: 'f',
    signedAtMs: 1000,
    signatureDigest: 'd',
  } as const
  const opened = openedText('/pay 10')
  const finding = { kind: 'opened', opened, judged, isForOtherChat: false } as const
  const postern = {
    opened: true,
    verdict: 'verified',
    signer: 'f',
    signedAt: 1000,
    reason: 'signed-long-before',
  }
  for (const [verify, body] of [
    ['flag', { text: '/pay 10' }],
    ['require', { armored: 'sealed' }],
  ] as const) {
    const message = { armored: 'sealed' }
    written(message, finding, { verify, normalizeText: false })
    expect(message).toEqual({ ...body, postern })
  }
})

/** Writes a finding with its own verdict, and gives that. */
function written(
  message: Record<string, unknown>,
  finding: MessageFinding,
  how: Parameters<typeof writeFinding>[2],
) {
  const final = finalOf(finding, undefined)
  writeFinding(message, { finding, final }, how)
  return final
}

const finding: fc.Arbitrary<MessageFinding> = fc.oneof(
  fc.constant({ kind: 'untouched' as const }),
  fc.constant({ kind: 'readable' as const }),
  fc.record({
    kind: fc.constant('plain' as const),
    verdict: fc.constantFrom('plaintext-in-protected', 'before-key', 'mode-unknown'),
  }) as fc.Arbitrary<MessageFinding>,
  fc.record({
    kind: fc.constant('closed' as const),
    verdict: fc.constantFrom(...(NEVER as Verdict[])),
    reason: fc.constantFrom(...(Object.keys(REASON_DESCRIPTIONS) as Reason[])),
  }),
  fc
    .record({ verdict: fc.constantFrom(...OPENED), text: fc.string() })
    .map(({ verdict, text }) => ({
      kind: 'opened' as const,
      opened: openedText(text),
      judged: { verdict },
      isForOtherChat: false,
    })),
)

function openedText(text: string) {
  const signed = { document: new Uint8Array(), signatures: [] }
  const digests = { dataDigest: '', openedWith: '' }
  const recipients = { keyIds: new Uint8Array(), hasUnnamed: false }
  return {
    outcome: 'opened' as const,
    text,
    isFile: false,
    signatures: [],
    signed,
    recipients,
    ...digests,
  }
}

const message = fc.record(
  {
    id: fc.integer(),
    text: fc.string({ minLength: 1 }),
    armored: fc.string({ minLength: 1 }),
    media: fc.constant([]),
  },
  { requiredKeys: ['id'] },
)

test('`writeFinding` leaves one body, loses no field and writes no unjudged text for generated findings', () => {
  fc.assert(
    fc.property(message, finding, fc.constantFrom(...policies), (before, found, verify) => {
      const fits = {
        untouched: true,
        readable: 'armored' in before,
        plain: !('armored' in before) && 'text' in before,
        closed: 'armored' in before,
        opened: 'armored' in before,
      }[found.kind]
      fc.pre(fits)
      const after: Record<string, unknown> = structuredClone(before)
      const final = written(after, found, { verify, normalizeText: false })
      expect(after['id']).toBe(before.id)
      if (found.kind === 'untouched') {
        expect([final, after]).toEqual([null, before])
        return
      }
      expect('text' in after && 'armored' in after).toBe(false)
      const postern = after['postern'] as { withheldText?: string; opened: boolean }
      const held = [after['text'], after['armored'], postern.withheldText]
      if (found.kind === 'readable') {
        expect(held).toContain(before.armored)
        return
      }

      const delivered = final !== null && delivers(final, verify)
      const { verdict, reason } = final ?? {}
      expect(postern).toMatchObject({ verdict, ...(reason && { reason }) })
      expect(postern.opened).toBe(found.kind === 'opened')
      if (found.kind === 'opened') {
        expect(after['text']).toBe(delivered ? found.opened.text : undefined)
      }
      if (found.kind === 'plain') expect(after['text']).toBe(delivered ? before.text : undefined)
      if (found.kind === 'closed') expect(after).not.toHaveProperty('text')
      if (!delivered) {
        expect(after['armored']).toBe(before.armored)
        const isForBot = final?.reason !== 'approval-request'
        if (before.text) expect(held.includes(before.text)).toBe(isForBot)
      }
    }),
    { numRuns: runs(1000) },
  )
})

const how = { verify: 'flag', normalizeText: true } as const
const readable = { kind: 'readable' } as const

test.each([
  ['words', { withheldText: 'words' }],
  [['words', 1], { withheldText: '["words",1]' }],
  [0, { withheldText: '0' }],
  ['', {}],
  [null, {}],
  [undefined, {}],
])(
  '`writeFinding` of an armored text in a readable chat withholds the text %j beside it',
  (text, withheld) => {
    const one: Record<string, unknown> = { text, armored: 'armored words' }
    expect(written(one, readable, how)).toBeNull()
    expect(one).toEqual({
      text: 'armored words',
      postern: { opened: false, verdict: 'unsigned', reason: 'readable-chat', ...withheld },
    })
  },
)
