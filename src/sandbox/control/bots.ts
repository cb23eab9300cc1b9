import { z } from 'zod'
import type { ChatMode } from '../../api/chat.ts'
import { PutCommands } from '../../api/command.ts'
import { firstProblem } from '../../api/common.ts'
import { Update } from '../../api/updates.ts'
import { issueToken, newToken, pause, resume, revokeToken } from '../rules/bots.ts'
import { scopeChatId, setCommands } from '../rules/commands.ts'
import { setBotKey } from '../rules/keys.ts'
import { botView, webhookView } from '../views/bot.ts'
import { claimHandle, requireFreeHandle } from './handles.ts'
import { botId, flag, scope, text, textOrNull } from './fields.ts'
import {
  ControlError,
  definedFields,
  operation,
  requireBot,
  requireChat,
  requireMember,
} from './operation.ts'
import {
  Account,
  BotProfile,
  BotSummary,
  done,
  NumberedNotice,
  OwnerNotice,
  PublishedCertificate,
  ShownCommand,
  WebhookState,
} from './results.ts'
import { GROWING, waitFor } from './waiting.ts'

const which = z.strictObject({ botId })
const profile = {
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
    z.strictObject({ username: text, ...profile }),
    Account.extend({ token: text }),
    ({ world }, { username, ...input }) => {
      requireFreeHandle(world, username)
      const id = world.nextId('bot')
      claimHandle(world, username, { account: id })
      const { token } = world.addBot({
        id,
        username,
        name: input.name ?? username,
        about: input.about ?? null,
        description: input.description ?? null,
        key: null,
        privacyMode: input.privacyMode ?? true,
        allowGroups: input.allowGroups ?? true,
        status: 'active',
        token: newToken(id),
        webhook: null,
        ownerNotices: [],
      })
      return { id, username, token: token ?? '' }
    },
  ),
  changeBot: operation(
    'Changes a bot’s profile, its privacy mode, and whether it may be added to groups.',
    z.strictObject({ botId, ...profile }),
    BotProfile,
    (context, { botId: id, ...changes }) =>
      botView(Object.assign(requireBot(context, id), definedFields(changes))),
  ),
  pause: operation(
    'The owner pauses the bot.',
    which,
    z.object({ status: z.literal('paused') }),
    (context, input) => {
      pause(requireBot(context, input.botId))
      return { status: 'paused' } as const
    },
  ),
  resume: operation(
    'The owner resumes the bot.',
    which,
    z.object({ status: z.literal('active') }),
    (context, input) => {
      resume(requireBot(context, input.botId))
      return { status: 'active' } as const
    },
  ),
  removeKey: operation(
    'The owner removes the bot’s key. Its private chats become readable.',
    which,
    z.object({ mode: z.literal('open') }),
    (context, input) => {
      setBotKey(context.world, requireBot(context, input.botId), null)
      return { mode: 'open' } as const
    },
  ),
  setBotKey: operation(
    'Replaces the bot’s key, as a second program with the token could.',
    z.strictObject({ botId, publicKey: text, fingerprint: text }),
    z.object({ mode: z.literal('protected') }),
    (context, { botId: id, ...key }) => {
      setBotKey(context.world, requireBot(context, id), key)
      return { mode: 'protected' } as const
    },
  ),
  issueToken: operation(
    'The owner issues a new token. Calls with the old one are answered `unauthorized`.',
    which,
    z.object({ token: text }),
    (context, input) => ({ token: issueToken(requireBot(context, input.botId)) }),
  ),
  revokeToken: operation(
    'Revokes the token, as POST /token/revoke does.',
    which,
    z.object({ revoked: done }),
    (context, input) => {
      revokeToken(context.world, requireBot(context, input.botId))
      return { revoked: true } as const
    },
  ),
  setCommands: operation(
    'The owner edits the commands of a scope. Of commands with the same name the first counts.',
    z.strictObject({ botId, scope, commands: z.array(z.unknown()) }),
    z.object({ scope: text, commands: z.array(ShownCommand) }),
    (context, { botId: id, ...input }) => {
      const bot = requireBot(context, id)
      const parsed = PutCommands.safeParse(input)
      if (!parsed.success) {
        throw new ControlError(`these are no commands: ${firstProblem(parsed.error)}`)
      }
      const { scope: name, commands } = parsed.data
      const chatId = scopeChatId(name)
      if (chatId !== null && commands.length > 0) requireMember(requireChat(context, chatId), id)
      return { scope: name, commands: setCommands(bot, name, commands) }
    },
  ),
  bot: operation(
    'Gives the bot as /me and /webhook show it, its certificate, and the notices to its owner.',
    which,
    z.object({
      me: BotProfile,
      webhook: WebhookState,
      key: PublishedCertificate.nullable(),
      ownerNotices: z.array(OwnerNotice),
    }),
    (context, input) => {
      const bot = requireBot(context, input.botId)
      const { key, ownerNotices } = bot
      return { me: botView(bot), webhook: webhookView(bot), key, ownerNotices: [...ownerNotices] }
    },
  ),
  bots: operation(
    'Every bot, without its token.',
    z.strictObject({}),
    z.array(BotSummary),
    ({ world }) =>
      [...world.bots.values()].map((bot) => {
        const { id, username, name, status, privacyMode, allowGroups, key, webhook, queue } = bot
        const mode: ChatMode = key === null ? 'open' : 'protected'
        const settings = { status, mode, privacyMode, allowGroups }
        return {
          id,
          username,
          name,
          ...settings,
          webhook: webhook?.url ?? null,
          queued: queue.size,
        }
      }),
  ),
  queued: operation(
    'Gives the updates that wait for the bot, with an `updateId` above `after`.',
    z.strictObject({ botId, ...GROWING }),
    z.array(Update),
    async (context, { botId: id, after = 0, wait }) => {
      const { queue } = requireBot(context, id)
      const newer = () => queue.list(10_000).filter(({ updateId }) => updateId > after)
      await waitFor(context, {
        waitMs: wait,
        isThere: () => newer().length > 0,
        onChange: (listener) => queue.onPush(listener),
      })
      return newer()
    },
  ),
  notices: operation(
    'Gives the notices that the app showed to the bot’s owner, numbered from 1.',
    z.strictObject({ botId, ...GROWING }),
    z.array(NumberedNotice),
    async (context, { botId: id, after = 0, wait }) => {
      const bot = requireBot(context, id)
      await waitFor(context, {
        waitMs: wait,
        isThere: () => bot.ownerNotices.length > after,
        onChange: (listener) => context.world.onEvent(listener),
      })
      return bot.ownerNotices.map((notice, index) => ({ n: index + 1, ...notice })).slice(after)
    },
  ),
  injectUpdate: operation(
    'Queues exactly this update, which may be forged, repeated or malformed.',
    z.strictObject({ botId, update: z.looseObject({}) }),
    z.object({ updateId: z.int() }),
    (context, { botId: id, update }) => {
      const { queue } = requireBot(context, id)
      const raw = update as { updateId?: number; kind?: string }
      if (typeof raw.updateId === 'number') {
        queue.pushRaw(raw as { updateId: number; kind: string })
        return { updateId: raw.updateId }
      }
      return { updateId: queue.push({ kind: 'message', ...raw }) }
    },
  ),
}
