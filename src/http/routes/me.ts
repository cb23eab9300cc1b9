import { meView, objectResult, withResult } from '../../translate/bot-view.ts'
import type { Upstream } from '../../upstream/client.ts'
import { queryOf } from '../params.ts'
import type { DoorRoute } from '../server.ts'

export interface MeRouteParts {
  upstream: Upstream
  /** Told every `/me` that comes by; must not throw. */
  observe: (bot: unknown) => void
  /** Our key and where it stands with the service; null: the answer passes as it came. */
  key: () => { state: string; fingerprint: string | null } | null
}

/** `GET /me`: the bot sees itself open. */
export function meRoute(parts: MeRouteParts): DoorRoute {
  return (app, tools) => {
    app.get('/me', async (request, reply) => {
      const path = `/me${queryOf(request)}`
      const signal = tools.whileConnected(reply)
      const answer = await parts.upstream.relay({ method: 'GET', path, signal })
      if (!answer.envelope.ok) return tools.relay(reply, answer)
      const { result } = answer.envelope
      parts.observe(result)
      const key = parts.key()
      if (key === null) return tools.relay(reply, answer)
      return tools.relay(reply, withResult(answer, meView(objectResult(result, 'a bot'), key)))
    })
  }
}
