import { meView, objectResult, withOwnWebhook } from '../../translate/bot-view.ts'
import type { Unseen } from '../../kernel/index.ts'
import type { Webhook } from '../../updates/webhook.ts'
import type { Upstream } from '../../service/client.ts'
import { relayView } from '../relay.ts'
import type { DoorRoute } from '../server.ts'

export interface MeRouteParts {
  upstream: Upstream
  /** Receives each `/me`, and gives its content. @throws NoResponseError when it is another bot's */
  observe: (answer: Unseen) => unknown
  /** Our key and its publication; null: the answer has no field for it. */
  key: () => { state: string; fingerprint: string | null } | null
  webhook: Webhook
}

/**
 * `GET /me`: the bot sees itself open, and its own webhook. Without either, it is unchanged. A client
 * sees nothing of the webhook, nor how many updates wait.
 */
export const meRoute =
  ({ upstream, observe, key: keyOf, webhook }: MeRouteParts): DoorRoute =>
  (app) => {
    app.get('/me', (...call) =>
      relayView(upstream, '/me', call, (answer) => {
        const result = observe(answer)
        const key = keyOf()
        if (call[0].client !== null) {
          const { webhook: _webhook, queued: _queued, ...bot } = objectResult(result, 'a bot')
          return key === null ? bot : meView(bot, key)
        }
        const { own, unconfirmedCount } = webhook
        if (key === null && own === null) return null
        const bot = objectResult(result, 'a bot')
        const shown = own === null ? bot : withOwnWebhook(bot, own, unconfirmedCount)
        return key === null ? shown : meView(shown, key)
      }),
    )
  }
