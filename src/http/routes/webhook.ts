import { firstProblem } from '../../api/common.ts'
import { SetWebhook } from '../../api/updates.ts'
import { Refusal } from '../../errors.ts'
import { objectResult, webhookView, withResult } from '../../translate/bot-view.ts'
import type { Webhook } from '../../updates/webhook.ts'
import type { Upstream } from '../../upstream/client.ts'
import { IGNORES_BODY } from '../body.ts'
import { queryOf } from '../params.ts'
import type { DoorRoute } from '../server.ts'

export interface WebhookRouteParts {
  upstream: Upstream
  webhook: Webhook
  /** Called with every result that the service gives about its own webhook; must not throw. */
  onServiceWebhook: (result: unknown) => void
}

/** `/webhook`: the bot's own, which the sidecar delivers to. */
export function webhookRoutes({
  upstream,
  webhook,
  onServiceWebhook,
}: WebhookRouteParts): DoorRoute {
  return (app, tools) => {
    app.get('/webhook', async (request, reply) => {
      const signal = tools.whileConnected(reply)
      const path = `/webhook${queryOf(request)}`
      const answer = await upstream.relay({ method: 'GET', path, signal })
      if (!answer.envelope.ok) return tools.relay(reply, answer)
      const { result } = answer.envelope
      onServiceWebhook(result)
      const own = await webhook.look()
      const { unconfirmedCount } = webhook
      if (own === null) return tools.relay(reply, answer)
      const info = webhookView(
        objectResult(result, 'the state of a webhook'),
        own,
        unconfirmedCount,
      )
      return tools.relay(reply, withResult(answer, info))
    })
    app.post('/webhook', async (request, reply) => {
      const parsed = SetWebhook.safeParse(request.body)
      if (!parsed.success) throw new Refusal('bad_request', firstProblem(parsed.error))
      const { url, secret = null } = parsed.data
      return tools.relay(reply, await webhook.set({ url, secret }))
    })
    app.delete('/webhook', IGNORES_BODY, async (request, reply) => {
      const answer = await webhook.remove(queryOf(request))
      if (answer.envelope.ok) onServiceWebhook(answer.envelope.result)
      return tools.relay(reply, answer)
    })
  }
}
