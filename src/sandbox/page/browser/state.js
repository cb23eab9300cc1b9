/** What the page knows and shows. */
import { NO_FILTER } from './inspector.js'
import { readRoute } from './route.js'

/**
 * @typedef {import('./api.js').Control} Control
 * @typedef {import('./bot-view.js').Exchange} Exchange
 * @typedef {import('./bot-view.js').Call} Call
 * @typedef {Awaited<ReturnType<Control['people']>>[number]} Person
 * @typedef {Awaited<ReturnType<Control['bots']>>[number]} Bot
 * @typedef {Awaited<ReturnType<Control['chats']>>[number]} Chat
 * @typedef {Awaited<ReturnType<Control['messages']>>[number]} StoredMessage
 * @typedef {Awaited<ReturnType<Control['screen']>>['messages'][number]} ShownMessage
 * @typedef {Awaited<ReturnType<Control['faults']>>[number]} Fault
 * @typedef {{ state: 'loading' } | { state: 'failed', reason: string } | { state: 'shown', url: string, type: string | null, bytes: number, storedBytes: number, verdict: string }} Picture
 * @typedef {{ text: string, replyTo: number | null, editing: number | null, files: File[] }} Draft
 * @typedef {{ id: number, tone: 'info' | 'problem', text: string }} Notice
 *
 * What is on the page.
 * @typedef {object} State
 * @property {'connecting' | 'live' | 'lost'} connection
 * @property {boolean} isLoaded
 * @property {import('./route.js').Route} route
 * @property {Person[]} people
 * @property {Bot[]} bots
 * @property {Chat[]} chats
 * @property {{ now: number, mode: 'running' | 'still', readAt: number }} clock
 * @property {Fault[]} faults
 * @property {Awaited<ReturnType<typeof import('./api.js').fetchFaultKinds>> | null} faultKinds
 * @property {string[]} snapshots
 * @property {OpenChat | null} open the chat that is shown
 * @property {Set<number>} unread ids of chats with something new
 * @property {number | null} attachedTo id of the bot whose sidecar is watched
 * @property {import('./api.js').Sidecar | null} sidecar null where none runs in the sandbox's process
 * @property {Awaited<ReturnType<Control['worlds']>>} worlds all of the sandbox
 * @property {Awaited<ReturnType<Control['worlds']>>[number] | null} world the one of this page
 * @property {import('./inspector.js').Inspector} inspector
 * @property {import('./scene.js').Step[]} doings how the clock was moved and which faults were set, while the page looked
 * @property {number} trafficSinceMs
 * @property {Exchange[]} traffic
 * @property {Call[]} calls
 * @property {Map<string, number>} keyOwners by key id
 * @property {Map<string, Draft>} drafts
 * @property {Map<string, Picture>} pictures
 * @property {{ kind: string, [field: string]: any } | null} dialog
 * @property {Notice[]} notices
 * @property {Map<number, string>} tokens that were issued on this page, by bot
 * @property {boolean} isMenuOpen
 * @property {string} announcement what somebody else wrote last, for those who listen
 *
 * @typedef {object} OpenChat
 * @property {number} chatId
 * @property {number} personId
 * @property {StoredMessage[]} stored
 * @property {Map<number, ShownMessage> | null} shown by id; null when the person is not in the chat
 * @property {number[]} typing
 * @property {Map<number, number>} waiting ids of the updates that wait for the bot, by message
 */

/** @type {Draft} */
export const EMPTY_DRAFT = { text: '', replyTo: null, editing: null, files: [] }

/** Before anything is loaded. @returns {State} */
export function initialState() {
  return {
    connection: 'connecting',
    isLoaded: false,
    route: readRoute(location.hash),
    people: [],
    bots: [],
    chats: [],
    clock: { now: 0, mode: 'running', readAt: 0 },
    faults: [],
    faultKinds: null,
    snapshots: [],
    open: null,
    unread: new Set(),
    attachedTo: null,
    sidecar: null,
    worlds: [],
    world: null,
    inspector: NO_FILTER,
    doings: [],
    trafficSinceMs: 0,
    traffic: [],
    calls: [],
    keyOwners: new Map(),
    drafts: new Map(),
    pictures: new Map(),
    dialog: null,
    notices: [],
    tokens: new Map(),
    isMenuOpen: false,
    announcement: '',
  }
}
