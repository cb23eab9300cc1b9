/** Prefix of every path but `/media/{id}`. */
export const API_PREFIX = '/bot/v1'

/**
 * Every endpoint of the spec. `whilePaused`: still answers when the owner paused the bot; `hasBody`:
 * false where the spec defines none, though the method is another than GET.
 */
export const ENDPOINTS = [
  { name: 'getMe', method: 'GET', path: '/me', whilePaused: true },
  { name: 'getUpdates', method: 'GET', path: '/updates' },
  { name: 'getWebhook', method: 'GET', path: '/webhook', whilePaused: true },
  { name: 'setWebhook', method: 'POST', path: '/webhook' },
  { name: 'deleteWebhook', method: 'DELETE', path: '/webhook', whilePaused: true, hasBody: false },
  { name: 'putKey', method: 'PUT', path: '/key' },
  { name: 'getCommands', method: 'GET', path: '/commands' },
  { name: 'putCommands', method: 'PUT', path: '/commands' },
  { name: 'deleteCommands', method: 'DELETE', path: '/commands', hasBody: false },
  { name: 'sendMessage', method: 'POST', path: '/messages' },
  { name: 'editMessage', method: 'PATCH', path: '/messages/:messageId' },
  { name: 'deleteMessage', method: 'DELETE', path: '/messages/:messageId' },
  { name: 'answerCallback', method: 'POST', path: '/callbacks/:callbackId/answer' },
  { name: 'getChat', method: 'GET', path: '/chats/:chatId' },
  { name: 'getChatKeys', method: 'GET', path: '/chats/:chatId/keys' },
  { name: 'getMembers', method: 'GET', path: '/chats/:chatId/members' },
  { name: 'getMember', method: 'GET', path: '/chats/:chatId/members/:userId' },
  { name: 'leaveChat', method: 'POST', path: '/chats/:chatId/leave', hasBody: false },
  { name: 'sendTyping', method: 'POST', path: '/chats/:chatId/typing' },
  { name: 'resolve', method: 'GET', path: '/resolve/:username' },
  { name: 'getUserKey', method: 'GET', path: '/users/:userId/key' },
  { name: 'revokeToken', method: 'POST', path: '/token/revoke', whilePaused: true, hasBody: false },
] as const satisfies readonly {
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/${string}`
  whilePaused?: boolean
  hasBody?: boolean
}[]

export type Endpoint = (typeof ENDPOINTS)[number]
export type EndpointName = Endpoint['name']
