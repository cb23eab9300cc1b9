import { meView, objectResult, withOwnWebhook, withResult } from '../../translate/bot-view.ts'
import type { Webhook } from '../../updates/webhook.ts'
import type { Upstream } from '../../upstream/client.ts'
import { queryOf } from '../params.ts'
import type { DoorRoute } from '../server.ts'

export interface MeRouteParts {
  upstream: Upstream
  /** Called with every `/me` that comes by; throws NoResponseError for one that is another bot's. */
  observe: (bot: unknown) => void
  /** Our key and where it stands with the service; null: of that, the answer tells nothing. */
  key: () => { state: string; fingerprint: string | null } | null
  webhook: Webhook
}

/** `GET /me`: the bot sees itself open, and its own webhook. Without either, it passes as it came. */
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
      const { own, unconfirmedCount } = parts.webhook
      if (key === null && own === null) return tools.relay(reply, answer)
      const bot = objectResult(result, 'a bot')
      const shown = own === null ? bot : withOwnWebhook(bot, own, unconfirmedCount)
      return tools.relay(reply, withResult(answer, key === null ? shown : meView(shown, key)))
    })
  }
}
