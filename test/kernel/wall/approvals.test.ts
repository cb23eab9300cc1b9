/** Which calls need a person's word, which replies count, and whether a call may leave. */
import { describe, expect, test } from 'vitest'
import { deniedReason } from '../../../src/kernel/decision.ts'
import {
  concernsRequest,
  requireNoCode,
  requireCleared,
  mayDecide,
  wordIn,
  type Approval,
  type ApprovalRule,
  type JudgedMessage,
  type KnownChat,
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
    const both = rule({ by: [MATE, BOSS] })
    expect(scene().chatsOf(both, [])).toEqual([{ userId: BOSS, chatId: OFFICE }])
    expect(() => scene().chatsOf(rule({ by: [MATE] }), [])).toThrow(
      refused('postern_approver_unreachable'),
    )
  })

  test('ten calls of a caller wait for one person, and the next is a `postern_approver_busy`', () => {
    const open = (userId: number, count: number) => Array(count).fill(userId)
    expect(scene().chatsOf(rule(), [...open(BOSS, 9), ...open(MATE, 90)])).toHaveLength(1)
    expect(() => scene().chatsOf(rule(), open(BOSS, 10))).toThrow(refused('postern_approver_busy'))
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
  code: '7K2QWERTYZ',
  digest: 'd',
  askedAtMs: 1_000_000,
  expiresAtMs: 2_000_000,
  requests: [REQUEST],
  decision: null,
  ...more,
})

/** A Message as it is once it was opened. */
const message = (
  text: unknown,
  more: object = {},
  o: Parameters<typeof replyOf>[2] = {},
): JudgedMessage =>
  replyOf(text, { chatId: OFFICE, updateChatId: OFFICE, fromId: BOSS, ...more }, o)

describe('the parser of approval replies', () => {
  test.each([
    ['ok 7K2QWERTYZ', true],
    ['  OK\t7k2qwertyz \n', true],
    ['no 7K2QWERTYZ', false],
    ['No 7k2qwertyz because it is rude\nand late', false],
    ['no 7K2QWERTYZ   because', false],
  ])('the reply %j is parsed as a decision', (text, isApproved) => {
    expect(wordIn(message(text))).toMatchObject({ isApproved, code: '7K2QWERTYZ', quotedId: 9 })
  })

  test.each([
    'ok',
    'ok7K2QWERTYZ',
    'ok 7K2QWERTY',
    'ok 7K2QWERTYZQ',
    'ok 7K2QWERTYZ!',
    'ok 7K2QWERTYO',
    'not ok 7K2QWERTYZ',
    'ok 7K2QWERTYZ because',
    'yes 7K2QWERTYZ',
    7,
    null,
  ])('the reply %j is not parsed as a decision', (text) => {
    expect(wordIn(message(text))).toBeNull()
  })

  test('a reply counts only in the update’s own Message, from a person, and in its chat', () => {
    for (const more of [{ position: 'carried' }, { isOrdinary: false }, { updateChatId: GROUP }]) {
      expect(wordIn(message('ok 7K2QWERTYZ', more))).toBeNull()
    }
  })

  test('a reply without a verdict is parsed for the journal, and its quotation may be a bare id', () => {
    const bare = message('ok 7K2QWERTYZ', {}, { final: null, replyTo: 9 })
    expect(wordIn(bare)).toMatchObject({ quotedId: 9, verdict: 'unsigned' })
  })
})

describe('a decision that does not count', () => {
  const why = (more: object = {}, of = approval(), nowMs = 1_600_000, o: object = {}) => {
    const word = wordIn(message('ok 7K2QWERTYZ', more, { ...o }))
    return word === null ? 'no word' : (deniedReason(mayDecide(word, of, nowMs)) ?? null)
  }
  const quoting = (replyTo: object | null, of = approval()) => why({}, of, 1_600_000, { replyTo })
  const verdict = (final: object) =>
    why({}, approval(), 1_600_000, {
      final: { verdict: 'verified', signer: 'f', signedAtMs: 1_500_000, ...final },
    })
  const unrecorded = approval({ requests: [{ ...REQUEST, messageId: null }] })

  test('a verified reply in time that quotes the request counts', () => {
    expect(why()).toBeNull()
    expect(verdict({ signedAtMs: 1_000_000 - 120_000 })).toBeNull()
    expect(why({}, approval(), 1_999_999)).toBeNull()
    // its id is not known yet, and its code is known to its reader alone
    expect(quoting({ id: 8 }, unrecorded)).toBeNull()
  })

  test.each([
    ['other-person', () => why({ fromId: MATE })],
    ['other-person', () => why({ fromId: null })],
    ['other-person', () => why({ chatId: GROUP, updateChatId: GROUP })],
    ['other-quotation', () => quoting({ id: 8 })],
    ['other-quotation', () => quoting(null)],
    ['other-quotation', () => quoting(null, unrecorded)],
    ['not-verified', () => verdict({ verdict: 'unsigned' })],
    ['not-verified', () => verdict({ reason: 'shared-certificate' })],
    ['not-verified', () => verdict({ reason: 'former-certificate' })],
    ['not-verified', () => verdict({ reason: 'signed-long-before' })],
    ['not-verified', () => verdict({ signer: undefined })],
    ['signed-before', () => verdict({ signedAtMs: 1_000_000 - 120_001 })],
    ['signed-before', () => verdict({ signedAtMs: undefined })],
    ['late', () => why({}, approval(), 2_000_000)],
    ['decided', () => why({}, approval({ decision }))],
  ])('a reply is ignored as `%s`', (expected, found) => {
    expect(found()).toBe(expected)
  })
})

describe('an update about a request', () => {
  const about = (messages: JudgedMessage[], of = approval()) => concernsRequest(messages, [of])
  const hello = (more: object = {}, o: object = {}) =>
    message('hello', more, { replyTo: null, ...o })
  const carried = (text: string) =>
    message(text, { position: 'carried', messageId: null }, { replyTo: null })

  test.each<[string, JudgedMessage[]]>([
    ['is the request by its id', [hello({ messageId: 9 })]],
    ['quotes the request by its id', [hello({}, { replyTo: { id: 9 } })]],
    ['quotes the request by its bare id', [hello({}, { replyTo: 9 })]],
    ['contains the text of a request', [hello(), carried('A call needs your word.\nby: x')]],
    ['contains the code', [hello(), carried('> ok 7k2q werty-z')]],
  ])('an update that %s is closed to the bot', (_what, messages) => {
    expect(about(messages)).toBe(true)
  })

  test('an update with the code of a decided call is closed too, as it may be delivered again', () => {
    expect(about([carried('7K2QWERTYZ')], approval({ decision, requests: [] }))).toBe(true)
  })

  test('an update with other words, or of another chat, is open', () => {
    expect(about([hello(), carried('A word.')])).toBe(false)
    expect(about([hello({ chatId: GROUP, messageId: 9 })])).toBe(false)
  })
})

test.each<[string, unknown]>([
  ['as it is', 'ok 7K2QWERTYZ'],
  ['in lower case with blanks', '7k2q  w e\nrtyz'],
  ['with zero-width characters and accents', '7\u200bK\u20602QWE\u0301RTY\u00adZ'],
  ['in letters of other scripts', '7К2QWERТΥΖ'],
  ['in wide, enclosed and mathematical letters', '７Ⓚ2QWE𝐑TYZ'],
  ['with digits for letters that look alike', '7KZQWERTY2'],
  ['backwards', 'ZYTREWQ2K7'],
  ['in the texts of two buttons', { markup: [[{ text: '7K2QW' }], [{ text: 'ERTYZ' }]] }],
  ['as the name of a field', { '7K2QWERTYZ': 1 }],
  ['in a field after another', { a: { text: '7K2Q' }, sendId: 'WERTYZ' }],
])('a body that holds the code of an open request is refused, %s', (_how, value) => {
  const other = approval({ code: 'M4RMQVBXHA' })
  expect(() => requireNoCode(value, [other, approval()])).toThrow(refused('postern_code_refused'))
  expect(() => requireNoCode(value, [other, approval({ decision })])).not.toThrow()
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
