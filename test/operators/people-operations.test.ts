/** What commands on people and messages do with the parts of a sidecar, and what they answer. */
import { expect, test } from 'vitest'
import type { OperationParts } from '../../src/operators/operation.ts'
import { TRUST } from '../../src/operators/trust.ts'

const AT_MS = Date.UTC(2026, 2, 1)
const AT = '2026-03-01T00:00:00.000Z'

const pin = (userId: number, standing: string, more: object = {}) => ({
  userId,
  standing,
  fingerprint: 'f1',
  sinceMs: AT_MS,
  listed: 'f1',
  listedAtMs: AT_MS,
  ...more,
})
const PINS = [
  pin(1, 'seen'),
  pin(2, 'verified', { listed: null, listedAtMs: null }),
  pin(3, 'blocked', { fingerprint: null }),
  pin(4, 'accepted'),
]
const signed = new Set(['4 words', '1 file'])

function trustParts(decided = pin(4, 'accepted')) {
  const did: unknown[] = []
  const does =
    (name: string, result?: unknown) =>
    async (...given: unknown[]) => {
      await Promise.resolve()
      did.push([name, ...given])
      return result
    }
  const trust = {
    all: PINS,
    policies: {
      bot: 'first-use',
      byCommand: [{ chatId: 5, policy: 'pinned' }],
      for: (chatId: number) => `that of ${chatId}`,
      set: does('set'),
    },
    decisions: {
      accept: does('accept', decided),
      verify: does('verify', decided),
      block: does('block'),
    },
    sharersOf: ({ userId }: { userId: number }) => (userId === 1 ? [9] : []),
  }
  const parts = {
    trust,
    people: {
      ownerOf: (fingerprint: string) => (fingerprint === 'f2' ? 2 : undefined),
      hasSigned: (userId: number, what: string) => signed.has(`${userId} ${what}`),
    },
    names: { all: () => Promise.resolve(new Map([[4, 'dora']])) },
    directory: { forgetAll: () => did.push('forgetAll') },
    journal: {
      read: async (range: object) =>
        await Promise.resolve([{ atMs: AT_MS, id: 3, what: 'accepted', range }]),
    },
  }
  return { did, parts: parts as unknown as OperationParts }
}

test('`trustList` lists each person with certificate, standing and signing duty, and the policies', async () => {
  const { policy, said, people } = await TRUST.trustList.run(trustParts().parts, {})
  expect([policy, said]).toEqual(['first-use', [{ chatId: 5, policy: 'pinned' }]])
  const row = {
    userId: 1,
    fingerprint: 'f1',
    since: AT,
    standing: 'seen',
    authority: null,
    listed: 'f1',
    listedSince: AT,
    signs: false,
    signsFiles: true,
    sharedWith: [9],
    username: null,
  }
  const other = { ...row, signsFiles: false, sharedWith: [] }
  expect(people).toEqual([
    row,
    { ...other, userId: 2, standing: 'verified', listed: null, listedSince: null, signs: true },
    { ...other, userId: 3, standing: 'blocked', fingerprint: null, since: null },
    { ...other, userId: 4, standing: 'accepted', signs: true, username: 'dora' },
  ])
})

const elsewhere = '; the service lists f2, so nothing is sealed to them until it lists theirs'
test.each([
  ['as listed', {}, ''],
  ['with none listed', { listed: null }, ''],
  ['with another listed', { listed: 'f2' }, elsewhere],
])(
  '`trustVerify` and `trustAccept` report the certificate of a person %s',
  async (_what, more, ending) => {
    const { parts, did } = trustParts(pin(4, 'verified', more))
    const input = { userId: 4, fingerprint: 'f1' }
    const message = `person 4 is verified with f1${ending}`
    expect(await TRUST.trustVerify.run(parts, input)).toEqual({ message })
    const must = '; you start over with them: a verified person must sign messages in any case'
    expect(await TRUST.trustAccept.run(parts, input)).toEqual({ message: `${message}${must}` })
    expect(did).toEqual([['verify', 4, 'f1'], 'forgetAll', ['accept', 4, 'f1'], 'forgetAll'])
    const accepted = await TRUST.trustAccept.run(trustParts().parts, { userId: 4 })
    expect(accepted.message).toMatch(/with f1; .* need not sign until they have signed again$/)
  },
)

test.each([
  [null, 'the policy of the bot is first-use'],
  [5, 'the policy of chat 5 is that of 5'],
])(
  '`trustPolicy` for the chat %s sets the policy and reports the effective one',
  async (chatId, message) => {
    const { parts, did } = trustParts()
    expect(await TRUST.trustPolicy.run(parts, { chatId, policy: 'accept' })).toEqual({ message })
    expect(did).toEqual([['set', chatId, 'accept'], 'forgetAll'])
  },
)

test('`trustPolicy` refuses the chat id 0', async () => {
  const { parts, did } = trustParts()
  await expect(TRUST.trustPolicy.run(parts, { chatId: 0, policy: null })).rejects.toMatchObject({
    code: 'usage',
    message: 'no chat has the id 0',
    hint: 'see chat list',
  })
  expect(did).toEqual([])
})
