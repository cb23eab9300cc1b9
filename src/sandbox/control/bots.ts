import { z } from 'zod'
import { putCommandsOf } from '../../api/command.ts'
import { firstProblem } from '../../api/common.ts'
import { Update } from '../../api/updates.ts'
import { issueToken, newToken, pause, resume, revokeToken } from '../rules/bots.ts'
import { scopeChatId, setCommands } from '../rules/commands.ts'
import { setKey } from '../rules/keys.ts'
import { botView, webhookView } from '../views/bot.ts'
import { claimHandle, requireFreeHandle } from './handles.ts'
import { botId, flag, scope, text, textOrNull } from './fields.ts'
import { requireMember } from './find.ts'
import { action, ControlError, definedFields, operation } from './operation.ts'
import * as results from './results.ts'
import { GROWING, waitForSome } from './waiting.ts'

const which = z.strictObject({ botId })
/** What the owner of a bot sets. */
export const BOT_SETTINGS = {
  name: text.optional(),
  about: textOrNull.optional(),
  description: textOrNull.optional(),
  privacyMode: flag.optional(),
  allowGroups: flag.optional(),
}

/** What a bot's owner does, and what only the service knows of a bot. */
export const BOTS = {
  addBot: operation(
    'A new bot; gives its token.',
    z.strictObject({ username: text, ...BOT_SETTINGS }),
    results.Account.extend({ token: text }),
    ({ world }, { username, ...input }) => {
      requireFreeHandle(world, username)
      const id = world.nextId('bot')
      claimHandle(world, username, { account: id })
      const token = newToken(id)
      const usual = { about: null, description: null, privacyMode: true, allowGroups: true }
      const fresh = { status: 'active', token, key: null, webhook: null, ownerNotices: [] } as const
      world.addBot({ id, username, name: username, ...fresh, ...usual, ...definedFields(input) })
      return { id, username, token }
    },
  ),
  changeBot: operation(
    'Changes a bot’s profile, its privacy mode, and whether it may be added to groups.',
    z.strictObject({ botId, ...BOT_SETTINGS }),
    results.BotProfile,
    ({ world, find }, { botId: id, ...changes }) =>
      botView(world, Object.assign(find.bot(id), definedFields(changes))),
  ),
  pause: action('The owner pauses the bot.', which, { status: 'paused' }, ({ find }, input) =>
    pause(find.bot(input.botId)),
  ),
  resume: action('The owner resumes the bot.', which, { status: 'active' }, ({ find }, input) =>
    resume(find.bot(input.botId)),
  ),
  removeKey: action(
    'The owner removes the bot’s key. Its private chats become readable.',
    which,
    { mode: 'open' },
    ({ world, find }, input) => setKey(world, find.bot(input.botId), null),
  ),
  setBotKey: action(
    'Replaces the bot’s key, as a second program with the token could.',
    z.strictObject({ botId, publicKey: text, fingerprint: text }),
    { mode: 'protected' },
    ({ world, find }, { botId: id, ...key }) => setKey(world, find.bot(id), key),
  ),
  issueToken: operation(
    'The owner issues a new token. Calls with the old one are answered `unauthorized`.',
    which,
    z.object({ token: text }),
    ({ find }, input) => ({ token: issueToken(find.bot(input.botId)) }),
  ),
  revokeToken: action(
    'Revokes the token, as POST /token/revoke does.',
    which,
    { revoked: true },
    ({ world, find }, input) => revokeToken(world, find.bot(input.botId)),
  ),
  setCommands: operation(
    'The owner edits the commands of a scope. Of commands with the same name the first counts.',
    z.strictObject({ botId, scope, commands: z.array(z.unknown()) }),
    z.object({ scope: text, commands: z.array(results.ShownCommand) }),
    ({ world, find }, { botId: id, ...input }) => {
      const bot = find.bot(id)
      const parsed = putCommandsOf(world.limits.values).safeParse(input)
      if (!parsed.success) {
        throw new ControlError(`these are no commands: ${firstProblem(parsed.error)}`)
      }
      const { scope: name, commands } = parsed.data
      const chatId = scopeChatId(name)
      if (chatId !== null && commands.length > 0) requireMember(find.chat(chatId), id)
      return { scope: name, commands: setCommands(bot, name, commands) }
    },
  ),
  bot: operation(
    'Gives the bot as /me and /webhook show it, its certificate, and the notices to its owner.',
    which,
    z.object({
      me: results.BotProfile,
      webhook: results.WebhookState,
      key: results.PublishedCertificate.nullable(),
      ownerNotices: z.array(results.OwnerNotice),
    }),
    ({ world, find }, input) => {
      const bot = find.bot(input.botId)
      const { key, ownerNotices } = bot
      const shown = { me: botView(world, bot), webhook: webhookView(bot) }
      return { ...shown, key, ownerNotices: [...ownerNotices] }
    },
  ),
  bots: operation(
    'Every bot, without its token.',
    z.strictObject({}),
    z.array(results.BotSummary),
    ({ world }) =>
      Array.from(world.bots.values(), (bot) =>
        results.BotSummary.parse({ ...botView(world, bot), webhook: bot.webhook?.url ?? null }),
      ),
  ),
  queued: operation(
    'Gives the updates that wait for the bot, with an `updateId` above `after`.',
    z.strictObject({ botId, ...GROWING }),
    z.array(Update),
    async (context, { botId: id, after = 0, wait }) => {
      const { queue } = context.find.bot(id)
      return await waitForSome(context, wait, () =>
        queue.list(10_000).filter(({ updateId }) => updateId > after),
      )
    },
  ),
  notices: operation(
    'Gives the notices that the app showed to the bot’s owner, numbered from 1.',
    z.strictObject({ botId, ...GROWING }),
    z.array(results.NumberedNotice),
    async (context, { botId: id, after = 0, wait }) => {
      const bot = context.find.bot(id)
      return await waitForSome(context, wait, () =>
        bot.ownerNotices.map((one, at) => ({ n: at + 1, ...one })).slice(after),
      )
    },
  ),
  injectUpdate: operation(
    'Queues exactly this update, which may be forged, repeated or malformed.',
    z.strictObject({ botId, update: z.looseObject({}) }),
    z.object({ updateId: z.int() }),
    ({ find }, { botId: id, update }) => {
      const { queue } = find.bot(id)
      const { updateId } = update
      if (typeof updateId === 'number') queue.pushRaw(update as Update)
      else return { updateId: queue.push({ kind: 'message', ...update }) }
      return { updateId }
    },
  ),
}
