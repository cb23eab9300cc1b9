/** Which calls need a person's word, which replies count, and whether a call may leave. */
import { describe, expect, test } from 'vitest'
import {
  requireCleared,
  whyNotCounted,
  wordIn,
  type Approval,
  type ApprovalRule,
  type KnownChat,
  type NumberedMessage,
  type Person,
} from '../../../src/kernel/index.ts'
import { approvalsOf, cleared, replyOf } from '../../support/approvals.ts'
import { refused } from '../../support/refused.ts'

const [BOSS, MATE, OFFICE, GROUP, CHANNEL, NEW] = [815, 816, 3, 4, 5, 6]
const chat = (id: number, kind: string, personId: number | null = null): KnownChat => ({
  id,
  kind,
  personId,
  latchedAtMs: null,
  refusedAtMs: null,
})
const CHATS = [chat(GROUP, 'group', BOSS), chat(OFFICE, 'private', BOSS), chat(CHANNEL, 'channel')]
const knownChats = { all: CHATS, get: (id: number) => CHATS.find((one) => one.id === id) }
const rule = (more: Partial<ApprovalRule> = {}): ApprovalRule => ({
  chats: ['all'],
  kinds: ['send', 'edit'],
  by: [BOSS],
  withinMs: 1000,
  ...more,
})
const scene = (...rules: ApprovalRule[]) => approvalsOf({ rules, knownChats })
const send = (chatId = GROUP, client: string | null = null) => ({ client, chatId, messageId: null })
const edit = (chatId = GROUP) => ({ client: null, chatId, messageId: '7' })

describe('an approval rule', () => {
  test.each<[ApprovalRule['chats'], number[]]>([
    [['all'], [OFFICE, GROUP, CHANNEL, NEW]],
    [
      [GROUP, NEW],
      [GROUP, NEW],
    ],
  ])(
    'an approval rule for the chats %j demands an approval in the chats %j, of any kind',
    (chats, covered) => {
      const approvals = scene(rule({ chats }))
      const all = [OFFICE, GROUP, CHANNEL, NEW]
      expect(all.filter((id) => approvals.demandOf(send(id)) !== null)).toEqual(covered)
      expect(all.filter((id) => approvals.clear(send(id)) === null)).toEqual(covered)
    },
  )

  test('an approval rule with clients applies to these alone, and one without also to the bot', () => {
    const named = scene(rule({ clients: ['agent'] }))
    const callers = [null, 'agent', 'agent-2']
    const demanded = (approvals: typeof named) =>
      callers.filter((client) => approvals.demandOf(send(GROUP, client)) !== null)
    expect([demanded(named), demanded(scene(rule()))]).toEqual([['agent'], callers])
  })

  test('an approval rule applies to its kinds of call, and the first that fits decides', () => {
    const first = rule({ kinds: ['edit'], by: [MATE] })
    const approvals = scene(first, rule())
    expect(approvals.demandOf(send())?.by).toEqual([BOSS])
    expect(approvals.demandOf(edit())?.by).toEqual([MATE])
    expect(scene(first).demandOf(send())).toBeNull()
  })

  test('an approval is requested in the private chats of the approvers, and refused without any', () => {
    expect(scene().chatsOf(rule({ by: [MATE, BOSS] }))).toEqual([{ userId: BOSS, chatId: OFFICE }])
    expect(() => scene().chatsOf(rule({ by: [MATE] }))).toThrow(
      refused('postern_approver_unreachable', 'no private chat with 816'),
    )
  })
})

test('a clearance allows its own chat and kind of call, and a forged one allows nothing', () => {
  const target = (route: 'send' | 'edit') => ({ route, path: '/messages', later: null })
  const call = { chatId: GROUP, target: target('send') }
  const clearance = cleared(call)
  expect(() => requireCleared(clearance, call)).not.toThrow()
  const others = [
    { ...call, chatId: OFFICE },
    { ...call, target: target('edit') },
  ]
  for (const one of others) expect(() => requireCleared(clearance, one)).toThrow(NEEDED)
  for (const one of [null, {}, 'yes', Object.create(clearance)]) {
    expect(() => requireCleared(one as never, call)).toThrow(NEEDED)
  }
})
const NEEDED = refused('postern_approval_needed')

const REQUEST = { userId: BOSS, chatId: OFFICE, sendId: 's', messageId: 9 }
const decision = {
  isApproved: true,
  userId: BOSS,
  messageId: 12,
  atMs: 1_500_000,
  fingerprint: 'f',
}
const approval = (more: Partial<Approval> = {}): Approval => ({
  code: '7K2Q',
  digest: 'd',
  askedAtMs: 1_000_000,
  expiresAtMs: 2_000_000,
  requests: [REQUEST],
  decision: null,
  ...more,
})

/** A Message as it is once it was opened. */
const message = (text: unknown, more: object = {}, parts: object = {}): NumberedMessage =>
  replyOf(text, { chatId: OFFICE, updateChatId: OFFICE, fromId: BOSS, ...more }, parts)

describe('the parser of approval replies', () => {
  test.each([
    ['ok 7K2Q', true],
    ['  OK\t7k2q \n', true],
    ['no 7K2Q', false],
    ['No 7k2q because it is rude\nand late', false],
    ['no 7K2Q   because', false],
  ])('the reply %j is parsed as a decision', (text, isApproved) => {
    expect(wordIn(message(text))).toMatchObject({ isApproved, code: '7K2Q', quotedId: 9 })
  })

  test.each([
    'ok',
    'ok7K2Q',
    'ok 7K2',
    'ok 7K2QQ',
    'ok 7K2Q!',
    'ok 7K2O',
    'not ok 7K2Q',
    'ok 7K2Q because',
    'yes 7K2Q',
    7,
    null,
  ])('the reply %j is not parsed as a decision', (text) => {
    expect(wordIn(message(text))).toBeNull()
  })

  test('a reply counts only in the update’s own Message, from a person, and in its chat', () => {
    for (const more of [{ position: 'carried' }, { isOrdinary: false }, { updateChatId: GROUP }]) {
      expect(wordIn(message('ok 7K2Q', more))).toBeNull()
    }
  })

  test('a withheld reply is parsed for the journal, and its quotation may be a bare id', () => {
    const postern = { verdict: 'unsigned', withheldText: 'ok 7K2Q' }
    expect(wordIn(message(undefined, {}, { postern, replyTo: 9 }))).toMatchObject({ quotedId: 9 })
  })
})

describe('a decision that does not count', () => {
  const why = (more: object = {}, of = approval(), nowMs = 1_600_000, parts: object = {}) => {
    const word = wordIn(message('ok 7K2Q', more, parts))
    return word === null ? 'no word' : whyNotCounted(word, of, nowMs)
  }
  const quoting = (replyTo: object | null, of = approval()) => why({}, of, 1_600_000, { replyTo })
  const verdict = (postern: object) =>
    why({}, approval(), 1_600_000, {
      postern: { verdict: 'verified', signer: 'f', signedAt: 1_500_000, ...postern },
    })

  test('a verified reply in time that quotes the request counts', () => {
    expect(why()).toBeNull()
    expect(verdict({ signedAt: 1_000_000 - 120_000 })).toBeNull()
    expect(why({}, approval(), 1_999_999)).toBeNull()
  })

  test.each([
    ['other-person', () => why({ fromId: MATE })],
    ['other-person', () => why({ fromId: null })],
    ['other-person', () => why({ chatId: GROUP, updateChatId: GROUP })],
    ['other-quotation', () => quoting({ id: 8 })],
    ['other-quotation', () => quoting(null)],
    [
      'other-quotation',
      () => quoting(null, approval({ requests: [{ ...REQUEST, messageId: null }] })),
    ],
    ['not-verified', () => verdict({ verdict: 'unsigned' })],
    ['not-verified', () => verdict({ reason: 'shared-certificate' })],
    ['not-verified', () => verdict({ reason: 'former-certificate' })],
    ['not-verified', () => verdict({ reason: 'signed-long-before' })],
    ['not-verified', () => verdict({ signer: undefined })],
    ['signed-before', () => verdict({ signedAt: 1_000_000 - 120_001 })],
    ['signed-before', () => verdict({ signedAt: undefined })],
    ['late', () => why({}, approval(), 2_000_000)],
    ['decided', () => why({}, approval({ decision }))],
  ])('a reply is ignored as `%s`', (expected, found) => {
    expect(found()).toBe(expected)
  })
})

describe('a call of the outbox', () => {
  const given = approval({ decision })
  const approver = { userId: BOSS, fingerprint: 'f', unusable: null } as Person
  const leaving = (
    o: {
      of?: Approval | null
      parts?: object
      digest?: string
      who?: object | null
      rules?: ApprovalRule[]
    } = {},
  ) => {
    const { of = given, parts, digest = 'd', who = {}, rules = [rule()] } = o
    const approvals = approvalsOf({ rules, knownChats, ...parts })
    const person = who === null ? null : { ...approver, ...who }
    return () => approvals.mayLeave(send(), of, { digest, approver: person })
  }

  const distrusting = (trust: object) =>
    leaving({ parts: { trust: { distrust: () => null, isShared: () => false, ...trust } } })

  test('a call leaves with its approval, or without a rule that demands one', () => {
    expect(leaving()).not.toThrow()
    expect(leaving({ rules: [] })).not.toThrow()
    expect(leaving({ of: null, rules: [] })).not.toThrow()
  })

  test.each([
    ['needed', leaving({ of: null })],
    ['needed', leaving({ of: approval() })],
    ['needed', leaving({ of: approval(), rules: [] })],
    ['needed', leaving({ of: approval({ decision: { ...decision, isApproved: false } }) })],
    ['needed', leaving({ of: approval({ decision: { ...decision, atMs: 2_000_000 } }) })],
    ['changed', leaving({ digest: 'e' })],
    ['changed', leaving({ digest: 'e', rules: [] })],
  ])('a call without a valid approval is refused with `postern_approval_%s`', (code, leave) => {
    expect(leave).toThrow(refused(`postern_approval_${code}`))
  })

  test.each([
    ['the rules name another approver', leaving({ rules: [rule({ by: [MATE] })] })],
    ['no certificate is listed', leaving({ who: null })],
    ['another certificate is listed', leaving({ who: { fingerprint: 'g' } })],
    ['the certificate is listed for another person', leaving({ who: { userId: MATE } })],
    ['the certificate was revoked', leaving({ who: { unusable: 'revoked' } })],
    ['the person is blocked', distrusting({ distrust: () => 'blocked' })],
    ['the certificate is disputed', distrusting({ isShared: () => true })],
    [
      'the certificate is another person’s',
      leaving({ parts: { people: { isOthers: () => true } } }),
    ],
    ['the approver received no request', leaving({ of: approval({ decision, requests: [] }) })],
  ])('an approved call is refused with `postern_approver_changed` once %s', (_what, leave) => {
    expect(leave).toThrow(refused('postern_approver_changed'))
  })
})
