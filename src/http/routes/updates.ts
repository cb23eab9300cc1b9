import { Updates } from '../../api/update.ts'
import { Unanswered } from '../../errors.ts'
import { withResult } from '../../translate/bot-view.ts'
import type { Incoming } from '../../translate/incoming.ts'
import type { Answer, Upstream } from '../../upstream/client.ts'
import { queryOf } from '../params.ts'
import { isGone } from '../relay.ts'
import type { DoorRoute } from '../server.ts'

export interface UpdateRouteParts {
  upstream: Upstream
  /** Null when the sidecar holds no key: updates then pass as they came. */
  incoming: Incoming | null
  /** Told how each poll ended: the service's code, or null when it gave updates. */
  polled: (code: string | null) => void
}

const POLL_TIMEOUT_MAX_S = 50
const NOTHING = Buffer.from('{"ok":true,"result":[]}')

/**
 * `GET /updates`: the long poll is passed on with its query untouched; a hang-up on either side
 * ends the other. While the sidecar stops, polls end with an empty list, which confirms nothing.
 */
export function updateRoutes(parts: UpdateRouteParts): DoorRoute {
  return (app, tools) => {
    app.get('/updates', async (request, reply) => {
      const gone = tools.whileConnected(reply)
      const query = queryOf(request).slice(1)
      const signal = AbortSignal.any([gone, tools.stopping])
      try {
        const timeoutSeconds = timeoutOf(query)
        const answer = await parts.upstream.poll({ query, timeoutSeconds, signal })
        return tools.relay(reply, await translate(answer, parts))
      } catch (error) {
        if (isGone(reply)) return reply.hijack()
        if (tools.stopping.aborted) {
          const headers = { 'content-type': 'application/json; charset=utf-8' }
          return tools.relay(reply, { status: 200, headers, body: NOTHING })
        }
        throw error
      }
    })
  }
}

async function translate(answer: Answer, parts: UpdateRouteParts): Promise<Answer> {
  const { envelope } = answer
  parts.polled(envelope.ok ? null : envelope.error.code)
  if (!envelope.ok) return answer
  const parsed = Updates.safeParse(envelope.result)
  if (!parsed.success || !Array.isArray(envelope.result) || !grows(parsed.data)) {
    throw new Unanswered('postern_upstream_invalid', 'a list of updates')
  }
  if (parts.incoming === null || envelope.result.length === 0) return answer
  const { updates, changed } = await parts.incoming.open(envelope.result)
  return changed ? withResult(answer, updates) : answer
}

/** Ids grow within an answer: a batch that does not is confirmed wrongly by any bot. */
function grows(updates: { updateId: number }[]): boolean {
  return updates.every(({ updateId }, index) => {
    const before = updates[index - 1]
    return before === undefined || updateId > before.updateId
  })
}

/** Only for our own deadline; whether the query is right is for the service to say. */
function timeoutOf(query: string): number {
  const asked = Number(new URLSearchParams(query).get('timeout') ?? '0')
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), POLL_TIMEOUT_MAX_S) : 0
}
