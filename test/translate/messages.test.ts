import { Unseen } from '../../src/kernel/unseen.ts'
import { expect, test, vi } from 'vitest'
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

test('the answer to a client’s sealed send names no skipped person without the right to see people', async () => {
  const { messages, outgoing, sent } = scene([ok()])
  const answer = await messages.deliver(draftOf(), { seesPeople: false, clearance })
  expect(resultOf(answer)).toMatchObject({ postern: { recipients: 2, skipped: [] } })
  expect(outgoing.keyChanged).not.toHaveBeenCalled()
  expect(sent.mock.calls).toMatchObject([[{ skipped: SKIPPED }]])
})

test('the answer to a sealed send with an unnamed signature has `recipientsNamed` false', async () => {
  const { messages, outgoing, prepared, seals } = scene([ok()])
  outgoing.prepare.mockResolvedValue(prepared('first', { isNamed: false }))
  const answer = await messages.deliver(draftOf(), ALL)
  expect(resultOf(answer)).toMatchObject({ postern: { recipientsNamed: false } })
  expect(seals).toMatchObject([{ isNamed: false }])
})

test('a sealed send whose answer is lost releases its place in the send gate', async () => {
  const { messages, events } = scene([])
  await expect(messages.deliver(draftOf(), ALL)).rejects.toThrow('no answer')
  expect(events).toEqual(['send first', 'left first'])
})

test('a sealed send whose answer is no message is `postern_upstream_invalid`', async () => {
  await expect(scene([ok('text')]).messages.deliver(draftOf(), ALL)).rejects.toThrow(
    refused('postern_upstream_invalid', 'a sent message'),
  )
})

test('a call without the kernel’s clearance is refused and not prepared', async () => {
  const { messages, outgoing } = scene([ok()])
  const other = cleared({ ...draftOf(), chatId: CHAT + 1 })
  for (const one of [other, null as never, {} as never]) {
    const call = messages.deliver(draftOf(), { seesPeople: true, clearance: one })
    await expect(call).rejects.toThrow(refused('postern_approval_needed'))
  }
  expect(outgoing.prepare).not.toHaveBeenCalled()
})
