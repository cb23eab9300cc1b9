/** Prefix of every path but `/media/{id}`. */
export declare const API_PREFIX = "/bot/v1";
/** Every endpoint of the spec. `whilePaused`: still answers when the owner paused the bot. */
export declare const ENDPOINTS: readonly [{
    readonly name: 'getMe';
    readonly method: 'GET';
    readonly path: '/me';
    readonly whilePaused: true;
}, {
    readonly name: 'getUpdates';
    readonly method: 'GET';
    readonly path: '/updates';
}, {
    readonly name: 'getWebhook';
    readonly method: 'GET';
    readonly path: '/webhook';
    readonly whilePaused: true;
}, {
    readonly name: 'setWebhook';
    readonly method: 'POST';
    readonly path: '/webhook';
}, {
    readonly name: 'deleteWebhook';
    readonly method: 'DELETE';
    readonly path: '/webhook';
    readonly whilePaused: true;
}, {
    readonly name: 'putKey';
    readonly method: 'PUT';
    readonly path: '/key';
}, {
    readonly name: 'getCommands';
    readonly method: 'GET';
    readonly path: '/commands';
}, {
    readonly name: 'putCommands';
    readonly method: 'PUT';
    readonly path: '/commands';
}, {
    readonly name: 'deleteCommands';
    readonly method: 'DELETE';
    readonly path: '/commands';
}, {
    readonly name: 'sendMessage';
    readonly method: 'POST';
    readonly path: '/messages';
}, {
    readonly name: 'editMessage';
    readonly method: 'PATCH';
    readonly path: '/messages/:messageId';
}, {
    readonly name: 'deleteMessage';
    readonly method: 'DELETE';
    readonly path: '/messages/:messageId';
}, {
    readonly name: 'answerCallback';
    readonly method: 'POST';
    readonly path: '/callbacks/:callbackId/answer';
}, {
    readonly name: 'getChat';
    readonly method: 'GET';
    readonly path: '/chats/:chatId';
}, {
    readonly name: 'getChatKeys';
    readonly method: 'GET';
    readonly path: '/chats/:chatId/keys';
}, {
    readonly name: 'getMembers';
    readonly method: 'GET';
    readonly path: '/chats/:chatId/members';
}, {
    readonly name: 'getMember';
    readonly method: 'GET';
    readonly path: '/chats/:chatId/members/:userId';
}, {
    readonly name: 'leaveChat';
    readonly method: 'POST';
    readonly path: '/chats/:chatId/leave';
}, {
    readonly name: 'sendTyping';
    readonly method: 'POST';
    readonly path: '/chats/:chatId/typing';
}, {
    readonly name: 'resolve';
    readonly method: 'GET';
    readonly path: '/resolve/:username';
}, {
    readonly name: 'getUserKey';
    readonly method: 'GET';
    readonly path: '/users/:userId/key';
}, {
    readonly name: 'revokeToken';
    readonly method: 'POST';
    readonly path: '/token/revoke';
    readonly whilePaused: true;
}];
export type Endpoint = (typeof ENDPOINTS)[number];
export type EndpointName = Endpoint['name'];
/** States of the spec's table that the API shows as words. */
export declare const BOT_STATUS: readonly ['active', 'paused'];
export declare const SEAT_STATUS: readonly ['owner', 'admin', 'member', 'restricted', 'left'];
