import { SetWebhook } from '../../api/webhook.ts'
import { removeWebhook, setWebhook as set } from '../webhook/set.ts'
import { demandWebhookUrl } from '../webhook/url.ts'
import { webhookView } from '../views/bot.ts'
import { read, type Handler } from './call.ts'

/** GET /webhook */
export const getWebhook: Handler = ({ bot }) => ({ result: webhookView(bot) })

/** POST /webhook: ends the poll in progress. */
export const setWebhook: Handler = async ({ world, bot, body }) => {
  const { url, secret } = read(SetWebhook, body)
  await demandWebhookUrl(world, url)
  set(world, bot, { url, secret: secret ?? null })
  return { result: { url, hasSecret: secret !== undefined, pending: bot.mailbox.size } }
}

/** DELETE /webhook: what is queued remains for polling. */
export const deleteWebhook: Handler = ({ bot }) => {
  removeWebhook(bot)
  return { result: { url: null, pending: bot.mailbox.size } }
}
