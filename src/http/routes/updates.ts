import { setTimeout as elapsed } from 'node:timers/promises'
import { NoResponseError } from '../../errors.ts'
import { withUpdates } from '../../translate/bot-view.ts'
import type { Incoming } from '../../translate/incoming.ts'
import type { Backlog } from '../../updates/backlog.ts'
import type { PollWatch } from '../../updates/poll-watch.ts'
import { readUpdates } from '../../updates/update-batch.ts'
import type { Webhook } from '../../updates/webhook.ts'
import type { Answer, Upstream } from '../../upstream/client.ts'
import { queryOf } from '../params.ts'
import { isGone } from '../relay.ts'
import type { DoorRoute } from '../server.ts'

export interface UpdateRouteParts {
  upstream: Upstream
  /** Null when the sidecar holds no key: updates then pass as they came. */
  incoming: Incoming | null
  /** Called with how each poll ended: the service's code, or null when it gave updates. */
  onPolled: (code: string | null) => void
  webhook: Webhook
  polls: PollWatch
  backlog: Backlog
}

const POLL_TIMEOUT_MAX_S = 50
/** Reading megabytes of nonsense takes time from all else that is going on. */
const NONSENSE_PAUSE_MS = 1000
const POLL_LIMIT_MAX = 100
const EMPTY = {
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Buffer.from('{"ok":true,"result":[]}'),
}

/**
 * `GET /updates`: the long poll is passed on with its query untouched; a hang-up on either side
 * ends the other. While the sidecar stops, and when the bot sets a webhook, polls end with an empty
 * list, which confirms nothing; while a webhook is set they are refused.
 */
export function updateRoutes(parts: UpdateRouteParts): DoorRoute {
  return (app, tools) => {
    app.get('/updates', async (request, reply) => {
      const gone = tools.whileConnected(reply)
      const query = queryOf(request).slice(1)
      const { stopping } = tools
      let webhookSet: AbortSignal | null = null
      try {
        const refused = await parts.webhook.refusePoll(AbortSignal.any([gone, stopping]))
        if (refused !== null) return tools.relay(reply, refused)
        webhookSet = parts.webhook.pollsEnd
        const answer = await poll(query, AbortSignal.any([gone, stopping, webhookSet]), parts)
        return tools.relay(reply, webhookSet.aborted ? EMPTY : answer)
      } catch (error) {
        if (isGone(reply)) return reply.hijack()
        if (stopping.aborted || webhookSet?.aborted === true) return tools.relay(reply, EMPTY)
        throw error
      }
    })
  }
}

async function poll(query: string, signal: AbortSignal, parts: UpdateRouteParts): Promise<Answer> {
  const asked = new URLSearchParams(query)
  const timeoutSeconds = within(asked.get('timeout') ?? '0', POLL_TIMEOUT_MAX_S)
  const watched = parts.polls.begin(timeoutSeconds)
  const answer = await parts.upstream
    .poll({ query, timeoutSeconds, signal })
    .catch((error: unknown) => afterNonsense(error, signal))
  const { envelope } = answer
  parts.onPolled(envelope.ok ? null : envelope.error.code)
  if (!envelope.ok) return answer
  const updates = readUpdates(envelope.result)
  if (watched.answered(updates.length)) return answer
  const limit = within(asked.get('limit') ?? '', POLL_LIMIT_MAX)
  parts.backlog.recordPoll(updates, limit)
  if (parts.incoming === null || updates.length === 0) return answer
  const opened = await parts.incoming.open(updates, {
    gone: signal,
    hasMore: updates.length >= limit,
  })
  return opened.changed ? await withUpdates(answer, opened.updates) : answer
}

/** Holds back that the service's answer is none: a bot may ask again at once, and on and on. */
async function afterNonsense(failure: unknown, signal: AbortSignal): Promise<never> {
  if (failure instanceof NoResponseError && failure.code === 'postern_upstream_invalid') {
    await elapsed(NONSENSE_PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
  throw failure
}

/** Only for what is our own affair; whether the query is right is for the service to say. */
function within(text: string, max: number): number {
  const asked = text === '' ? max : Number(text)
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), max) : 0
}
