import { firstProblem } from '../../api/common.ts'
import { SetWebhook } from '../../api/updates.ts'
import { Refusal } from '../../errors.ts'
import { objectResult, webhookView } from '../../translate/bot-view.ts'
import { unobserved } from '../../kernel/index.ts'
import type { Webhook } from '../../updates/webhook.ts'
import type { Upstream } from '../../service/client.ts'
import { IGNORES_BODY } from '../body.ts'
import { queryOf } from '../params.ts'
import { relay, relayView } from '../relay.ts'
import type { DoorRoute } from '../server.ts'

export interface WebhookRouteParts {
  upstream: Upstream
  webhook: Webhook
  /** Called with every result that the service gives about its own webhook; must not throw. */
  onServiceWebhook: (result: unknown) => void
}

/** `/webhook`: the bot's own, which the sidecar delivers to. */
export function webhookRoutes(parts: WebhookRouteParts): DoorRoute {
  const { upstream, webhook, onServiceWebhook } = parts
  return (app) => {
    app.get('/webhook', (...call) =>
      relayView(upstream, '/webhook', call, async (answer) => {
        const result = unobserved(answer)
        onServiceWebhook(result)
        const own = await webhook.look()
        const { unconfirmedCount } = webhook
        if (own === null) return null
        return webhookView(objectResult(result, 'the state of a webhook'), own, unconfirmedCount)
      }),
    )
    app.post('/webhook', async (request, reply) => {
      const parsed = SetWebhook.safeParse(request.body)
      if (!parsed.success) throw new Refusal('bad_request', firstProblem(parsed.error))
      const { url, secret = null } = parsed.data
      return await relay(reply, await webhook.set({ url, secret }))
    })
    app.delete('/webhook', IGNORES_BODY, async (request, reply) => {
      const answer = await webhook.remove(queryOf(request))
      if (answer.envelope.ok) onServiceWebhook(unobserved(answer.envelope.result))
      return await relay(reply, answer)
    })
  }
}
