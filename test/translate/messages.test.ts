import { OWN_CALL } from '../../src/clients/may-client.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { expect, test, vi } from 'vitest'
import type { EnvelopedAnswer } from '../../src/translate/bot-view.ts'
import { Messages, type SealedMessage } from '../../src/translate/messages.ts'
import type { Outgoing, PreparedOutbound } from '../../src/translate/outgoing.ts'
import { cleared } from '../support/approvals.ts'
import { CHAT, draftOf } from './outgoing-scene.ts'
import { refused } from '../support/refused.ts'

/** Of the bot itself. */
const clearance = cleared(draftOf())
const ALL = { seesPeople: true, clearance, stillMay: OWN_CALL }

/** A sealed send, whose answer has this result; without one, the answer is lost. */
function scene(result: unknown = { id: 7, armored: 'sealed' }, isNamed = true) {
  const prepared = {
    outbound: { route: 'send' },
    recipients: { certificates: ['a', 'b'], skipped: [] },
    isNamed,
    clear: ['markup'],
    leave: vi.fn(),
  } as unknown as PreparedOutbound
  const outgoing = {
    prepare: vi.fn(() => Promise.resolve(prepared)),
    keyChanged: vi.fn(() => Promise.resolve([])),
  }
  const send = async (): Promise<EnvelopedAnswer> => {
    if (result === null) throw new Error('no answer')
    const envelope = { ok: true as const, result: new Unseen(result) }
    return { status: 201, headers: {}, body: Buffer.alloc(0), envelope }
  }
  const messages = new Messages({
    outgoing: outgoing as unknown as Outgoing,
    send,
    edit: send,
    outcomes: { sent: () => undefined },
    clearFields: { taken: (clear) => ({ clear }) },
  })
  const seals: SealedMessage[] = []
  messages.onSealed((sealed) => seals.push(sealed))
  return { messages, outgoing, prepared, seals }
}

const resultOf = ({ body }: EnvelopedAnswer) =>
  (JSON.parse(body.toString()) as { result: unknown }).result

test('the answer to a sealed send with an unnamed signature has `recipientsNamed` false', async () => {
  const { messages, seals } = scene(undefined, false)
  const answer = await messages.deliver(draftOf(), ALL)
  expect(resultOf(answer)).toMatchObject({ postern: { recipientsNamed: false } })
  expect(seals).toMatchObject([{ isNamed: false }])
})

test('a sealed send whose answer is lost releases its place in the send gate', async () => {
  const { messages, prepared } = scene(null)
  await expect(messages.deliver(draftOf(), ALL)).rejects.toThrow('no answer')
  expect(prepared.leave).toHaveBeenCalledOnce()
})

test('a sealed send whose answer is no message is `postern_upstream_invalid`', async () => {
  await expect(scene('text').messages.deliver(draftOf(), ALL)).rejects.toThrow(
    refused('postern_upstream_invalid', 'a sent message'),
  )
})

test('a call without the kernel’s clearance is refused and not prepared', async () => {
  const { messages, outgoing } = scene()
  const other = cleared({ ...draftOf(), chatId: CHAT + 1 })
  for (const one of [other, null as never, {} as never]) {
    const call = messages.deliver(draftOf(), { ...ALL, clearance: one })
    await expect(call).rejects.toThrow(refused('postern_approval_needed'))
  }
  expect(outgoing.prepare).not.toHaveBeenCalled()
})
