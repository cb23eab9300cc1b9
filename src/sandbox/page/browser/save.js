/** A scene as a seed: as a scenario, or as a world in which all of this was said. */

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Step} Step */

/** Its people, bots and chats, and what people did and saw, for `postern sandbox play`. @param {Scene} scene */
export function scenarioOf(scene) {
  const { steps } = scene
  const quoted = new Set(steps.map((step) => ('reply' in step ? step.reply : null)))
  return written({
    ...worldOf(scene, () => ({})),
    steps: steps.map((step, index) => ({
      ...(quoted.has(index) && { as: labelOf(index) }),
      ...actionOf(step, index),
    })),
  })
}

/** The same with what was said as history, and the faults that were set. @param {Scene} scene */
export function seedOf(scene) {
  const { steps } = scene
  const end = Math.max(0, ...steps.map(({ at }) => at))
  return written({
    ...(end > 0 && { clock: { at: new Date(end).toISOString() } }),
    ...worldOf(scene, (key) => ({ history: historyOf(key, steps, end) })),
    faults: faultsIn(steps),
  })
}

/** @param {object} seed */
const written = (seed) => `${JSON.stringify(seed, null, 2)}\n`

/** @param {Scene} scene @param {(key: string) => object} of a chat, what else there is */
function worldOf({ people, bots, chats }, of) {
  return {
    people: Object.fromEntries(people.map(({ handle, name }) => [handle, { firstName: name }])),
    bots: Object.fromEntries(bots.map(({ handle, name }) => [handle, { name }])),
    chats: Object.fromEntries(
      chats.map((chat) => [chat.key, { ...chatOf(chat), ...of(chat.key) }]),
    ),
  }
}

/** @param {Scene['chats'][number]} chat */
function chatOf({ person, bot, title, kind, members, isOpen }) {
  if (person !== null) return { kind: 'private', person, bot }
  const [owner, ...others] = members
  return {
    kind,
    mode: isOpen ? 'open' : 'protected',
    title,
    members: {
      [owner ?? '']: 'owner',
      ...Object.fromEntries(others.map((one) => [one, 'member'])),
    },
  }
}

/** @param {number} index of a step */
const labelOf = (index) => `message${index}`

/** @param {Step} step @param {number} index */
function actionOf(step, index) {
  if (step.do === 'clock') return { advance: { ms: step.ms } }
  if (step.do === 'clear') return { clearFaults: {} }
  if (step.do === 'fault') {
    const { chat: chatId, user: userId, ...fault } = step.fault
    return { fault: { ...fault, chatId, userId } }
  }
  const { chat: chatId, who: userId } = step
  if (step.do === 'press') {
    return { press: { userId, chatId, data: step.data, answer: step.answer ?? undefined } }
  }
  const { text, reply } = step
  const isAbove = reply !== null && reply < index
  const said = { userId, chatId, text, replyTo: isAbove ? labelOf(reply) : undefined }
  if (step.do === 'say') return { write: said }
  if (step.do === 'attach') {
    return { sendMedia: { ...said, text: text || undefined, base64: step.base64 } }
  }
  const buttons = step.markup?.inlineKeyboard.map((/** @type {{ text: string }[]} */ row) =>
    row.map((button) => button.text),
  )
  return { expect: { ...said, fromId: step.from, verdict: step.verdict, buttons } }
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
