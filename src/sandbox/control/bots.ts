import { PutCommands } from '../../api/command.ts'
import { issueToken, newToken, pause, resume, revokeToken } from '../rules/bots.ts'
import { setCommands } from '../rules/commands.ts'
import { setBotKey } from '../rules/keys.ts'
import { Windows } from '../rules/windows.ts'
import { Mailbox } from '../updates/mailbox.ts'
import { botView, webhookView } from '../views/bot.ts'
import { claimHandle } from './handles.ts'
import { any, boolean, integer, list, object, string, stringOrNull } from './schema.ts'
import { ControlError, operation, theBot } from './operation.ts'

const which = { botId: integer }
const profile = {
  name: string,
  about: stringOrNull,
  description: stringOrNull,
  privacyMode: boolean,
  allowGroups: boolean,
}

/** What the owner does in the bot console, and what only the service knows of a bot. */
export const BOTS = {
  addBot: operation(object({ username: string }, profile), ({ world }, input) => {
    const id = world.nextId('bot')
    claimHandle(world, input.username, { account: id })
    const token = newToken(id)
    world.bots.set(id, {
      id,
      username: input.username,
      name: input.name ?? input.username,
      about: input.about ?? null,
      description: input.description ?? null,
      key: null,
      privacyMode: input.privacyMode ?? true,
      allowGroups: input.allowGroups ?? true,
      status: 'active',
      token,
      webhook: null,
      mailbox: new Mailbox(world.clock),
      windows: new Windows(world.rules.rates),
      commands: new Map(),
      sent: new Map(),
      typing: new Map(),
      presses: new Map(),
      ownerNotices: [],
    })
    return { id, username: input.username, token }
  }),
  changeBot: operation(object(which, profile), (on, { botId, ...changes }) => {
    const given = Object.entries(changes).filter(([, value]) => value !== undefined)
    return botView(Object.assign(theBot(on, botId), Object.fromEntries(given)))
  }),
  pause: operation(object(which), (on, { botId }) => {
    pause(theBot(on, botId))
    return { status: 'paused' }
  }),
  resume: operation(object(which), (on, { botId }) => {
    resume(theBot(on, botId))
    return { status: 'active' }
  }),
  /** The bot is open again: its private chats are readable. */
  removeKey: operation(object(which), (on, { botId }) => {
    setBotKey(on.world, theBot(on, botId), null)
    return { mode: 'open' }
  }),
  /** Another key in the bot's place, as a second program with the token would publish it. */
  setBotKey: operation(
    object({ ...which, publicKey: string, fingerprint: string }),
    (on, input) => {
      const { publicKey, fingerprint } = input
      setBotKey(on.world, theBot(on, input.botId), { publicKey, fingerprint })
      return { mode: 'protected' }
    },
  ),
  /** A new token; the one before answers `unauthorized`. */
  issueToken: operation(object(which), (on, { botId }) => ({
    token: issueToken(theBot(on, botId)),
  })),
  revokeToken: operation(object(which), (on, { botId }) => {
    revokeToken(on.world, theBot(on, botId))
    return { revoked: true }
  }),
  setCommands: operation(object({ ...which, scope: string, commands: list(any) }), (on, input) => {
    const { scope, commands } = input
    const parsed = PutCommands.safeParse({ scope, commands })
    if (!parsed.success) throw new ControlError('these are no commands')
    setCommands(theBot(on, input.botId), parsed.data.scope, parsed.data.commands)
    return parsed.data
  }),
  /** The bot as `/me` and `/webhook` show it, and what its owner was told. */
  bot: operation(object(which), (on, { botId }) => {
    const bot = theBot(on, botId)
    return { me: botView(bot), webhook: webhookView(bot), ownerNotices: [...bot.ownerNotices] }
  }),
  /** What waits for the bot. */
  queued: operation(object(which), (on, { botId }) => theBot(on, botId).mailbox.list(10_000)),
  /** Queues exactly this update: the way in for a forged, repeated or malformed one. */
  injectUpdate: operation(object({ ...which, update: any }), (on, { botId, update }) => {
    const { mailbox } = theBot(on, botId)
    const raw = update as { updateId?: number; kind?: string }
    if (typeof raw.updateId === 'number') {
      mailbox.pushRaw(raw as { updateId: number; kind: string })
      return { updateId: raw.updateId }
    }
    return { updateId: mailbox.push({ kind: 'message', ...raw }) }
  }),
}
