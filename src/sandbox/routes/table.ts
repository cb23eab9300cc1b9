import type { EndpointName } from '../../api/endpoints.ts'
import { deleteWebhook, getMe, getWebhook, putKey, revokeToken, setWebhook } from './bot.ts'
import type { RouteHandler } from './call.ts'
import { getChat, getChatKeys, getMember, getMembers, leaveChat, sendTyping } from './chats.ts'
import { deleteCommands, getCommands, putCommands } from './commands.ts'
import { answerCallback, deleteMessage, editMessage, sendMessage } from './messages.ts'
import { getUserKey, resolve } from './people.ts'
import { getUpdates } from './updates.ts'

/** The handler of every endpoint of the spec. */
export const HANDLERS: Record<EndpointName, RouteHandler> = {
  getMe,
  getUpdates,
  getWebhook,
  setWebhook,
  deleteWebhook,
  putKey,
  getCommands,
  putCommands,
  deleteCommands,
  sendMessage,
  editMessage,
  deleteMessage,
  answerCallback,
  getChat,
  getChatKeys,
  getMembers,
  getMember,
  leaveChat,
  sendTyping,
  resolve,
  getUserKey,
  revokeToken,
}
