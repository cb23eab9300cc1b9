/** A scene as a seed: a world in which all of this was said, with the faults that were set. */

/** @typedef {import('./scene.js').Scene} Scene */

/** @param {Scene} scene */
export function seedOf({ people, bots, chats, steps }) {
  const end = Math.max(0, ...steps.map(({ at }) => at))
  const seed = {
    ...(end > 0 && { clock: { at: new Date(end).toISOString() } }),
    people: Object.fromEntries(people.map(({ handle, name }) => [handle, { firstName: name }])),
    bots: Object.fromEntries(bots.map(({ handle, name }) => [handle, { name }])),
    chats: Object.fromEntries(chats.map((chat) => [chat.key, chatOf(chat, steps, end)])),
    faults: faultsIn(steps),
  }
  return `${JSON.stringify(seed, null, 2)}\n`
}

/** @param {Scene['chats'][number]} chat @param {Scene['steps']} steps @param {number} end */
function chatOf({ key, person, bot, title, kind, members, isOpen }, steps, end) {
  const history = historyOf(key, steps, end)
  if (person !== null) return { kind: 'private', person, bot, history }
  const [owner, ...others] = members
  return {
    kind,
    mode: isOpen ? 'open' : 'protected',
    title,
    members: {
      [owner ?? '']: 'owner',
      ...Object.fromEntries(others.map((one) => [one, 'member'])),
    },
    history,
  }
}

/** @param {string} key @param {Scene['steps']} steps @param {number} end */
function historyOf(key, steps, end) {
  const said = steps.flatMap((step, index) => {
    const hasWords = step.do === 'say' || step.do === 'expect' || step.do === 'attach'
    return hasWords && step.chat === key && step.text !== '' ? [{ step, index }] : []
  })
  return said.map(({ step }) => {
    const replyTo = 'reply' in step ? said.findIndex(({ index }) => index === step.reply) + 1 : 0
    const isByBot = step.do === 'expect'
    return {
      from: isByBot ? step.from : step.who,
      text: step.text,
      ago: `${end - step.at}ms`,
      ...(replyTo > 0 && { replyTo }),
      ...(isByBot && step.markup !== null && { markup: step.markup }),
    }
  })
}

/** Those that were not cleared. @param {Scene['steps']} steps */
function faultsIn(steps) {
  const cleared = steps.findLastIndex((step) => step.do === 'clear')
  return steps.slice(cleared + 1).flatMap((step) => {
    if (step.do !== 'fault' || step.fault['certificateOf'] !== undefined) return []
    const { chat, user, ...fault } = step.fault
    return [{ ...fault, ...(chat && { chatId: chat }), ...(user && { userId: user }) }]
  })
}
