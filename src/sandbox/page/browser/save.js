/** A scene as a seed: with a scenario, or with a history. */

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Step} Step */

/** Its people, bots, chats and steps, for `postern sandbox play`. @param {Scene} scene */
export function scenarioOf({ steps, ...world }) {
  const labels = steps.map((_, index) => `message${index}`)
  const quoted = new Set(steps.map((step) => quotedBy(steps, step)))
  const scenario = steps.map((step, index) => {
    const replyTo = labels[quotedBy(steps.slice(0, index), step)]
    return {
      ...(quoted.has(index) && { as: labels[index] }),
      [step.action]: { ...step.input, replyTo },
    }
  })
  return written({ ...world, steps: scenario })
}

/** The same with the messages as history, and the faults. @param {Scene} scene */
export function seedOf({ people, bots, chats, steps }) {
  const end = Math.max(0, ...steps.map(({ at }) => at))
  const withHistory = Object.entries(chats).map(([key, chat]) => [
    key,
    { ...chat, history: historyOf(key, steps, end) },
  ])
  const cleared = steps.findLastIndex(({ action }) => action === 'clearFaults')
  const faults = steps
    .slice(cleared + 1)
    .filter(({ action, input }) => action === 'fault' && input['certificateOf'] === undefined)
  return written({
    ...(end > 0 && { clock: { at: new Date(end).toISOString() } }),
    people,
    bots,
    chats: Object.fromEntries(withHistory),
    faults: faults.map(({ input }) => input),
  })
}

/** @param {object} seed */
const written = (seed) => `${JSON.stringify(seed, null, 2)}\n`

/** The index of the step that a step quotes; -1 for none. @param {Step[]} steps @param {Step} step */
function quotedBy(steps, { quotes, input }) {
  if (typeof quotes !== 'number') return -1
  return steps.findIndex((one) => one.id === quotes && one.input['chatId'] === input['chatId'])
}

/** @param {string} key @param {Step[]} steps @param {number} end */
function historyOf(key, steps, end) {
  const said = steps.filter(
    ({ id, input }) => id !== undefined && input['chatId'] === key && input['text'],
  )
  return said.map((step) => {
    const { fromId, userId, text } = step.input
    const replyTo = quotedBy(said, step) + 1
    return {
      from: fromId ?? userId,
      text,
      ago: `${end - step.at}ms`,
      ...(replyTo > 0 && { replyTo }),
      ...(step.markup && { markup: step.markup }),
    }
  })
}
