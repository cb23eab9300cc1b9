import { z } from 'zod'
import { PutCommands } from '../../api/command.ts'
import { issueToken, newToken, pause, resume, revokeToken } from '../rules/bots.ts'
import { setCommands } from '../rules/commands.ts'
import { setBotKey } from '../rules/keys.ts'
import { botView, webhookView } from '../views/bot.ts'
import { claimHandle } from './handles.ts'
import { botId, flag, scope, text, textOrNull } from './fields.ts'
import { ControlError, given, operation, requireBot } from './operation.ts'

const which = z.strictObject({ botId })
const profile = {
  name: text.optional(),
  about: textOrNull.optional(),
  description: textOrNull.optional(),
  privacyMode: flag.optional(),
  allowGroups: flag.optional(),
}

/** What the owner does in the bot console, and what only the service knows of a bot. */
export const BOTS = {
  addBot: operation(
    'A new bot; gives its token.',
    z.strictObject({ username: text, ...profile }),
    ({ world }, { username, ...input }) => {
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
    (on, { botId: id, ...changes }) => botView(Object.assign(requireBot(on, id), given(changes))),
  ),
  pause: operation('The owner pauses the bot.', which, (on, input) => {
    pause(requireBot(on, input.botId))
    return { status: 'paused' }
  }),
  resume: operation('The owner resumes the bot.', which, (on, input) => {
    resume(requireBot(on, input.botId))
    return { status: 'active' }
  }),
  removeKey: operation(
    'The owner removes the bot’s key: it is open again, its private chats are readable.',
    which,
    (on, input) => {
      setBotKey(on.world, requireBot(on, input.botId), null)
      return { mode: 'open' }
    },
  ),
  setBotKey: operation(
    'Another key in the bot’s place, as a second program with the token would publish it.',
    z.strictObject({ botId, publicKey: text, fingerprint: text }),
    (on, { botId: id, ...key }) => {
      setBotKey(on.world, requireBot(on, id), key)
      return { mode: 'protected' }
    },
  ),
  issueToken: operation(
    'The owner issues a new token; the one before answers `unauthorized`.',
    which,
    (on, input) => ({ token: issueToken(requireBot(on, input.botId)) }),
  ),
  revokeToken: operation('The token is burnt, as by POST /token/revoke.', which, (on, input) => {
    revokeToken(on.world, requireBot(on, input.botId))
    return { revoked: true }
  }),
  setCommands: operation(
    'The owner edits the commands of a scope.',
    z.strictObject({ botId, scope, commands: z.array(z.unknown()) }),
    (on, { botId: id, ...input }) => {
      const parsed = PutCommands.safeParse(input)
      if (!parsed.success) throw new ControlError('these are no commands')
      setCommands(requireBot(on, id), parsed.data.scope, parsed.data.commands)
      return parsed.data
    },
  ),
  bot: operation(
    'The bot as /me and /webhook show it, its certificate, and what its owner was told.',
    which,
    (on, input) => {
      const bot = requireBot(on, input.botId)
      const { key, ownerNotices } = bot
      return { me: botView(bot), webhook: webhookView(bot), key, ownerNotices: [...ownerNotices] }
    },
  ),
  queued: operation('What waits for the bot.', which, (on, input) =>
    requireBot(on, input.botId).queue.list(10_000),
  ),
  injectUpdate: operation(
    'Queues exactly this update: the way in for a forged, repeated or malformed one.',
    z.strictObject({ botId, update: z.looseObject({}) }),
    (on, { botId: id, update }) => {
      const { queue } = requireBot(on, id)
      const raw = update as { updateId?: number; kind?: string }
      if (typeof raw.updateId === 'number') {
        queue.pushRaw(raw as { updateId: number; kind: string })
        return { updateId: raw.updateId }
      }
      return { updateId: queue.push({ kind: 'message', ...raw }) }
    },
  ),
}
