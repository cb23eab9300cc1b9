import { Unseen } from '../../src/kernel/unseen.ts'
import { describe, expect, test, vi } from 'vitest'
import type { SendOutcome } from '../../src/store/outcomes.ts'
import { readEnvelope } from '../../src/api/envelope.ts'
import type { Draft } from '../../src/translate/draft.ts'
import type { EnvelopedAnswer } from '../../src/translate/bot-view.ts'
import { Messages, type SealedMessage } from '../../src/translate/messages.ts'
import type { Outgoing, PreparedOutbound } from '../../src/translate/outgoing.ts'
import { cleared } from '../support/approvals.ts'
import { CHAT, draftOf } from './outgoing-scene.ts'
import { refused } from '../support/refused.ts'

/** Of the bot itself. */
const clearance = cleared(draftOf())
const ALL = { seesPeople: true, clearance }

function answerOf(status: number, json: object): EnvelopedAnswer {
  const read = readEnvelope(json, status)
  if (read === null) throw new Error('no envelope')
  const envelope = read.ok ? { ...read, result: new Unseen(read.result) } : read
  return { status, headers: {}, body: Buffer.from(JSON.stringify(json)), envelope }
}

const ok = (result: unknown = { id: 7, armored: 'sealed' }): EnvelopedAnswer =>
  answerOf(201, { ok: true, result })
const no = (status: number, code: string, more: object = {}): EnvelopedAnswer =>
  answerOf(status, { ok: false, error: { status, code, message: 'no', ...more } })

const SKIPPED = [{ userId: 3, reason: 'expired' }]
const RECIPIENTS = { certificates: ['a', 'b'], skipped: SKIPPED }

/** What is prepared, in order; it notes when its place in the send gate is left. */
function scene(answers: EnvelopedAnswer[]) {
  const events: string[] = []
  const prepared = (name: string, more: Partial<PreparedOutbound> = {}): PreparedOutbound =>
    ({
      outbound: { route: 'send', path: name },
      recipients: RECIPIENTS,
      isNamed: true,
      sealMs: 12,
      clear: ['markup'],
      leave: () => void events.push(`left ${name}`),
      ...more,
    }) as unknown as PreparedOutbound
  const outgoing = {
    prepare: vi.fn((_draft: Draft) => Promise.resolve(prepared('first'))),
    reconsider: vi.fn((_draft: Draft, _prepared: PreparedOutbound, _refusal: object) =>
      Promise.resolve<PreparedOutbound | null>(null),
    ),
    doubt: vi.fn(),
    keyChanged: vi.fn(() => Promise.resolve([])),
  }
  const call = (name: string) => (outbound: { path: string }) => {
    events.push(`${name} ${outbound.path}`)
    const answer = answers.shift()
    return answer === undefined ? Promise.reject(new Error('no answer')) : Promise.resolve(answer)
  }
  const sent = vi.fn((_sent: SendOutcome) => undefined)
  const messages = new Messages({
    outgoing: outgoing as unknown as Outgoing,
    send: call('send'),
    edit: call('edit'),
    outcomes: { sent },
    clearFields: { taken: (clear) => ({ clear }) },
  })
  const seals: SealedMessage[] = []
  messages.onSealed((sealed) => seals.push(sealed))
  return { messages, outgoing, prepared, events, sent, seals }
}

const resultOf = ({ body }: EnvelopedAnswer) =>
  (JSON.parse(body.toString()) as { result: unknown }).result

describe('a sealed message', () => {
  test('is answered as in a readable chat, told of, and remembered', async () => {
    const { messages, events, sent, seals, outgoing } = scene([ok()])
    const answer = await messages.deliver(draftOf(), ALL)
    expect(resultOf(answer)).toEqual({
      id: 7,
      text: 'words',
      postern: { sealed: true, recipients: 2, skipped: SKIPPED, clear: ['markup'] },
    })
    expect(answer.status).toBe(201)
    expect(events).toEqual(['send first', 'left first'])
    expect(seals).toEqual([
      { chatId: CHAT, recipients: 2, skipped: SKIPPED, isNamed: true, ms: 12 },
    ])
    const atMs = expect.any(Number) as number
    expect(sent.mock.calls).toEqual([
      [{ messageId: 7, atMs, chatId: CHAT, recipients: 2, skipped: SKIPPED }],
    ])
    expect([outgoing.doubt.mock.calls, outgoing.reconsider.mock.calls]).toEqual([[], []])
  })

  test('is answered with nobody’s name where its sender may not see them', async () => {
    const { messages, outgoing, sent } = scene([ok()])
    const answer = await messages.deliver(draftOf(), { seesPeople: false, clearance })
    expect(resultOf(answer)).toMatchObject({ postern: { recipients: 2, skipped: [] } })
    expect(outgoing.keyChanged).not.toHaveBeenCalled()
    expect(sent.mock.calls).toMatchObject([[{ skipped: SKIPPED }]])
  })

  test('whose signature names nobody says so', async () => {
    const { messages, outgoing, prepared, seals } = scene([ok()])
    outgoing.prepare.mockResolvedValue(prepared('first', { isNamed: false }))
    const answer = await messages.deliver(draftOf(), ALL)
    expect(resultOf(answer)).toMatchObject({ postern: { recipientsNamed: false } })
    expect(seals).toMatchObject([{ isNamed: false }])
  })

  test('that is given no number is told of, and cannot be remembered', async () => {
    const { messages, sent, seals } = scene([ok({ armored: 'sealed' })])
    await messages.deliver(draftOf(), ALL)
    expect([seals.length, sent.mock.calls]).toEqual([1, []])
  })

  test('that was sent without words is answered with none', async () => {
    const { messages } = scene([ok()])
    const answer = await messages.deliver(draftOf({ text: undefined }), ALL)
    expect(resultOf(answer)).toMatchObject({ text: '' })
  })

  test('as an edit goes by its own call', async () => {
    const { messages, outgoing, prepared, events } = scene([ok()])
    const outbound = { route: 'edit', path: 'first' } as unknown as PreparedOutbound['outbound']
    outgoing.prepare.mockResolvedValue(prepared('first', { outbound }))
    await messages.deliver(draftOf(), ALL)
    expect(events).toEqual(['edit first', 'left first'])
  })

  test('of which the answer was lost leaves the send gate all the same', async () => {
    const { messages, events } = scene([])
    await expect(messages.deliver(draftOf(), ALL)).rejects.toThrow('no answer')
    expect(events).toEqual(['send first', 'left first'])
  })

  test('whose answer is no sent message is an answer of no use', async () => {
    await expect(scene([ok('text')]).messages.deliver(draftOf(), ALL)).rejects.toThrow(
      refused('postern_upstream_invalid', 'a sent message'),
    )
  })
})

test('what was not sealed is answered as it came, and not told of', async () => {
  const answer = ok({ id: 7, text: 'words' })
  const { messages, outgoing, prepared, sent, seals } = scene([answer])
  outgoing.prepare.mockResolvedValue(prepared('first', { recipients: null, clear: [] }))
  expect(await messages.deliver(draftOf(), ALL)).toBe(answer)
  expect([sent.mock.calls, seals]).toEqual([[], []])
})

describe('a refusal of the service', () => {
  test('is answered as it came', async () => {
    const refusal = no(409, 'conflict')
    const { messages, outgoing, sent, seals } = scene([refusal])
    expect(await messages.deliver(draftOf(), ALL)).toBe(refusal)
    expect([sent.mock.calls, seals, outgoing.doubt.mock.calls]).toEqual([[], [], []])
    expect(outgoing.reconsider.mock.calls[0]?.[2]).toMatchObject({ code: 'conflict' })
  })

  test.each([403, 404])('with %i makes what is known of the chat doubtful', async (status) => {
    const { messages, outgoing } = scene([no(status, 'forbidden')])
    await messages.deliver(draftOf(), ALL)
    expect(outgoing.doubt.mock.calls).toEqual([[CHAT]])
  })

  test('is answered with what is prepared anew for it, as often as that is refused', async () => {
    const wants = no(400, 'wrong_body_kind', { expected: 'armored' })
    const { messages, outgoing, prepared, events, seals } = scene([wants, wants, ok()])
    const [second, third] = [prepared('second'), prepared('third', { sealMs: 30 })]
    outgoing.reconsider.mockResolvedValueOnce(second).mockResolvedValueOnce(third)
    expect((await messages.deliver(draftOf(), ALL)).status).toBe(201)
    expect(events).toEqual([
      'send first',
      'left first',
      'send second',
      'left second',
      'send third',
      'left third',
    ])
    expect(outgoing.reconsider.mock.calls[1]).toEqual([
      draftOf(),
      second,
      expect.objectContaining({ code: 'wrong_body_kind', expected: 'armored' }),
    ])
    expect(seals.map(({ ms }) => ms)).toEqual([30])
  })
})

test('a call that the kernel has not cleared is not even prepared', async () => {
  const { messages, outgoing } = scene([ok()])
  const other = cleared({ ...draftOf(), chatId: CHAT + 1 })
  for (const one of [other, null as never, {} as never]) {
    const call = messages.deliver(draftOf(), { seesPeople: true, clearance: one })
    await expect(call).rejects.toThrow(refused('postern_approval_needed'))
  }
  expect(outgoing.prepare).not.toHaveBeenCalled()
})
