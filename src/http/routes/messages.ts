import type { FastifyRequest } from 'fastify'
import type { Limits } from '../../api/limits.ts'
import type { Outcomes } from '../../chats/outcomes.ts'
import type { Log } from '../../logger.ts'
import type { Metrics } from '../../observe/metrics.ts'
import { objectResult, sentView, withResult } from '../../translate/bot-view.ts'
import { readEdit, readSend, type Draft } from '../../translate/draft.ts'
import type { Outgoing, Prepared } from '../../translate/outgoing.ts'
import type { Answer, Upstream } from '../../upstream/client.ts'
import { idParam } from '../params.ts'
import type { DoorRoute } from '../server.ts'

export interface MessageRouteParts {
  upstream: Upstream
  outgoing: Outgoing
  log: Log
  metrics: Metrics
  /** Remembers to whom a message was sealed. */
  outcomes: Pick<Outcomes, 'sent'>
  limits: () => Limits
  /** False when the bot may do its own sealing (`key.publish: false`). */
  sealsForBot: boolean
}

/** Statuses that may mean that what is remembered of a chat is wrong. */
const DOUBTFUL = new Set([403, 404])

/**
 * `POST /messages` and `PATCH /messages/{messageId}`. A bot that hangs up does not undo a send
 * that is under way: it is made once, whoever listens.
 */
export function messageRoutes(parts: MessageRouteParts): DoorRoute {
  return (app, tools) => {
    app.post('/messages', async (request, reply) =>
      tools.relay(reply, await say(readSend(request.body, rulesOf(parts)), parts)),
    )
    app.patch('/messages/:messageId', async (request: FastifyRequest, reply) => {
      const messageId = idParam(request, 'messageId')
      const draft = readEdit(messageId, request.body, rulesOf(parts))
      return tools.relay(reply, await say(draft, parts))
    })
  }
}

function rulesOf(parts: MessageRouteParts): { textMax: number; sealsForBot: boolean } {
  return { textMax: parts.limits().textMax, sealsForBot: parts.sealsForBot }
}

async function say(draft: Draft, parts: MessageRouteParts): Promise<Answer> {
  const { outgoing, upstream } = parts
  let prepared = await outgoing.prepare(draft)
  let answer = await hand(prepared, upstream)
  for (let no = refusalIn(answer); no !== null; no = refusalIn(answer)) {
    const again = await outgoing.reconsider(draft, prepared, no)
    if (again === null) break
    prepared = again
    answer = await hand(prepared, upstream)
  }
  if (DOUBTFUL.has(answer.status)) outgoing.doubt(draft.chatId)
  return answer.envelope.ok ? said(answer, draft, prepared, parts) : answer
}

async function hand({ outbound, leave }: Prepared, upstream: Upstream): Promise<Answer> {
  try {
    return outbound.route === 'send' ? await upstream.send(outbound) : await upstream.edit(outbound)
  } finally {
    leave()
  }
}

function refusalIn(answer: Answer): { code: string; expected: string | undefined } | null {
  const { envelope } = answer
  return envelope.ok ? null : { code: envelope.error.code, expected: envelope.error.expected }
}

function said(
  answer: Answer,
  draft: Draft,
  prepared: Prepared,
  { log, metrics, outcomes }: MessageRouteParts,
): Answer {
  const { recipients, sealMs } = prepared
  if (!answer.envelope.ok) return answer
  if (recipients === null) return answer
  if (recipients.skipped.length > 0) {
    log.warn({ chatId: draft.chatId, skipped: recipients.skipped }, 'sealed, but not to everybody')
  }
  metrics.sealed({
    recipients: recipients.certificates.length,
    skipped: recipients.skipped.length,
    ms: sealMs,
  })
  const sent = objectResult(answer.envelope.result, 'a sent message')
  const { id } = sent
  if (typeof id === 'number') {
    const { skipped, certificates } = recipients
    const [atMs, count] = [Date.now(), certificates.length]
    outcomes.sent({ messageId: id, atMs, chatId: draft.chatId, recipients: count, skipped })
  }
  return withResult(answer, sentView(sent, draft.text ?? '', recipients))
}
